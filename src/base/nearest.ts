/** The known word that is meant most likely, or undefined when none is near. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const distanceMax = Math.max(1, Math.min(3, Math.floor(word.length / 2)));
  let best: string | undefined;
  let bestDistance = distanceMax + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > distanceMax) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Optimal string alignment: insert, delete, replace, and swap of two neighbours count one each. */
function editDistance(left: string, right: string): number {
  if (left.length > 100 || right.length > 100) return Number.POSITIVE_INFINITY;
  const rows: number[][] = [Array.from({ length: right.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= left.length; i++) {
    const row = [i];
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1];
      let cost = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      if (swapped) cost = Math.min(cost, rows[i - 2]![j - 2]! + 1);
      row.push(cost);
    }
    rows.push(row);
  }
  return rows[left.length]![right.length]!;
}
