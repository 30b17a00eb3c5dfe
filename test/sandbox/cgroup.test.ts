/** Against a folder that looks like the kernel's: where groups are looked for on v1 and v2. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { findCgroups, openCallGroup } from '../../src/sandbox/cgroup.ts';
import { within } from '../support/within.ts';

function machine(t: TestContext, files: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-cgroup-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const mountsV1 = `31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw
35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
39 31 0:36 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
`;
const mountsV2 = '35 31 0:32 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n';
const service = 'sys/fs/cgroup/system.slice/gatehouse.service';

describe('control groups', () => {
  it('v1: the own group of the memory hierarchy, as it is mounted here', (t) => {
    const root = machine(t, {
      'proc/self/mountinfo': mountsV1,
      'proc/self/cgroup': '5:pids:/other\n4:memory:/docker/abc/inner\n0::/\n',
      'sys/fs/cgroup/memory/inner/cgroup.procs': '',
    });
    const found = findCgroups(root, new Set());
    assert.deepEqual(found, { version: 1, memory: join(root, 'sys/fs/cgroup/memory/inner'), pids: null });
  });

  it('takes away empty groups of gateways that have ended, and no other', (t) => {
    const inner = 'sys/fs/cgroup/memory/inner';
    const root = machine(t, {
      'proc/self/mountinfo': mountsV1,
      'proc/self/cgroup': '4:memory:/docker/abc/inner\n',
      [`${inner}/gatehouse-1-5/kept`]: '',
    });
    // No process has a number this high.
    mkdirSync(join(root, inner, 'gatehouse-4194305-1'));
    mkdirSync(join(root, inner, 'somebody'));
    findCgroups(root, new Set());
    assert.deepEqual(readdirSync(join(root, inner)).sort(), ['gatehouse-1-5', 'somebody']);
  });

  it('D2: ends what a gateway that was killed has left running in its groups', async (t) => {
    const inner = 'sys/fs/cgroup/memory/inner';
    const left = spawn('/bin/sleep', ['60'], { stdio: 'ignore' });
    t.after(() => left.kill('SIGKILL'));
    const root = machine(t, {
      'proc/self/mountinfo': mountsV1,
      'proc/self/cgroup': '4:memory:/docker/abc/inner\n',
      [`${inner}/gatehouse-4194305-1/cgroup.procs`]: `0\n${left.pid}\n`,
    });
    findCgroups(root, new Set());
    assert.deepEqual(await within(5_000, 'the end of it', once(left, 'exit')), [null, 'SIGKILL']);
  });

  const unified = (more: Record<string, string>) => ({
    'proc/self/mountinfo': mountsV2,
    'proc/self/cgroup': '0::/system.slice/gatehouse.service\n',
    [`${service}/cgroup.controllers`]: 'cpu memory pids\n',
    [`${service}/cgroup.procs`]: '10\n11\n',
    [`${service}/cgroup.subtree_control`]: 'memory pids\n',
    'sys/fs/cgroup/system.slice/cgroup.procs': '',
    ...more,
  });

  it('v2: our own service, after its processes have moved aside', (t) => {
    const root = machine(t, unified({ [`${service}/gateway/cgroup.procs`]: '' }));
    const found = findCgroups(root, new Set([10, 11]));
    const own = join(root, service);
    assert.deepEqual(found, { version: 2, memory: own, pids: own });
    assert.equal(readFileSync(join(own, 'gateway/cgroup.procs'), 'utf8'), '11');
  });

  it('v2: the empty group above, where systemd has put us into one of its own', (t) => {
    const root = machine(
      t,
      unified({
        'proc/self/cgroup': '0::/system.slice/gatehouse.service/gateway\n',
        [`${service}/cgroup.procs`]: '',
        [`${service}/gateway/cgroup.controllers`]: 'memory pids\n',
      }),
    );
    const own = join(root, service);
    assert.deepEqual(findCgroups(root, new Set([10])), { version: 2, memory: own, pids: own });
  });

  it('v2: says why there is none', (t) => {
    const reason = (more: Record<string, string>) => {
      const found = findCgroups(machine(t, unified(more)), new Set([10]));
      return 'reason' in found ? found.reason.replace(/\/\S+\//, '') : found;
    };
    assert.equal(
      reason({ [`${service}/cgroup.controllers`]: 'cpu\n' }),
      'the memory controller is not handed to this process (systemd: Delegate=yes)',
    );
    assert.equal(reason({}), "gatehouse.service has processes that are not the gateway's");
    const session = { 'proc/self/cgroup': '0::/user.slice/session-1.scope\n' };
    const at = 'sys/fs/cgroup/user.slice/session-1.scope';
    assert.equal(
      reason({ ...session, [`${at}/cgroup.controllers`]: 'memory\n', [`${at}/cgroup.procs`]: '10\n' }),
      'session-1.scope is not a service of its own',
    );
    assert.equal(reason({ 'proc/self/mountinfo': '' }), 'there is no cgroup file system');
  });

  it('a call has the limits of its version, and a group that is removed', async (t) => {
    const root = machine(t, { 'one/x': '' });
    const memory = join(root, 'one');
    const text = (group: { procs: string[] }, name: string) =>
      readFileSync(join(dirname(group.procs[0]!), name), 'utf8');
    const first = openCallGroup({ version: 1, memory, pids: null }, systemClock);
    assert.equal(text(first, 'memory.limit_in_bytes'), '536870912');
    const second = openCallGroup({ version: 2, memory, pids: memory }, systemClock);
    assert.deepEqual(
      ['memory.max', 'memory.swap.max', 'pids.max'].map((name) => text(second, name)),
      ['536870912', '0', '128'],
    );
    assert.equal(second.outOfMemory(), false);
    writeFileSync(join(dirname(second.procs[0]!), 'memory.events'), 'oom 1\noom_kill 2\n');
    assert.equal(second.outOfMemory(), true);
    // The kernel's files do not keep a group from being removed; these do.
    for (const group of [first, second])
      for (const name of readdirSync(dirname(group.procs[0]!))) rmSync(join(dirname(group.procs[0]!), name));
    assert.deepEqual(await Promise.all([first.remove(), second.remove()]), [true, true]);
    assert.deepEqual(readdirSync(memory), ['x']);
  });
});
