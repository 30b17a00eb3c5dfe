/** Runs one skill for `sandbox.test.ts`, with what its parent left open, and tells what the skill answered. */
import { systemClock } from '../../src/base/clock.ts';
import { createSandbox, type SandboxMode } from '../../src/sandbox/create_sandbox.ts';
import type { SandboxRequest } from '../../src/sandbox/run.ts';
import { quietLog } from '../support/sandbox_world.ts';

const order = JSON.parse(process.argv[2] ?? '') as { mode: SandboxMode; data: string; request: SandboxRequest };
// The clock's timers do not keep a process alive.
setInterval(() => {}, 1_000);
const sandbox = createSandbox({ mode: order.mode, hidden: [order.data], clock: systemClock, log: quietLog });
const result = await sandbox.run({ ...order.request, env: {}, timeoutMs: 20_000 });
process.stdout.write(result.stdout || result.stderrTail, () => process.exit());
