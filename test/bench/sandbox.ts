/**
 * What the sandbox costs, as a ratio to a plain spawn of the same program in the same run (DESIGN, Sizes: at most 1.5
 * times for Node and Python, and at most 10 ms more for any). The calls alternate, so that a busy machine slows both
 * alike.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/create_sandbox.ts';

export interface SandboxRow {
  what: string;
  target: string;
  measured: string;
  ok: boolean;
}

interface Program {
  name: string;
  interpreter: 'node' | null;
  text: string;
}

const programs: Program[] = [
  { name: 'sh', interpreter: null, text: '#!/bin/sh\nread -r line\necho "$line"\n' },
  {
    name: 'Node',
    interpreter: 'node',
    text: "#!/usr/bin/env node\nprocess.stdout.write(require('node:fs').readFileSync(0, 'utf8'));\n",
  },
  {
    name: 'Python',
    interpreter: null,
    text: '#!/usr/bin/python3 -SE\nimport json, sys\njson.dump(json.load(sys.stdin), sys.stdout)\n',
  },
];
const stdin = '{"a":1}\n';
/** Not counted: caches fill. */
const warmUp = 3;

/** A row for each language, told as soon as it is measured. Without bubblewrap one that says so. */
export async function benchSandbox(rounds: number, report: (row: SandboxRow) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  chmodSync(folder, 0o755);
  // The time limits of the sandbox do not keep a process alive.
  const alive = setInterval(() => {}, 1_000);
  const log = createLog({ level: 'silent', format: 'auto', secrets: () => [] });
  const sandbox = createSandbox({ mode: 'required', hidden: [folder], clock: systemClock, log });
  try {
    const { missing } = await sandbox.state();
    if (missing) {
      const measured = `not measured: ${missing.reason}`;
      return report({ what: 'sandboxed call', target: 'bubblewrap', measured, ok: false });
    }
    for (const program of programs) report(await measure(program, { folder, sandbox, rounds }));
  } finally {
    await sandbox.close();
    clearInterval(alive);
    rmSync(folder, { recursive: true });
  }
}

async function measure(
  { name, interpreter, text }: Program,
  { folder, sandbox, rounds }: { folder: string; sandbox: Sandbox; rounds: number },
): Promise<SandboxRow> {
  const own = join(folder, name);
  mkdirSync(own);
  const path = join(own, 'run');
  writeFileSync(path, text, { mode: 0o755 });
  const direct = interpreter === 'node' ? [process.execPath, path] : [path];
  const confined = async () => {
    const asked = { folder: own, program: 'run', interpreter, stdin, env: {}, timeoutMs: 30_000 };
    const result = await sandbox.run(asked);
    if (result.exitCode !== 0) throw new Error(result.stderrTail);
  };
  const times: { plain: number[]; confined: number[] } = { plain: [], confined: [] };
  for (let round = -warmUp; round < rounds; round++) {
    const one = await timed(() => plain(direct));
    const other = await timed(confined);
    if (round < 0) continue;
    times.plain.push(one);
    times.confined.push(other);
  }
  const [base, more] = [middleOf(times.plain), middleOf(times.confined)];
  const byRatio = name !== 'sh';
  return {
    what: `sandboxed call, ${name}`,
    target: byRatio ? '≤ 1.5 × its spawn, or ≤ 10 ms more' : '≤ 10 ms more than its spawn',
    measured: `${(more / base).toFixed(2)} ×, ${(more - base).toFixed(1)} ms more (${more.toFixed(1)} and ${base.toFixed(1)} ms)`,
    ok: more <= Math.max(byRatio ? base * 1.5 : 0, base + 10),
  };
}

async function plain(command: string[]): Promise<void> {
  const child = spawn(command[0] ?? '', command.slice(1), { env: {}, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stderr.resume();
  child.stdin.end(stdin);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}`);
}

async function timed(action: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await action();
  return performance.now() - from;
}

function middleOf(times: number[]): number {
  return times.toSorted((left, right) => left - right)[Math.floor((times.length - 1) / 2)] ?? 0;
}
