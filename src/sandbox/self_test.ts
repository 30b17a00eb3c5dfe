/** Proves at start, on this machine, that the sandbox holds: a program inside tries what must fail. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { nodeSeenAt } from './bubblewrap.ts';
import type { Missing } from './means.ts';
import { type ProbeInput, type ProbeOutput, probe } from './probe.ts';
import { runConfined, type SandboxResult, type Surroundings } from './run.ts';

/** Every check, in the order they are shown. */
export const checks = [
  'system files',
  'data folder',
  'writing',
  'other processes',
  'environment',
  'rights',
  'namespaces',
  'network',
] as const;

/** Null when every check passed. `secretFolder` is a real path, one of `around.hidden`. */
export async function testSandbox(around: Surroundings, secretFolder: string): Promise<Missing | null> {
  const server = createServer((socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  try {
    const input: ProbeInput = { secretFolder, port };
    const result = await runConfined(
      {
        folder: null,
        // On one line, as the orders of the front are.
        inside: [nodeSeenAt(around.means.node), '-e', `eval(${JSON.stringify(`(${probe.toString()})()`)})`],
        stdin: JSON.stringify(input),
        env: {},
        timeoutMs: limits.sandboxSelfTestMsMax,
      },
      around,
    );
    return judge(result);
  } catch (error) {
    return { reason: `the sandbox cannot start: ${messageOf(error)}`, hint: 'see the log' };
  } finally {
    server.close();
  }
}

/** What a run of the probe proves; anything but an answer with every check passed proves nothing. */
export function judge(result: Pick<SandboxResult, 'ended' | 'exitCode' | 'stdout' | 'stderrTail'>): Missing | null {
  const said = result.stderrTail.trim();
  if (result.ended !== 'exited' || result.exitCode !== 0)
    return { reason: `the sandbox cannot start: ${said || result.ended}`, hint: hintFor(said) };
  const output = answerOf(result.stdout);
  const failed = checks.flatMap((name) => {
    const outcome = output?.[name];
    if (outcome === null) return [];
    return [`${name}: ${outcome ?? 'not tested'}`];
  });
  if (failed.length === 0) return null;
  return {
    reason: `the sandbox does not hold (${failed.join('; ')})`,
    hint: 'report this; skills stay off until it holds',
  };
}

function answerOf(stdout: string): ProbeOutput | null {
  try {
    return JSON.parse(stdout) as ProbeOutput | null;
  } catch {
    return null;
  }
}

/** bubblewrap says what failed; this says why that usually is. */
function hintFor(said: string): string {
  if (/namespace|uid map|Operation not permitted|Permission denied|clone/i.test(said))
    return 'this machine forbids user namespaces: in Docker add --security-opt seccomp=unconfined --security-opt apparmor=unconfined; on Ubuntu 24.04 set kernel.apparmor_restrict_unprivileged_userns=0 or give bwrap an AppArmor profile; elsewhere see user.max_user_namespaces and kernel.unprivileged_userns_clone';
  return 'update bubblewrap to 0.8 or later';
}
