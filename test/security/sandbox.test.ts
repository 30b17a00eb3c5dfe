/**
 * Attacks on the sandbox of skills. Each runs twice, confined and free, as the same user: what fails confined must work
 * free, or the test would prove nothing.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { bubblewrapOptions, unprivilegedId } from '../../src/sandbox/bubblewrap.ts';
import { createSandbox } from '../../src/sandbox/create_sandbox.ts';
import { noGrant } from '../../src/sandbox/grant.ts';
import { findMeans } from '../../src/sandbox/means.ts';
import { becomes } from '../support/becomes.ts';
import { findProgram, needs } from '../support/needs.ts';
import { createWorld, isRoot, needsSandbox, node, quietLog, skillUser } from '../support/sandbox_world.ts';
import { within } from '../support/within.ts';

const skip = needsSandbox();

/** Processes of this machine whose command line holds the marker. */
function processesWith(marker: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(marker) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

function endAtEnd(t: TestContext, child: ChildProcess): ChildProcess {
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });
  return child;
}

describe('attacks of a skill', { skip, timeout: 240_000 }, () => {
  it("R60: reads the gateway's database and key file", async (t) => {
    const world = createWorld(t);
    const attack = node(
      `say(input.files.map((path) => attempt(() => fs.readFileSync(path, 'utf8'))).concat(attempt(() => fs.readFileSync('/etc/passwd', 'utf8').slice(0, 4))))`,
    );
    const files = ['gatehouse.db', 'gatehouse.key'].map((name) => join(world.data, name));
    assert.deepEqual(await world.both(attack, { stdin: JSON.stringify({ files }) }), {
      confined: ['ENOENT', 'ENOENT', 'ENOENT'],
      free: ['secret of gatehouse.db', 'secret of gatehouse.key', 'root'],
    });
  });

  it("R60: reads the gateway's files through a grant for a folder above them, or through a link to it", async (t) => {
    const world = createWorld(t);
    const above = join(world.data, '..');
    const link = `${above}-link`;
    t.after(() => rmSync(link));
    symlinkSync(above, link);
    const attack = node(`say(input.map((path) => attempt(() => fs.readFileSync(path, 'utf8'))))`);
    const files = [above, link].map((folder) => join(folder, 'gateway_files', 'gatehouse.key'));
    writeFileSync(join(above, 'granted.txt'), 'granted');
    const stdin = JSON.stringify([...files, join(above, 'granted.txt')]);
    const grant = { ...noGrant, read: [above, link] };
    assert.deepEqual(await world.both(attack, { stdin, grant }), {
      confined: ['ENOENT', 'ENOENT', 'granted'],
      free: ['secret of gatehouse.key', 'secret of gatehouse.key', 'granted'],
    });
    for (const path of [world.data, join(world.data, 'gatehouse.key'), '/', '/proc', 'relative'])
      await assert.rejects(world.run(world.confined, attack, { grant: { ...noGrant, read: [path] } }), {
        code: 'refused',
      });
  });

  it("R60: moves the gateway's files away from where they are covered", async (t) => {
    const world = createWorld(t);
    const top = join(world.open, 'top');
    const data = join(top, 'middle', 'data');
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, 'key'), 'secret of the gateway');
    if (isRoot) for (const path of [top, join(top, 'middle'), data]) chownSync(path, unprivilegedId, unprivilegedId);
    const sandbox = createSandbox({ mode: 'required', hidden: [data], clock: systemClock, log: quietLog });
    t.after(() => sandbox.close());
    const grant = { ...noGrant, write: [top] };
    const attack = node(`
      attempt(() => fs.renameSync(input + '/middle', input + '/moved'));
      say(attempt(() => fs.readFileSync(input + '/moved/data/key', 'utf8')));`);
    const stdin = JSON.stringify(top);
    await assert.rejects(world.run(sandbox, attack, { grant, stdin }), { code: 'refused', message: /holds .*data of/ });
    assert.equal((await world.run(world.free, attack, { grant, stdin })).stdout, '"secret of the gateway"');
  });

  it('R60: uses what whoever started the gateway left open', async (t) => {
    const world = createWorld(t);
    const secret = openSync(join(world.data, 'gatehouse.key'), 'r');
    t.after(() => closeSync(secret));
    const attack = node(`say(attempt(() => fs.readFileSync(40, 'utf8')))`);
    const { folder, program } = world.program(attack);
    const stdio = [...Array.from({ length: 40 }, () => 'ignore' as const), secret];
    const start = (file: string, ...words: string[]) => {
      const child = spawn(process.execPath, [file, ...words], {
        stdio: ['pipe', 'pipe', 'inherit', ...stdio.slice(3)],
      });
      return endAtEnd(t, child);
    };
    const answerOf = async (child: ChildProcess) => {
      let text = '';
      for await (const chunk of child.stdout!) text += String(chunk);
      return text;
    };
    const order = {
      mode: 'required',
      data: world.data,
      request: { folder, program, interpreter: 'node', stdin: '{}' },
    };
    const gateway = start(join(import.meta.dirname, 'generous_gateway.ts'), JSON.stringify(order));
    assert.equal(await answerOf(gateway), '""');
    const plain = start(join(folder, program));
    plain.stdin!.end('{}');
    assert.equal(await answerOf(plain), '"secret of gatehouse.key"');
  });

  it('a grant for /opt does not cover the Node that runs it', async (t) => {
    const world = createWorld(t);
    const result = await world.run(world.confined, node('say(1);'), { grant: { ...noGrant, read: ['/opt'] } });
    assert.equal(result.stdout, '1', result.stderrTail);
  });

  it("R60: reads another process's environment", async (t) => {
    const world = createWorld(t);
    const victim = spawn('/bin/sleep', ['30'], { env: { VICTIM: 'its-token-4711' }, ...skillUser, stdio: 'ignore' });
    endAtEnd(t, victim);
    await once(victim, 'spawn');
    const attack = node(`
      const found = fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name))
        .map((pid) => attempt(() => fs.readFileSync('/proc/' + pid + '/environ', 'latin1')));
      say(found.some((text) => text.includes('its-token-4711')));`);
    assert.deepEqual(await world.both(attack), { confined: false, free: true });
  });

  it('R60: connects to loopback, to the network, and to a socket without a file', async (t) => {
    const world = createWorld(t);
    const server = createServer((socket) => socket.end()).listen(0, '0.0.0.0');
    const abstract = createServer((socket) => socket.end()).listen('\0gatehouse-attack');
    t.after(() => [server, abstract].forEach((one) => void one.close()));
    await Promise.all([once(server, 'listening'), once(abstract, 'listening')]);
    const address = server.address();
    assert.ok(typeof address === 'object' && address);
    const outside = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find((one) => one.family === 'IPv4' && !one.internal)?.address;
    const targets = [
      { host: '127.0.0.1', port: address.port },
      { path: '\0gatehouse-attack' },
      ...(outside ? [{ host: outside, port: address.port }] : []),
    ];
    const attack = node(`
      const net = require('node:net');
      const connect = (target) => new Promise((resolve) => {
        const socket = net.connect(target, () => resolve('connected'));
        socket.once('error', () => resolve('failed'));
      });
      say(await Promise.all(input.map(connect)));`);
    const stdin = JSON.stringify(targets);
    assert.deepEqual(await world.both(attack, { stdin }), {
      confined: targets.map(() => 'failed'),
      free: targets.map(() => 'connected'),
    });
    const granted = await world.run(world.confined, attack, { stdin, grant: { ...noGrant, network: 'any' } });
    assert.deepEqual(
      JSON.parse(granted.stdout),
      targets.map(() => 'connected'),
      'with the grant',
    );
  });

  it('R61: outlives the timeout with a child in a session of its own that holds stdout', async (t) => {
    const world = createWorld(t);
    for (const [kind, sandbox] of [
      ['confined', world.confined],
      ['free', world.free],
    ] as const) {
      await sandbox.state();
      const marker = `86400.${process.pid}`;
      const attack = `#!/bin/sh\n/usr/bin/setsid -f /bin/sleep ${marker}\n/bin/sleep ${marker}\n`;
      t.after(() => processesWith(marker).forEach((pid) => void process.kill(pid, 'SIGKILL')));
      const result = await world.run(sandbox, attack, { timeoutMs: 1_000 });
      assert.equal(result.ended, 'timed_out');
      assert.ok(result.durationMs >= 1_000 && result.durationMs < 2_500, `${kind}: ${result.durationMs} ms`);
      assert.equal(processesWith(marker).length, kind === 'free' ? 1 : 0, kind);
    }
  });

  it('R61: leaves a child behind after it has answered', async (t) => {
    const world = createWorld(t);
    const marker = `86401.${process.pid}`;
    // The end of the child's stdout says that it has left the group.
    const attack = `#!/bin/sh\n: "$(/usr/bin/setsid -f /bin/sh -c 'exec /bin/sleep ${marker} >/dev/null')"\necho '{}'\n`;
    t.after(() => processesWith(marker).forEach((pid) => void process.kill(pid, 'SIGKILL')));
    const confined = await world.run(world.confined, attack);
    assert.equal(confined.stdout, '{}\n');
    assert.equal(processesWith(marker).length, 0);
    await world.run(world.free, attack);
    assert.equal(processesWith(marker).length, 1);
  });

  it('R61, R75: is stopped while its sandbox is being made, and lives on', async (t) => {
    const real = findMeans();
    // Without groups nothing but the kill of the process group ends it.
    const world = createWorld(t, { found: { ...real, means: { ...real.means, cgroups: null } } });
    await world.confined.state();
    const marker = `86402.${process.pid}`;
    const attack = world.program(`#!/bin/sh\n/usr/bin/setsid -f /bin/sleep ${marker}\n/bin/sleep ${marker}\n`);
    t.after(() => processesWith(marker).forEach((pid) => void process.kill(pid, 'SIGKILL')));
    const call = { ...attack, stdin: '{}', env: {}, timeoutMs: 20_000 };
    for (let round = 0; round < 90; round++) {
      const abort = new AbortController();
      const run = world.confined.run({ ...call, signal: abort.signal });
      setTimeout(() => abort.abort(new Error('stopped')), round / 3);
      await assert.rejects(run, { message: 'stopped' });
    }
    await becomes(() => processesWith(marker), []);
  });

  it('lives on when the gateway is killed', async (t) => {
    const world = createWorld(t);
    const attack = node(`
      const output = fs.openSync(input.folder + '/out', 'w');
      fs.writeSync(output, 'up\\n');
      fs.readFileSync(input.folder + '/in');
      fs.writeSync(output, 'still here\\n');`);
    for (const mode of ['required', 'off'] as const) {
      const folder = join(world.open, mode);
      mkdirSync(folder);
      const pipes = spawn('/usr/bin/mkfifo', ['-m', '666', join(folder, 'in'), join(folder, 'out')]);
      assert.deepEqual(await once(pipes, 'exit'), [0, null]);
      const reader = endAtEnd(t, spawn('/bin/cat', [join(folder, 'out')], { stdio: ['ignore', 'pipe', 'inherit'] }));
      const lines = createInterface({ input: reader.stdout! })[Symbol.asyncIterator]();
      const gateway = endAtEnd(t, fork(join(import.meta.dirname, 'doomed_gateway.ts')));
      gateway.send({
        mode,
        data: world.data,
        request: {
          ...world.program(attack),
          stdin: JSON.stringify({ folder }),
          env: {},
          timeoutMs: 60_000,
          grant: { ...noGrant, write: [folder] },
        },
      });
      assert.equal((await lines.next()).value, 'up');
      gateway.kill('SIGKILL');
      await once(gateway, 'exit');
      // Its end closes the pipe. Whoever lives still waits for a word, and gets it in the control run.
      const word = mode === 'off' ? `echo > '${join(folder, 'in')}'` : ':';
      const writer = endAtEnd(t, spawn('/bin/sh', ['-c', word]));
      const last = await within(10_000, `an answer with mode ${mode}`, lines.next());
      assert.equal(last.done ? 'gone' : last.value, mode === 'off' ? 'still here' : 'gone');
      writer.kill('SIGKILL');
    }
  });

  it('is a fork bomb', async (t) => {
    const world = createWorld(t);
    const attack =
      '#!/bin/sh\ni=0\nwhile [ $i -lt 160 ]; do /bin/sleep 20 & i=$((i+1)); echo $i; done 2>/dev/null\n/bin/true\n';
    const confined = await world.run(world.confined, attack);
    const free = await world.run(world.free, attack);
    const started = confined.stdout.trim().split('\n').length;
    assert.ok(started > 50 && started < 128, `${started} processes`);
    assert.equal(free.stdout.trim().split('\n').length, 160);
  });

  it('fills the disk, the memory disks, and a file', async (t) => {
    const world = createWorld(t);
    const fill = node(`
      let written = 0;
      const chunk = Buffer.alloc(5 * 1024 * 1024);
      const error = attempt(() => {
        for (let i = 0; i < 20; i++) {
          fs.writeFileSync(input.folder + '/' + (input.one ? 'one' : i), chunk, { flag: 'a' });
          written += chunk.length;
        }
        return 'none';
      });
      say({ error, mebibytes: written / 1024 / 1024 });`);
    const outcome = async (sandbox: typeof world.free, folder: string, one = false) => {
      const grant = folder === world.open ? { ...noGrant, write: [folder] } : noGrant;
      const result = await world.run(sandbox, fill, { stdin: JSON.stringify({ folder, one }), grant });
      return result.stdout ? (JSON.parse(result.stdout) as unknown) : result.signal;
    };
    assert.deepEqual(await outcome(world.confined, '/tmp'), { error: 'ENOSPC', mebibytes: 60 });
    assert.deepEqual(await outcome(world.confined, '/dev/shm'), { error: 'ENOSPC', mebibytes: 15 });
    for (const folder of ['/', '/dev', '/skill', '/usr'])
      assert.deepEqual(await outcome(world.confined, folder), { error: 'EROFS', mebibytes: 0 }, folder);
    assert.deepEqual(await outcome(world.confined, world.open, true), { error: 'EFBIG', mebibytes: 60 });
    assert.deepEqual(await outcome(world.free, world.open, true), { error: 'none', mebibytes: 100 });
  });

  it('takes all memory', async (t) => {
    const world = createWorld(t);
    const { memory } = await world.confined.state();
    const attack = node(`
      const kept = [];
      for (let i = 0; i < 12; i++) kept.push(Buffer.alloc(50 * 1024 * 1024, i + 1));
      say(kept.length);`);
    // Where no group can be made, only each process has a limit, of another size: the next attack.
    if (memory.startsWith('cgroup')) assert.equal((await world.run(world.confined, attack)).ended, 'out_of_memory');
    else assert.match(memory, /^of each process only: ./);
    assert.equal((await world.run(world.free, attack)).stdout, '12');
  });

  it('takes all memory on a machine without groups', async (t) => {
    const real = findMeans();
    const world = createWorld(t, { found: { ...real, means: { ...real.means, cgroups: null } } });
    const attack = node(`
      const kept = [];
      say(attempt(() => {
        for (let i = 0; i < 5; i++) kept.push(new ArrayBuffer(1024 ** 3));
        return kept.length;
      }));`);
    assert.deepEqual(await world.both(attack), { confined: 'RangeError: Array buffer allocation failed', free: 5 });
  });

  it('R61: writes 1 GB of output', async (t) => {
    const world = createWorld(t);
    const attack = '#!/bin/sh\nexec /usr/bin/head -c 1000000000 /dev/zero\n';
    const result = await world.run(world.confined, attack);
    assert.equal(result.ended, 'output_too_long');
    assert.equal(result.stdout, '');
    const { folder, program } = world.program(attack);
    const child = endAtEnd(t, spawn(join(folder, program), { stdio: ['ignore', 'pipe', 'ignore'] }));
    let bytes = 0;
    for await (const chunk of child.stdout!) {
      bytes += (chunk as Buffer).length;
      if (bytes > 20 * 1024 * 1024) break;
    }
    assert.ok(bytes > 20 * 1024 * 1024, 'a plain child goes on writing');
  });

  it('R61: writes 200 MB of log lines', async (t) => {
    const world = createWorld(t);
    const lines: string[] = [];
    const attack =
      '#!/bin/sh\n/usr/bin/yes "a line of the log" | /usr/bin/head -c 200000000 >&2\necho end >&2\necho 1\n';
    const result = await world.run(world.confined, attack, { onLog: (line) => void lines.push(line) });
    assert.equal(result.stdout, '1\n');
    assert.equal(lines.length, 1_001);
    assert.equal(lines.at(-1), '[further lines are not shown]');
    assert.equal(Buffer.byteLength(result.stderrTail), 4_096);
    assert.ok(result.stderrTail.endsWith('end\n'));
  });

  it('R60: looks into its environment', async (t) => {
    const world = createWorld(t);
    process.env.GATEHOUSE_ATTACK = 'secret';
    t.after(() => void delete process.env.GATEHOUSE_ATTACK);
    const attack = node('say(process.env);');
    assert.deepEqual(await world.both(attack, { env: { FOO: 'bar', EMPTY: '', MANY: 'a\nb=c' } }), {
      confined: { FOO: 'bar', EMPTY: '', MANY: 'a\nb=c' },
      free: { FOO: 'bar', EMPTY: '', MANY: 'a\nb=c' },
    });
    assert.deepEqual(await world.both(attack), { confined: {}, free: {} });
    const { folder, program } = world.program(attack);
    const child = endAtEnd(t, spawn(process.execPath, [join(folder, program)]));
    child.stdin!.end('{}');
    let text = '';
    for await (const chunk of child.stdout!) text += String(chunk);
    assert.equal((JSON.parse(text) as NodeJS.ProcessEnv).GATEHOUSE_ATTACK, 'secret', 'a plain child has it');
  });

  it('R60: its variables are on no command line', async (t) => {
    const world = createWorld(t);
    const seen = { now: [] as number[], bwrap: 0 };
    const attack = '#!/bin/sh\necho up >&2\nread -r line\n';
    const abort = new AbortController();
    const run = world.run(world.confined, attack, {
      env: { TOKEN: 'value-on-no-command-line' },
      // Longer than the pipe that is not read, so that it waits.
      stdin: ' '.repeat(1_000_000),
      onLog: () => {
        seen.now = processesWith('value-on-no-command-line');
        seen.bwrap = processesWith('bwrap').length;
        abort.abort(new Error('seen'));
      },
      signal: abort.signal,
    });
    await assert.rejects(run, { message: 'seen' });
    assert.deepEqual(seen.now, []);
    assert.ok(seen.bwrap > 0);
  });

  it("R60: is not the machine's root, whoever it is inside", async (t) => {
    const world = createWorld(t);
    const marker = `who-is-it-${process.pid}`;
    const abort = new AbortController();
    let users: string[] = [];
    const attack = `#!/bin/sh\n/bin/sh -c 'echo up >&2; /bin/sleep 60; : ${marker}'\n`;
    const onLog = () => {
      users = processesWith(marker).flatMap((pid) => {
        const status = readFileSync(`/proc/${pid}/status`, 'utf8');
        return [/^Uid:\s+(\d+)/m, /^Gid:\s+(\d+)/m].map((line) => line.exec(status)?.[1] ?? '');
      });
      abort.abort(new Error('seen'));
    };
    await assert.rejects(world.run(world.confined, attack, { onLog, signal: abort.signal }), { message: 'seen' });
    assert.ok(!users.includes('0') && users.includes(String(skillUser.uid ?? process.getuid?.())), users.join());
    if (isRoot) await writesAsMappedRoot(t);
  });

  it('asks the kernel for namespaces, other processes and odd sockets', { skip: needs('python3') }, async (t) => {
    const world = createWorld(t);
    const attack = `#!/usr/bin/python3
import ctypes, json, platform, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    ctypes.set_errno(0)
    result = getattr(libc, name)(*args)
    return 'worked' if result >= 0 else ctypes.get_errno()
arm = platform.machine() == 'aarch64'
answer = {
    'ptrace': call('ptrace', 0, 0, 0, 0),
    'io_uring': call('syscall', 425, 1, 0),
    'keyctl': call('syscall', 219 if arm else 250, 0, -4, 0),
    'clone3': call('syscall', 435, 0, 0),
    'personality': call('personality', ctypes.c_ulong(0xffffffff)),
    'unshare': call('unshare', 0x10000000),
}
for name, family in (('packet', 17), ('alg', 38)):
    try:
        socket.socket(family, 5 if family == 38 else 3)
        answer[name] = 'worked'
    except OSError as error:
        answer[name] = error.errno
json.dump(answer, sys.stdout)
`;
    const { confined, free } = (await world.both(attack)) as Record<string, Record<string, unknown>>;
    const denied = { ptrace: 1, io_uring: 1, keyctl: 1, clone3: 38, personality: 1, unshare: 1, packet: 97, alg: 97 };
    assert.deepEqual(confined, denied);
    for (const name of ['ptrace', 'personality', 'unshare']) assert.equal(free?.[name], 'worked', name);
    assert.notEqual(free?.io_uring, 1);
    assert.notEqual(free?.clone3, 38);
  });

  it('shares nothing with the next call', async (t) => {
    const world = createWorld(t);
    const attack = node(`
      const there = attempt(() => fs.readFileSync(input.folder + '/left', 'utf8'));
      fs.writeFileSync(input.folder + '/left', 'behind');
      say(there);`);
    const twice = async (sandbox: typeof world.free, folder: string) => {
      const stdin = JSON.stringify({ folder });
      await world.run(sandbox, attack, { stdin });
      return (await world.run(sandbox, attack, { stdin })).stdout;
    };
    assert.equal(await twice(world.confined, '/tmp'), '"ENOENT"');
    assert.equal(await twice(world.free, world.open), '"behind"');
  });
});

/** Files of root, through a folder that the operator grants: what a gateway that is root must fear. */
async function writesAsMappedRoot(t: TestContext): Promise<void> {
  const world = createWorld(t);
  const target = join(world.open, 'of_root');
  writeFileSync(target, 'untouched', { mode: 0o600 });
  const grant = { ...noGrant, write: [world.open] };
  const attack = node(`say(attempt(() => fs.writeFileSync(input.target, 'overwritten')) ?? 'done');`);
  const stdin = JSON.stringify({ target });
  const confined = await world.run(world.confined, attack, { stdin, grant });
  assert.equal(confined.stdout, '"EACCES"');
  assert.equal(readFileSync(target, 'utf8'), 'untouched');
  // The same view, made by bubblewrap while it is still root.
  const { folder, program } = world.program(attack);
  const view = bubblewrapOptions({ folder, env: {}, grant, hidden: [], node: process.execPath });
  const bwrap = findProgram('bwrap') ?? 'bwrap';
  const child = spawn(bwrap, [...view, '--', '/.gateway/node', join('/skill', program)], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.end(stdin);
  assert.deepEqual(await once(child, 'exit'), [0, null]);
  assert.equal(readFileSync(target, 'utf8'), 'overwritten');
}
