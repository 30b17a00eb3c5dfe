/** Runs one skill for `sandbox.test.ts`, which kills it. */
import { systemClock } from '../../src/base/clock.ts';
import { createSandbox, type SandboxMode } from '../../src/sandbox/create_sandbox.ts';
import type { SandboxRequest } from '../../src/sandbox/run.ts';
import { quietLog } from '../support/sandbox_world.ts';

process.once('message', (order: { mode: SandboxMode; data: string; request: SandboxRequest }) => {
  const { mode, data, request } = order;
  void createSandbox({ mode, hidden: [data], clock: systemClock, log: quietLog }).run(request);
});
