import type { TableAlign } from './markdown.ts';

/** Cells of one line of a table; `\|` is a pipe inside a cell. */
export function splitRow(line: string): string[] {
  const row = line.trim();
  const cells: string[] = [];
  let cell = '';
  for (let i = row.startsWith('|') ? 1 : 0; i < row.length; i++) {
    const [character, next] = [row[i], row[i + 1]];
    if (character === '\\' && (next === '|' || next === '\\')) {
      cell += next === '|' ? '|' : '\\\\';
      i++;
    } else if (character === '|') {
      cells.push(cell.trim());
      cell = '';
    } else cell += character;
  }
  if (cell.trim() !== '' || cells.length === 0) cells.push(cell.trim());
  return cells;
}

/** The columns that a delimiter row such as `| :-- | --: |` declares. */
export function readAligns(line: string): TableAlign[] | null {
  if (!line.includes('|') || /[^|:\- \t]/.test(line)) return null;
  const aligns: TableAlign[] = [];
  for (const cell of splitRow(line)) {
    const match = /^(:?)-+(:?)$/.exec(cell);
    if (!match) return null;
    aligns.push(match[1] && match[2] ? 'center' : match[1] ? 'left' : match[2] ? 'right' : null);
  }
  return aligns;
}

/** As many cells as the header has: missing ones empty, surplus ones joined to the last so that no word is lost. */
export function fitRow(cells: readonly string[], columns: number): string[] {
  const row = cells.slice(0, columns);
  while (row.length < columns) row.push('');
  if (cells.length > columns) row[columns - 1] = cells.slice(columns - 1).join(' | ');
  return row;
}
