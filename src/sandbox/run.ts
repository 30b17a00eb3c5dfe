/** One call of a program in the sandbox, or without it. */
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { GatehouseError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { bubblewrapOptions, nodeSeenAt, skillFolder, unprivilegedId } from './bubblewrap.ts';
import type { CgroupPlace } from './cgroup.ts';
import { type ChildResult, type Ending, finishChild, startChild } from './child.ts';
import { type Fronts, orders } from './front.ts';
import { type Grant, noGrant } from './grant.ts';
import type { Staging } from './staging.ts';

/** What this machine has, found once; see `findMeans`. */
export interface Means {
  bwrap: string | null;
  /** Whether the gateway is root: skills then run as another user. */
  root: boolean;
  seccomp: Buffer | null;
  cgroups: CgroupPlace | null;
  node: string;
  staging: Staging;
}

export interface SandboxRequest {
  /** Absolute; shown read-only at /skill and the working folder. What is in it must never change. */
  folder: string;
  /** Path in the folder. */
  program: string;
  /** `node` runs the program with the gateway's own Node. */
  interpreter: 'node' | null;
  /** JSON; there are no arguments. */
  stdin: string;
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  grant?: Grant;
  /** A line of stderr, bounded in length and number. */
  onLog?: (line: string) => void;
  signal?: AbortSignal;
}

export type SandboxResult = Omit<ChildResult, 'ended'> & { ended: Exclude<Ending, 'cancelled'> | 'out_of_memory' };

export interface Surroundings {
  means: Means;
  /** Null without bubblewrap. */
  fronts: Fronts | null;
  /** Real paths of the gateway's own files. */
  hidden: readonly string[];
  clock: Clock;
  log: Log;
}

/**
 * Runs it confined. Throws GatehouseError('refused') for a grant that cannot be given, and the signal's reason when
 * cancelled. However it ended, no process of it is left.
 */
export async function runSandboxed(request: SandboxRequest, around: Surroundings): Promise<SandboxResult> {
  const { means } = around;
  const seen = join(skillFolder, request.program);
  const inside = request.interpreter === 'node' ? [nodeSeenAt(means.node), seen] : [seen];
  return runConfined({ ...request, inside }, around);
}

/** `inside` is the command as it is seen from within; without a folder it works in /tmp. */
export async function runConfined(
  request: Omit<SandboxRequest, 'folder' | 'program' | 'interpreter'> & {
    folder: string | null;
    inside: readonly string[];
  },
  around: Surroundings,
): Promise<SandboxResult> {
  const { means, fronts, clock } = around;
  const { seccomp } = means;
  if (!fronts || !seccomp) throw new GatehouseError('refused', 'the sandbox is not available on this machine');
  const options = bubblewrapOptions({
    folder: request.folder === null ? null : means.staging.place(request.folder),
    env: request.env,
    grant: request.grant ?? noGrant,
    hidden: around.hidden,
    node: means.node,
  });
  const told = orders(request.timeoutMs, request.inside, options);
  const { child, group } = fronts.take();
  try {
    const result = await finishChild(child, { ...request, pipes: [told, seccomp], clock });
    if (group?.outOfMemory() && result.ended !== 'timed_out') return { ...result, ended: 'out_of_memory' };
    return finished(result, request.signal);
  } finally {
    // Not before the caller has the result: starting a process takes some milliseconds.
    clock.after(0, fronts.prepare);
    // All processes died with their namespace; one that the kernel cannot end yet holds nobody up.
    void group?.remove().then((gone) => {
      if (!gone) around.log.warn({}, 'sandbox: processes of a call are still alive after their end');
    });
  }
}

/**
 * Runs it with nothing but its own process group, its environment and the time limit, as the unprivileged user when
 * the gateway is root. For `sandbox.subprocess: off`, `preferred` without bubblewrap, and `unconfined` grants.
 */
export async function runUnconfined(request: SandboxRequest, around: Surroundings): Promise<SandboxResult> {
  const { means, clock } = around;
  const cwd = means.staging.place(request.folder);
  const program = join(cwd, request.program);
  const child = startChild({
    command: request.interpreter === 'node' ? [means.node, program] : [program],
    cwd,
    env: request.env,
    user: means.root ? unprivilegedId : null,
    pipes: 0,
    files: [],
  });
  const result = await finishChild(child, { ...request, pipes: [], clock });
  return finished(result, request.signal);
}

function finished(result: ChildResult, signal: AbortSignal | undefined): SandboxResult {
  const { ended } = result;
  if (ended === 'cancelled') throw signal?.reason;
  return { ...result, ended };
}
