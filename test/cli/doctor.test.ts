import assert from 'node:assert/strict';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { GatehouseError } from '../../src/base/errors.ts';
import { type Finding, sandboxFinding } from '../../src/cli/doctor.ts';
import { cli, valid } from './support.ts';

const bounded = { timeout: 60_000 } as const;

test('R87: what is right is said, and the exit code is 0', bounded, async (t) => {
  const { run } = cli(t, valid, { offline: async () => ({ since: 0, rows: [] }) });
  const { code, out } = await run('doctor', '--json');
  const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: Finding[] };
  assert.deepEqual([code, ok], [0, true]);
  assert.deepEqual(
    findings.filter(({ what }) => what !== 'sandbox').map(({ what, state }) => [what, state]),
    [
      ['configuration', 'ok'],
      ['data folder', 'ok'],
      ['gateway', 'ok'],
      ['database', 'ok'],
    ],
  );
});

test('R87: a database that does not open is a failure with its remedy', bounded, async (t) => {
  const offline = () =>
    Promise.reject(new GatehouseError('unavailable', 'the database is newer than this program', { hint: 'update it' }));
  const { code, out } = await cli(t, valid, { offline }).run('doctor');
  assert.equal(code, 1);
  assert.match(out, /^FAILURE {2}database .*newer than this program\. What to do: update it$/m);
});

test('R87: a data folder that others can read is a failure with its remedy', bounded, async (t) => {
  const { run, folder } = cli(t, valid);
  mkdirSync(join(folder, 'data'));
  chmodSync(join(folder, 'data'), 0o755);
  const { code, out } = await run('doctor');
  assert.equal(code, 1);
  assert.match(out, /^FAILURE {2}data folder .*can be read by others\. What to do: chmod 700 .*data$/m);
});

test('R63: without bubblewrap it says what to install, and fails when there are skills to run', () => {
  const missing = { reason: 'bubblewrap is not installed', hint: 'apt-get install bubblewrap' };
  const state = { mode: 'required', runs: 'refused', missing, memory: 'cgroup v2' } as const;
  const refused = {
    what: 'sandbox',
    detail: 'skills do not run: bubblewrap is not installed',
    remedy: 'apt-get install bubblewrap',
  };
  assert.deepEqual(sandboxFinding(state, 1), { ...refused, state: 'failure' });
  assert.deepEqual(sandboxFinding(state, 0), { ...refused, state: 'warning' });
  assert.deepEqual(sandboxFinding({ ...state, mode: 'preferred', runs: 'unconfined' }, 1), {
    what: 'sandbox',
    state: 'warning',
    detail: 'skills run without it: bubblewrap is not installed',
    remedy: 'apt-get install bubblewrap',
  });
  assert.deepEqual(sandboxFinding({ ...state, runs: 'confined', missing: null }, 1), {
    what: 'sandbox',
    state: 'ok',
    detail: 'tested, it holds; memory limits: cgroup v2',
    remedy: null,
  });
});
