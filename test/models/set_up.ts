/** Models under test over scripted servers, with everything they say written down. */
import assert from 'node:assert/strict';
import { after, beforeEach } from 'node:test';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { ModelError } from '../../src/base/errors.ts';
import { createModel } from '../../src/models/create_model.ts';
import type { ModelAnswer, ModelMessage, ModelProfile, ModelRequest } from '../../src/types/model.ts';
import { type ModelServer, type ModelServerOptions, startModelServer } from '../emulators/model_server.ts';
import { within } from '../support/within.ts';
import { ask, createLogRecorder, createRecorder, type Recorder, requestOf } from './wires.ts';

/** A fresh server per test as `server()`, more on demand; all are closed after the suite. */
export function useServers(): { server(): ModelServer; start(options?: ModelServerOptions): Promise<ModelServer> } {
  const servers: ModelServer[] = [];
  let current: ModelServer | undefined;
  const start = async (options: ModelServerOptions = {}) => {
    const started = await startModelServer(options);
    servers.push(started);
    return started;
  };
  beforeEach(async () => {
    current = await start();
  });
  after(() => Promise.all(servers.map((one) => one.close())));
  return { server: () => current as ModelServer, start };
}

export interface SetUp {
  recorder: Recorder;
  logged: ReturnType<typeof createLogRecorder>;
  ask(messages?: ModelMessage[], signal?: AbortSignal, changes?: Partial<ModelRequest>): Promise<ModelAnswer>;
}

/** The first profile is asked; waits take three quarters of their full length. */
export function setUp(profiles: ModelProfile[], clock: Clock = systemClock): SetUp {
  const recorder = createRecorder();
  const logged = createLogRecorder();
  const byName = Object.fromEntries(profiles.map((profile) => [profile.name, profile]));
  const model = createModel(profiles[0]!.name, byName, { clock, log: logged.log, random: () => 0.5, demoPieceMs: 0 });
  return {
    recorder,
    logged,
    ask: (messages = ask('hi'), signal = new AbortController().signal, changes = {}) =>
      model.ask(requestOf(messages, changes), recorder, signal),
  };
}

export async function failureOf(promise: Promise<unknown>): Promise<ModelError> {
  const error = await within(10_000, 'the failure', promise).then(
    () => assert.fail('it answered'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ModelError, String(error));
  return error;
}
