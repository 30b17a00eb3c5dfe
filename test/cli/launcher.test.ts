/** bin/gatehouse.js as people start it: on the machine's Node, whose version is not ours to choose. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';

const root = join(import.meta.dirname, '..', '..');
const launcher = join(root, 'bin', 'gatehouse.js');

/** A Node older than 24 on this machine, or null. `$NODE20` names one elsewhere. */
function findOldNode(): string | null {
  const places = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  for (const place of [process.env.NODE20, ...places]) {
    if (place === undefined || !existsSync(place)) continue;
    const major = Number(/^v(\d+)/.exec(execFileSync(place, ['--version'], { encoding: 'utf8' }))?.[1]);
    if (major >= 20 && major < 24) return place;
  }
  return null;
}

const oldNode = findOldNode();
const skip =
  oldNode !== null || process.env.GATEHOUSE_TEST_ALL === '1'
    ? false
    : 'no Node.js 20 to 23 is installed: sudo apt-get install nodejs, or name one in $NODE20';

/** What the launcher starts, in place of the program. */
const program = `
if (process.argv[2] === 'wait') {
  const timer = setTimeout(() => {}, 10000);
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'])
    process.on(signal, () => {
      process.stdout.write(signal + '\\n');
      if (signal !== 'SIGHUP') { clearTimeout(timer); process.exitCode = 5; }
    });
}
process.stdout.write(JSON.stringify({ node: process.versions.node, pid: process.pid, args: process.argv.slice(2) }) + '\\n');
if (process.argv[2] === 'exit') process.exitCode = Number(process.argv[3]);
if (process.argv[2] === 'die') process.kill(process.pid, 'SIGKILL');
`;

/** A package of its own: a checkout with src/, or an installed one with dist/ beside a hoisted \`node\`. */
function install(t: TestContext, options: { kind: 'checkout' | 'installed'; node: boolean }): string {
  const top = mkdtempSync(join(realpathSync(tmpdir()), 'gh-launch-'));
  t.after(() => rmSync(top, { recursive: true, force: true }));
  const modules = join(top, 'node_modules');
  mkdirSync(modules);
  if (options.node) {
    // The package as npm lays it out; a link would be resolved to this checkout.
    mkdirSync(join(modules, 'node', 'bin'), { recursive: true });
    writeFileSync(join(modules, 'node', 'package.json'), '{"name":"node","version":"24.0.0"}');
    symlinkSync(process.execPath, join(modules, 'node', 'bin', 'node'));
  }
  const home = options.kind === 'checkout' ? top : join(modules, 'gatehouse');
  const main = options.kind === 'checkout' ? join(home, 'src', 'main.ts') : join(home, 'dist', 'src', 'main.js');
  mkdirSync(dirname(main), { recursive: true });
  mkdirSync(join(home, 'bin'), { recursive: true });
  writeFileSync(join(home, 'package.json'), '{"name":"gatehouse","type":"module"}');
  writeFileSync(main, options.kind === 'checkout' ? `const typed: number = 1;\nvoid typed;\n${program}` : program);
  copyFileSync(launcher, join(home, 'bin', 'gatehouse.js'));
  return join(home, 'bin', 'gatehouse.js');
}

function start(t: TestContext, node: string, file: string, args: string[]) {
  const env = { ...process.env, XDG_CACHE_HOME: dirname(dirname(file)) };
  const child = spawn(node, [file, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  return { child, output: () => ({ out, err }) };
}

async function ended(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  const [code, signal] = await once(child, 'close');
  return { code, signal };
}

const bounded = { timeout: 20_000 };

for (const kind of ['checkout', 'installed'] as const)
  test(`on an old Node the program runs on the package's own (${kind}), with its arguments and exit code`, {
    ...bounded,
    skip,
  }, async (t) => {
    const { child, output } = start(t, oldNode!, install(t, { kind, node: true }), ['exit', '3']);
    assert.deepEqual(await ended(child), { code: 3, signal: null });
    const told = JSON.parse(output().out);
    assert.equal(told.node, process.versions.node);
    assert.notEqual(told.pid, child.pid);
    assert.deepEqual(told.args, ['exit', '3']);
    assert.equal(output().err, '');
  });

test('on Node 24 the program runs in the same process', bounded, async (t) => {
  const { child, output } = start(t, process.execPath, install(t, { kind: 'checkout', node: false }), ['exit', '4']);
  assert.deepEqual(await ended(child), { code: 4, signal: null });
  assert.equal(JSON.parse(output().out).pid, child.pid);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  test(`R88: ${signal} to the launcher reaches the program, whose exit code counts`, {
    ...bounded,
    skip,
  }, async (t) => {
    const { child, output } = start(t, oldNode!, install(t, { kind: 'checkout', node: true }), ['wait']);
    await once(child.stdout, 'data');
    child.kill('SIGHUP');
    await once(child.stdout, 'data');
    child.kill(signal);
    assert.deepEqual(await ended(child), { code: 5, signal: null });
    assert.match(output().out, new RegExp(`SIGHUP\n${signal}\n$`));
  });

test('a program that a signal ends makes the launcher end the same way', { ...bounded, skip }, async (t) => {
  const { child } = start(t, oldNode!, install(t, { kind: 'checkout', node: true }), ['die']);
  assert.deepEqual(await ended(child), { code: null, signal: 'SIGKILL' });
});

test("without the package's Node the launcher says what to run", { ...bounded, skip }, async (t) => {
  const { child, output } = start(t, oldNode!, install(t, { kind: 'installed', node: false }), ['check']);
  assert.deepEqual(await ended(child), { code: 1, signal: null });
  assert.match(
    output().err,
    /^gatehouse: this is Node\.js 2\d\.\d+\.\d+, and the Node\.js 24 that comes with gatehouse is missing:\n/,
  );
  assert.match(output().err, /\n {2}npm rebuild node --ignore-scripts=false --foreground-scripts\n/);
});

test('the real program answers through the launcher', bounded, async (t) => {
  const { child, output } = start(t, oldNode ?? process.execPath, launcher, [
    'check',
    '--config',
    join(root, 'config.yaml'),
  ]);
  assert.deepEqual(await ended(child), { code: 0, signal: null });
  assert.match(output().out, /^config\.yaml is valid\n/);
});
