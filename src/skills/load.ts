/** Finds, checks and registers every skill of the operator's folders. One that is wrong stops no other. */
import { messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import { visibleText } from '../base/safe_text.ts';
import { type FoundManifest, findManifests } from './find.ts';
import { parseManifest } from './manifest.ts';
import { EscapeError, readBelow } from './read_below.ts';
import { type RegisteredSkill, registerSkill } from './register.ts';

export interface LoadedSkills {
  skills: RegisteredSkill[];
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
  const loaded: LoadedSkills = { skills: [], lines: [], registered: 0, skipped: 0, rejected: 0 };
  const say = (level: 'info' | 'warn', text: string) => {
    const line = visibleText(text);
    loaded.lines.push(line);
    options.log[level]({}, line);
  };
  for (const line of skipped) say('warn', line);
  const names = new Set(options.taken);
  for (const one of found) {
    const { manifest, text, reason } = await readManifest(one);
    if (!manifest) {
      loaded.rejected += 1;
      say('warn', `skill loader: parse ${one.path}: ${reason}`);
    } else if (names.has(manifest.name)) {
      loaded.skipped += 1;
      say('warn', `skill loader: skill "${manifest.name}" already registered, skipping ${one.path}`);
    } else {
      try {
        loaded.skills.push(await registerSkill({ ...one, manifest, text }, options.store));
        names.add(manifest.name);
        loaded.registered += 1;
        say('info', `skill loader: registered subprocess skill "${manifest.name}" from ${one.path}`);
      } catch (error) {
        loaded.rejected += 1;
        say('warn', `skill loader: build "${manifest.name}": ${messageOf(error)}`);
      }
    }
  }
  const { registered, rejected } = loaded;
  say('info', `skill loader: ${registered} registered, ${loaded.skipped} skipped, ${rejected} rejected`);
  return loaded;
}

async function readManifest({ path, root, realRoot }: FoundManifest) {
  try {
    const { content } = await readBelow(path, realRoot, limits.skillManifestBytesMax);
    const { manifest, reasons } = parseManifest(content.toString('utf8'));
    return { manifest, text: content, reason: reasons?.join('; ') };
  } catch (error) {
    const reason = error instanceof EscapeError ? `it escapes allowlist root ${root}` : messageOf(error);
    return { manifest: null, text: Buffer.alloc(0), reason };
  }
}
