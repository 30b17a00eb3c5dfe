/**
 * `node test/bench/sandbox.ts`: what the sandbox costs, as a ratio to a plain spawn of the same program in the same run
 * (DESIGN, Sizes: at most 1.5 times for Node and Python, and at most 10 ms more for any). The calls alternate, so that
 * a busy machine slows both alike.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { createSandbox } from '../../src/sandbox/create_sandbox.ts';

const rounds = Number(process.argv[2] ?? 40);
const programs: { name: string; interpreter: 'node' | null; text: string }[] = [
  { name: 'sh', interpreter: null, text: '#!/bin/sh\nread -r line\necho "$line"\n' },
  {
    name: 'node',
    interpreter: 'node',
    text: "#!/usr/bin/env node\nprocess.stdout.write(require('node:fs').readFileSync(0, 'utf8'));\n",
  },
  {
    name: 'python',
    interpreter: null,
    text: '#!/usr/bin/python3 -SE\nimport json, sys\njson.dump(json.load(sys.stdin), sys.stdout)\n',
  },
];
const stdin = '{"a":1}\n';
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
chmodSync(folder, 0o755);
// The time limits of the sandbox do not keep a process alive.
const alive = setInterval(() => {}, 1_000);
const log = createLog({ level: 'warn', format: 'auto', secrets: () => [] });
const sandbox = createSandbox({ mode: 'required', hidden: [folder], clock: systemClock, log });

async function plain(command: string[]): Promise<void> {
  const child = spawn(command[0] ?? '', command.slice(1), { env: {}, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stderr.resume();
  child.stdin.end(stdin);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}`);
}

async function confined(name: string, program: string, interpreter: 'node' | null): Promise<void> {
  const result = await sandbox.run({
    folder: join(folder, name),
    program,
    interpreter,
    stdin,
    env: {},
    timeoutMs: 30_000,
  });
  if (result.exitCode !== 0) throw new Error(result.stderrTail);
}

async function timed(action: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await action();
  return performance.now() - from;
}

const at = (times: number[], share: number) =>
  times.toSorted((left, right) => left - right)[Math.floor((times.length - 1) * share)] ?? 0;

let ok = true;
for (const { name, interpreter, text } of programs) {
  mkdirSync(join(folder, name));
  const path = join(folder, name, `run_${name}`);
  writeFileSync(path, text, { mode: 0o755 });
  const direct = interpreter === 'node' ? [process.execPath, path] : [path];
  const times: { direct: number[]; confined: number[] } = { direct: [], confined: [] };
  for (let round = -3; round < rounds; round++) {
    const one = await timed(() => plain(direct));
    const other = await timed(() => confined(name, `run_${name}`, interpreter));
    if (round < 0) continue;
    times.direct.push(one);
    times.confined.push(other);
  }
  const [base, more] = [at(times.direct, 0.5), at(times.confined, 0.5)];
  const good = more <= Math.max(name === 'sh' ? 0 : base * 1.5, base + 10);
  ok &&= good;
  console.log(
    `${good ? 'ok  ' : 'MISS'} ${name.padEnd(7)} plain p50 ${base.toFixed(1)} ms, p95 ${at(times.direct, 0.95).toFixed(1)}; ` +
      `sandboxed p50 ${more.toFixed(1)} ms, p95 ${at(times.confined, 0.95).toFixed(1)}; ` +
      `ratio ${(more / base).toFixed(2)}, ${(more - base).toFixed(1)} ms more`,
  );
}
await sandbox.close();
clearInterval(alive);
rmSync(folder, { recursive: true });
process.exitCode = ok ? 0 : 1;
