/**
 * The process in front of bubblewrap: a shell that enters the call's cgroup, sets limits, waits for its orders and
 * becomes bubblewrap. One waits ready, since entering a group takes the kernel 2 to 20 ms and forking our process some
 * more, and neither depends on what will run. It ends by itself when the gateway dies, because its pipe does.
 */
import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { unprivilegedId } from './bubblewrap.ts';
import { type CallGroup, type CgroupPlace, openCallGroup } from './cgroup.ts';
import { killGroup, type StartedChild, startChild } from './child.ts';
import { cpuSeconds, innerLimits, outerLimits } from './limits.ts';

/** Descriptors of the child: orders and then bubblewrap's options, its filter, and the files of groups. */
const ordersAt = 3;
const filterAt = 4;
const groupsAt = 5;

export interface Front {
  child: StartedChild;
  group: CallGroup | null;
}

export interface Fronts {
  /** The one that waits, or a new one. Whoever takes it ends it and removes its group. */
  take(): Front;
  /** Sees that one waits. */
  prepare(): void;
  /** Ends the one that waits. */
  close(): Promise<void>;
}

export interface FrontMeans {
  bwrap: string;
  root: boolean;
  cgroups: CgroupPlace | null;
  clock: Clock;
  log: Log;
}

export function createFronts(means: FrontMeans): Fronts {
  let ready: Front | null = null;
  let closed = false;
  return {
    take() {
      const front = ready ?? start(means);
      ready = null;
      const { process: child } = front.child;
      if (child.exitCode !== null || child.signalCode !== null) {
        void front.group?.remove();
        return start(means);
      }
      hold(front, true);
      return front;
    },
    prepare() {
      if (ready || closed) return;
      try {
        ready = start(means);
        hold(ready, false);
      } catch (error) {
        means.log.warn({}, `sandbox: nothing can be prepared: ${messageOf(error)}`);
      }
    },
    async close() {
      closed = true;
      const front = ready;
      ready = null;
      if (!front) return;
      hold(front, true);
      killGroup(front.child.process);
      await front.child.exit.catch(() => {});
      await front.group?.remove();
    },
  };
}

/** What it is told: the CPU time, each word of the command on a line, an empty line, and what bubblewrap reads. */
export function orders(timeoutMs: number, command: readonly string[], options: readonly string[]): string {
  const lines = [String(cpuSeconds(timeoutMs)), ...command];
  const lineEnd = lines.find((line) => line === '' || line.includes('\n'));
  if (lineEnd !== undefined) throw new Error('a word of a command is empty or has more than one line');
  return `${lines.join('\n')}\n\n${options.join('\0')}\0`;
}

function start(means: FrontMeans): Front {
  const group = means.cgroups ? openCallGroup(means.cgroups, means.clock) : null;
  try {
    const child = startChild({
      command: ['/bin/sh', '-c', outerScript(group?.procs.length ?? 0), 'sandbox', means.bwrap, innerScript()],
      cwd: '/',
      env: {},
      // Root would be mapped into the sandbox as its user and keep its rights over files, so it is given up before
      // anything starts, and the other groups with it.
      user: means.root ? unprivilegedId : null,
      pipes: 2,
      files: group?.procs ?? [],
    });
    return { child, group };
  } catch (error) {
    void group?.remove();
    throw error;
  }
}

/**
 * `echo 0` puts the writer itself into a group; the file was opened with the gateway's rights. Whatever cannot be done
 * ends it. When memory is short, the kernel looks here first. `read` takes no more than its line.
 */
function outerScript(groups: number): string {
  const files = Array.from({ length: groups }, (_, index) => groupsAt + index);
  return [
    'bwrap="$1" && inner="$2" && set --',
    ...files.map((file) => `echo 0 >&${file}`),
    ...outerLimits({ memoryInGroup: groups > 0 }),
    '{ { echo 1000 > /proc/self/oom_score_adj; } 2>/dev/null || :; }',
    `IFS= read -r seconds <&${ordersAt}`,
    'ulimit -t "$seconds"',
    `while IFS= read -r word <&${ordersAt} && [ -n "$word" ]; do set -- "$@" "$word"; done`,
    '[ $# -gt 0 ]',
    [
      `exec "$bwrap" --seccomp ${filterAt} --args ${ordersAt} -- /bin/sh -c "$inner" sandbox "$@"`,
      ...files.map((file) => `${file}>&-`),
    ].join(' '),
  ].join(' && ');
}

/** bubblewrap sets PWD, which no manifest asked for. */
function innerScript(): string {
  return ['unset PWD OLDPWD', ...innerLimits(), 'exec "$@"'].join(' && ');
}

/** A process that waits for nothing but a call must not keep the gateway alive. */
function hold({ child }: Front, held: boolean): void {
  const handles = [child.process, ...child.process.stdio] as (Socket | null)[];
  for (const handle of handles) held ? handle?.ref?.() : handle?.unref?.();
}
