/** Looks at every skill as the gateway would load it, and copies nothing. For `check` and `skills list|check`. */
import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '../base/errors.ts';
import { visibleText } from '../base/safe_text.ts';
import { type FoundManifest, findManifests } from './find.ts';
import { duplicateReason, readManifest, type SkillProblem } from './load.ts';
import { findEntry, type ReadManifest } from './register.ts';

export interface InspectedSkill extends ReadManifest {
  /** Fields of the manifest that mean nothing. */
  warnings: string[];
}

export interface Inspection {
  skills: InspectedSkill[];
  problems: SkillProblem[];
  /** Roots that were skipped, as log lines. */
  skipped: string[];
}

/** In the order of loading; every reason of every manifest at once. */
export async function inspectSkills(
  roots: readonly string[],
  taken: ReadonlySet<string> = new Set(),
): Promise<Inspection> {
  const { found, skipped } = await findManifests(roots);
  const inspection: Inspection = { skills: [], problems: [], skipped: skipped.map((line) => visibleText(line)) };
  const names = new Set(taken);
  for (const one of found) {
    const read = await readManifest(one);
    const { name, entry } = read.written;
    const reasons = [...(read.reasons ?? []), ...(entry === '' ? [] : await entryReasons(one, entry))];
    if (read.manifest && names.has(name) && reasons.length === 0)
      inspection.problems.push({ path: one.path, name, kind: 'duplicate', reasons: [duplicateReason] });
    else if (!read.manifest || reasons.length > 0)
      inspection.problems.push({
        path: one.path,
        name: visibleText(name),
        kind: 'rejected',
        reasons: reasons.map((reason) => visibleText(reason)),
      });
    else {
      names.add(name);
      const warnings = read.warnings.map((line) => visibleText(line));
      inspection.skills.push({ ...one, text: read.text, manifest: read.manifest, warnings });
    }
  }
  return inspection;
}

async function entryReasons(found: FoundManifest, entry: string): Promise<string[]> {
  try {
    await findEntry(entry, await realpath(dirname(found.path)), found);
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
}
