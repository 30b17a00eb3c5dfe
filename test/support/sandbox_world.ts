/** A sandbox, the same without one, and programs to run in both. */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { unprivilegedId } from '../../src/sandbox/bubblewrap.ts';
import { createSandbox, type Sandbox, type SandboxMode } from '../../src/sandbox/create_sandbox.ts';
import type { Found } from '../../src/sandbox/means.ts';
import type { SandboxRequest, SandboxResult } from '../../src/sandbox/run.ts';
import { needs } from './needs.ts';

export const isRoot = process.getuid?.() === 0;
export const quietLog = createLog({ level: 'silent', format: 'json', secrets: () => [] });
/** The user that skills run as on this machine. */
export const skillUser = isRoot ? { uid: unprivilegedId, gid: unprivilegedId } : {};

/** For `skip`: what the sandbox needs. */
export function needsSandbox(): string | false {
  return needs('bwrap');
}

export interface World {
  /** Belongs to the skills' user, as with a gateway that is not root: only the sandbox keeps skills out of it. */
  data: string;
  /** Anybody may write here. */
  open: string;
  /** Runs skills confined. */
  confined: Sandbox;
  /** Runs the same skills as the same user without. */
  free: Sandbox;
  /** Makes a skill's folder with one program. */
  program(text: string): { folder: string; program: string; interpreter: 'node' | null };
  run(sandbox: Sandbox, text: string, more?: Partial<SandboxRequest>): Promise<SandboxResult>;
  /** What a program answers, confined and free. */
  both(text: string, more?: Partial<SandboxRequest>): Promise<{ confined: unknown; free: unknown }>;
}

export function createWorld(t: TestContext, options: { mode?: SandboxMode; found?: Found } = {}): World {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-sandbox-'));
  chmodSync(root, 0o755);
  const folder = (name: string, mode: number) => {
    const path = join(root, name);
    mkdirSync(path);
    chmodSync(path, mode);
    return path;
  };
  const data = folder('gateway_files', 0o700);
  const open = folder('open', 0o777);
  folder('skills', 0o755);
  for (const name of ['gatehouse.db', 'gatehouse.key']) {
    writeFileSync(join(data, name), `secret of ${name}`, { mode: 0o600 });
    if (isRoot) chownSync(join(data, name), unprivilegedId, unprivilegedId);
  }
  if (isRoot) chownSync(data, unprivilegedId, unprivilegedId);
  const parts = { hidden: [data] as [string], clock: systemClock, log: quietLog };
  const confined = createSandbox({
    ...parts,
    mode: options.mode ?? 'required',
    ...(options.found ? { found: options.found } : {}),
  });
  const free = createSandbox({ ...parts, mode: 'off' });
  // The clock's timers do not keep a process alive; a test that waits for one must.
  const alive = setInterval(() => {}, 1_000);
  t.after(async () => {
    await confined.close();
    await free.close();
    clearInterval(alive);
    rmSync(root, { recursive: true, force: true });
  });
  let count = 0;
  const world: World = {
    data,
    open,
    confined,
    free,
    program(text) {
      const made = folder(`skills/skill_${++count}`, 0o755);
      writeFileSync(join(made, 'run'), text, { mode: 0o755 });
      return { folder: made, program: 'run', interpreter: text.startsWith('#!/usr/bin/env node') ? 'node' : null };
    },
    run: (sandbox, text, more) =>
      sandbox.run({ ...world.program(text), stdin: '{}', env: {}, timeoutMs: 20_000, ...more }),
    async both(text, more) {
      const answers: unknown[] = [];
      for (const sandbox of [confined, free]) {
        const result = await world.run(sandbox, text, more);
        if (result.exitCode !== 0) throw new Error(`${result.ended} ${result.exitCode}: ${result.stderrTail}`);
        answers.push(JSON.parse(result.stdout));
      }
      return { confined: answers[0], free: answers[1] };
    },
  };
  return world;
}

/** A program for the gateway's Node: `body` sees `input`, `fs`, and answers with `say`. */
export function node(body: string): string {
  return `#!/usr/bin/env node
const fs = require('node:fs');
const input = JSON.parse(fs.readFileSync(0, 'utf8'));
const say = (answer) => process.stdout.write(JSON.stringify(answer), () => process.exit(0));
const attempt = (action) => { try { return action(); } catch (error) { return error.code ?? String(error); } };
(async () => { ${body} })();
`;
}
