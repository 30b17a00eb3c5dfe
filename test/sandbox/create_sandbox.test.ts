import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { bubblewrapOptions, nodeSeenAt } from '../../src/sandbox/bubblewrap.ts';
import { createTurns } from '../../src/sandbox/create_sandbox.ts';
import { isWithin, noGrant } from '../../src/sandbox/grant.ts';
import { type Found, findMeans } from '../../src/sandbox/means.ts';
import { checks, judge } from '../../src/sandbox/self_test.ts';
import { createStaging } from '../../src/sandbox/staging.ts';
import { createWorld, needsSandbox } from '../support/sandbox_world.ts';

const skip = needsSandbox();
const answer = '#!/bin/sh\necho \'"ran"\'\n';

function found(change: Partial<Found> & { bwrap?: string | null }): Found {
  const real = findMeans();
  const { bwrap, ...rest } = change;
  return { ...real, means: bwrap === undefined ? real.means : { ...real.means, bwrap }, ...rest };
}
const absent = () =>
  found({ bwrap: null, missing: { reason: 'bubblewrap is not installed', hint: 'sudo apt-get install bubblewrap' } });

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-sandbox-test-'));
  chmodSync(path, 0o755);
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

describe('modes of the sandbox', () => {
  it('R63: required runs confined', { skip }, async (t) => {
    const world = createWorld(t);
    const { memory, ...state } = await world.confined.state();
    assert.deepEqual(state, { mode: 'required', runs: 'confined', missing: null });
    assert.match(memory, /^(?:cgroup v[12]|of each process only: .+)$/);
    assert.equal((await world.run(world.confined, '#!/bin/sh\npwd\n')).stdout, '/skill\n');
  });

  it('R63: required without bubblewrap refuses and says what to install', async (t) => {
    const world = createWorld(t, { found: absent() });
    await assert.rejects(world.run(world.confined, answer), {
      code: 'refused',
      message: 'skills do not run here: bubblewrap is not installed',
      hint: 'sudo apt-get install bubblewrap',
    });
  });

  it('R63: preferred without bubblewrap runs without, and says so', async (t) => {
    const world = createWorld(t, { mode: 'preferred', found: absent() });
    const { runs, missing } = await world.confined.state();
    assert.deepEqual([runs, missing?.reason], ['unconfined', 'bubblewrap is not installed']);
    assert.equal((await world.run(world.confined, answer)).stdout, '"ran"\n');
  });

  it('R60: unconfined is a grant of the operator, whatever the mode', async (t) => {
    const world = createWorld(t, { found: absent() });
    const grant = { ...noGrant, unconfined: true };
    assert.equal((await world.run(world.confined, answer, { grant })).stdout, '"ran"\n');
  });

  it('a sandbox that does not confine fails its self test, with everything that it let through', async (t) => {
    const bwrap = join(folder(t), 'bwrap');
    const real = findMeans();
    // Takes the options and heeds none of them. Node is where the machine has it, not where bubblewrap would show it.
    writeFileSync(
      bwrap,
      [
        '#!/bin/sh',
        '/bin/cat <&3 >/dev/null',
        'while [ "$1" != -- ]; do shift; done',
        'shift',
        'for word do',
        '  shift',
        `  [ "$word" = '${nodeSeenAt(real.means.node)}' ] && word='${real.means.node}'`,
        '  set -- "$@" "$word"',
        'done',
        'exec "$@"',
        '',
      ].join('\n'),
      { mode: 0o755 },
    );
    const means = { ...real.means, bwrap };
    const world = createWorld(t, { found: { ...real, means, missing: null } });
    const { runs, missing } = await world.confined.state();
    assert.equal(runs, 'refused');
    assert.match(missing?.reason ?? '', /^the sandbox does not hold \(system files: reading \/etc\/passwd worked; /);
    for (const name of ['data folder', 'writing', 'other processes', 'rights', 'namespaces', 'network'])
      assert.ok(missing?.reason.includes(`${name}: `), name);
    await assert.rejects(world.run(world.confined, answer), { code: 'refused' });
  });

  it('R63: a machine that forbids namespaces refuses, with why', async (t) => {
    const bwrap = join(folder(t), 'bwrap');
    writeFileSync(bwrap, '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n', {
      mode: 0o755,
    });
    const world = createWorld(t, { found: found({ bwrap, missing: null }) });
    const { runs, missing } = await world.confined.state();
    assert.equal(runs, 'refused');
    assert.equal(missing?.reason, 'the sandbox cannot start: bwrap: No permissions to create new namespace');
    assert.match(missing?.hint ?? '', /^this machine forbids user namespaces: in Docker add --security-opt/);
  });

  it('nothing but every check passed proves that it holds', () => {
    const passed = Object.fromEntries(checks.map((name) => [name, null]));
    const result = (output: unknown) => ({
      ended: 'exited' as const,
      exitCode: 0,
      stdout: JSON.stringify(output),
      stderrTail: '',
    });
    assert.equal(judge(result(passed)), null);
    for (const name of checks) {
      assert.match(judge(result({ ...passed, [name]: 'x' }))?.reason ?? '', new RegExp(`\\(${name}: x\\)`));
      const { [name]: _, ...rest } = passed;
      assert.match(judge(result(rest))?.reason ?? '', new RegExp(`\\(${name}: not tested\\)`));
    }
    assert.notEqual(judge({ ...result(passed), stdout: 'null' }), null);
    assert.notEqual(judge({ ...result(passed), stdout: '' }), null);
    assert.notEqual(judge({ ...result(passed), ended: 'timed_out' as const }), null);
  });
});

describe('places', () => {
  it('are taken in the order of asking, and given up by who stops waiting', async () => {
    const turns = createTurns(1);
    const order: string[] = [];
    const leave = await turns.enter();
    const stop = new AbortController();
    const second = turns.enter(stop.signal);
    const third = turns.enter().then((go) => {
      order.push('third');
      return go;
    });
    const fourth = turns.enter().then((go) => {
      order.push('fourth');
      return go;
    });
    stop.abort(new Error('stopped'));
    await assert.rejects(second, { message: 'stopped' });
    assert.deepEqual(order, []);
    leave();
    (await third)();
    (await fourth)();
    assert.deepEqual(order, ['third', 'fourth']);
    (await turns.enter())();
    await assert.rejects(turns.enter(AbortSignal.abort(new Error('late'))), { message: 'late' });
  });
});

describe('what is shown', () => {
  const view = { folder: null, env: {}, grant: noGrant, hidden: [], node: null };

  it("covers the gateway's files where a shown folder holds them, also through a link", (t) => {
    const top = folder(t);
    mkdirSync(join(top, 'shown', 'data'), { recursive: true });
    writeFileSync(join(top, 'shown', 'config.yaml'), '');
    symlinkSync(join(top, 'shown'), join(top, 'link'));
    const hidden = [join(top, 'shown', 'data'), join(top, 'shown', 'config.yaml'), join(top, 'shown', 'gone')];
    const grant = { ...noGrant, read: [join(top, 'link')] };
    const options = bubblewrapOptions({ ...view, hidden, grant }).join(' ');
    const seen = join(top, 'link');
    assert.ok(
      options.includes(`--tmpfs ${seen}/data --remount-ro ${seen}/data --ro-bind /dev/null ${seen}/config.yaml`),
    );
    assert.ok(!options.includes('gone'));
  });

  it('the network and its files only with the grant', () => {
    assert.ok(!bubblewrapOptions(view).join(' ').includes('resolv.conf'));
    assert.ok(!bubblewrapOptions(view).includes('--share-net'));
    assert.ok(bubblewrapOptions({ ...view, grant: { ...noGrant, network: 'any' } }).includes('--share-net'));
  });

  it('knows what is within a folder', () => {
    assert.ok(isWithin('/a/b', '/a'));
    assert.ok(isWithin('/a', '/a'));
    assert.ok(isWithin('/a/..b', '/a'));
    assert.ok(isWithin('/a', '/'));
    for (const path of ['/ab', '/', '/b', '/a/../b']) assert.ok(!isWithin(path, '/a'), path);
  });
});

describe('staging', () => {
  it('is the folder itself but for root', () => {
    assert.equal(createStaging({ root: false }).place('/x/y'), '/x/y');
  });

  it('as root copies once to where others may read and none may change, and clears up', (t) => {
    const parent = folder(t);
    const source = join(folder(t), 'digest');
    mkdirSync(join(source, 'lib'), { recursive: true, mode: 0o700 });
    writeFileSync(join(source, 'run.sh'), 'x', { mode: 0o500 });
    writeFileSync(join(source, 'lib', 'part'), 'x', { mode: 0o400 });
    symlinkSync('lib', join(source, 'link'));
    mkdirSync(join(parent, 'gatehouse-skills-4194305-left'));
    const staging = createStaging({ root: true, parent });
    const place = staging.place(source);
    assert.equal(staging.place(source), place);
    const mode = (path: string) => (statSync(join(place, path)).mode & 0o777).toString(8);
    assert.deepEqual([mode('..'), mode('.'), mode('run.sh'), mode('lib/part')], ['711', '755', '755', '644']);
    assert.ok(!existsSync(join(parent, 'gatehouse-skills-4194305-left')));
    rmSync(place, { recursive: true });
    assert.ok(existsSync(join(staging.place(source), 'run.sh')), 'a cleaner of temporary files has been there');
    staging.close();
    assert.ok(!existsSync(join(place, '..')));
  });
});
