/** Finds, checks and registers every skill of the operator's folders. One that is wrong stops no other. */
import { messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import { visibleText } from '../base/safe_text.ts';
import { type FoundManifest, findManifests } from './find.ts';
import { type ManifestResult, parseManifest } from './manifest.ts';
import { EscapeError, readBelow } from './read_below.ts';
import { type RegisteredSkill, registerSkill } from './register.ts';

/** A manifest that did not become a skill. */
export interface SkillProblem {
  /** Of skill.json. */
  path: string;
  /** As written; empty when it could not be read. */
  name: string;
  /** `duplicate`: another skill or tool has its name. */
  kind: 'rejected' | 'duplicate';
  reasons: string[];
}

export interface LoadedSkills {
  skills: RegisteredSkill[];
  problems: SkillProblem[];
  /** One line for each manifest and skipped root, as logged. */
  lines: string[];
  registered: number;
  /** Manifests whose name was taken. */
  skipped: number;
  /** Manifests that are wrong. */
  rejected: number;
}

export interface LoadOptions {
  /** `skill_dirs`. */
  roots: readonly string[];
  /** `<data>/skills`. */
  store: string;
  /** Names of tools that skills may not take. */
  taken?: ReadonlySet<string>;
  log: Log;
}

/** The first of a name wins: roots in their order, files by name. Lines are in the wording of the manifest's format. */
export async function loadSkills(options: LoadOptions): Promise<LoadedSkills> {
  const { found, skipped } = await findManifests(options.roots);
  const loaded: LoadedSkills = { skills: [], problems: [], lines: [], registered: 0, skipped: 0, rejected: 0 };
  const say = (level: 'info' | 'warn', text: string) => {
    const line = visibleText(text);
    loaded.lines.push(line);
    options.log[level]({}, line);
  };
  const reject = (path: string, name: string, reasons: string[]) => {
    loaded.rejected += 1;
    loaded.problems.push({ path, name, kind: 'rejected', reasons });
  };
  for (const line of skipped) say('warn', line);
  const names = new Set(options.taken);
  for (const one of found) {
    const { manifest, text, reasons, written } = await readManifest(one);
    if (!manifest) {
      reject(one.path, written.name, reasons);
      say('warn', `skill loader: parse ${one.path}: ${reasons.join('; ')}`);
    } else if (names.has(manifest.name)) {
      loaded.skipped += 1;
      loaded.problems.push({ path: one.path, name: manifest.name, kind: 'duplicate', reasons: [duplicateReason] });
      say('warn', `skill loader: skill "${manifest.name}" already registered, skipping ${one.path}`);
    } else {
      try {
        loaded.skills.push(await registerSkill({ ...one, manifest, text }, options.store));
        names.add(manifest.name);
        loaded.registered += 1;
        say('info', `skill loader: registered subprocess skill "${manifest.name}" from ${one.path}`);
      } catch (error) {
        reject(one.path, manifest.name, [messageOf(error)]);
        say('warn', `skill loader: build "${manifest.name}": ${messageOf(error)}`);
      }
    }
  }
  const { registered, rejected } = loaded;
  say('info', `skill loader: ${registered} registered, ${loaded.skipped} skipped, ${rejected} rejected`);
  return loaded;
}

export const duplicateReason = 'its name is taken by a skill found earlier or by a tool of the gateway';

/** A manifest with its text, or every reason why there is none. */
export async function readManifest({ path, root, realRoot }: FoundManifest): Promise<ManifestResult & ManifestText> {
  try {
    const { content } = await readBelow(path, realRoot, limits.skillManifestBytesMax);
    return { ...parseManifest(content.toString('utf8')), text: content };
  } catch (error) {
    const reason = error instanceof EscapeError ? `it escapes allowlist root ${root}` : messageOf(error);
    const written = { name: '', entry: '' };
    return { manifest: null, reasons: [reason], warnings: [], written, text: Buffer.alloc(0) };
  }
}

interface ManifestText {
  text: Buffer;
}
