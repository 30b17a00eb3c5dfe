/** Runs one command to its end within bounds: time, output, log lines. Knows nothing of what confines it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';

export interface ChildCommand {
  /** Program and arguments; programs by absolute path. */
  command: readonly string[];
  cwd: string;
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  /** User and group to become, without other groups; null stays what we are. */
  user: number | null;
  /** How many more pipes it reads, on descriptors 3, 4, … */
  pipes: number;
  /** Opened for writing, on the descriptors after those. */
  files: readonly string[];
}

/** A process that has started and has been told nothing yet. */
export interface StartedChild {
  process: ChildProcess;
  /** Rejects when the program could not be started. */
  exit: Promise<{ code: number | null; signal: string | null }>;
}

export interface ChildTask {
  stdin: string;
  /** What the further pipes say. */
  pipes: readonly (string | Buffer)[];
  timeoutMs: number;
  onLog?: ((line: string) => void) | undefined;
  signal?: AbortSignal | undefined;
  clock: Clock;
}

/**
 * How it ended:
 * `exited` by itself, with the exit code; `killed` by a signal that is not ours; `timed_out`, `output_too_long` and
 * `cancelled` by us.
 */
export type Ending = 'exited' | 'killed' | 'timed_out' | 'output_too_long' | 'cancelled';

export interface ChildResult {
  ended: Ending;
  exitCode: number | null;
  signal: string | null;
  stdout: string;
  /** The last `sandboxStderrTailBytes` of it. */
  stderrTail: string;
  durationMs: number;
}

export function startChild(of: ChildCommand): StartedChild {
  const files: number[] = [];
  try {
    for (const path of of.files) files.push(openSync(path, 'w'));
    const own = [...Array.from({ length: 3 + of.pipes }, () => 'pipe' as const), ...files];
    const others = inheritable().filter((descriptor) => descriptor >= own.length);
    const nothing = others.length > 0 ? openSync('/dev/null', 'r') : -1;
    if (others.length > 0) files.push(nothing);
    const rest = Array.from({ length: Math.max(own.length - 1, ...others) + 1 - own.length }, (_, index) =>
      others.includes(own.length + index) ? nothing : ('ignore' as const),
    );
    const child = spawn(of.command[0] ?? '', of.command.slice(1), {
      cwd: of.cwd,
      env: { ...of.env },
      ...(of.user === null ? {} : { uid: of.user, gid: of.user }),
      // A process group of its own, so that all of it can be killed.
      detached: true,
      stdio: [...own, ...rest],
    });
    const exit = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    // Whoever finishes it hears of it; nobody may ever do so.
    exit.catch(() => {});
    // A program may end without reading.
    for (const stream of child.stdio) stream?.on('error', () => {});
    return { process: child, exit };
  } finally {
    for (const file of files) closeSync(file);
  }
}

let inherited: readonly number[] | null = null;

/**
 * Descriptors that whoever started this process left open for it and for every child of it: a supervisor's pipe, a
 * socket. What Node opens is closed in children; these are not, so a child gets /dev/null in their place.
 */
function inheritable(): readonly number[] {
  inherited ??= listInheritable();
  return inherited;
}

function listInheritable(): number[] {
  const closeOnExec = 0o2000000;
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter((descriptor) => {
        if (descriptor <= 2) return false;
        try {
          const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
          return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
        } catch {
          // The one that read the folder.
          return false;
        }
      });
  } catch {
    // Not Linux: there is no sandbox either.
    return [];
  }
}

/** Rejects only when the program could not be started. The process group is gone when it resolves. */
export async function finishChild({ process: child, exit }: StartedChild, request: ChildTask): Promise<ChildResult> {
  const { clock } = request;
  const startedAt = clock.now();
  const ends = [child.stdout, child.stderr].map(
    (stream) => stream?.closed || new Promise((resolve) => stream?.once('close', resolve)),
  );
  let ended: Ending | null = null;
  const end = (why: Ending) => {
    ended ??= why;
    killGroup(child);
  };

  const stdout: Buffer[] = [];
  let stdoutBytes = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    stdoutBytes += chunk.length;
    if (stdoutBytes > limits.sandboxStdoutBytesMax) end('output_too_long');
    else stdout.push(chunk);
  });
  const stderr = createLogReader(request.onLog);
  child.stderr?.on('data', stderr.take);

  const inputs = [child.stdin, ...child.stdio.slice(3)] as (Writable | null)[];
  for (const [index, text] of [request.stdin, ...request.pipes].entries()) inputs[index]?.end(text);

  const stopTimer = clock.after(request.timeoutMs, () => end('timed_out'));
  const onAbort = () => end('cancelled');
  request.signal?.addEventListener('abort', onAbort, { once: true });
  if (request.signal?.aborted) onAbort();
  let stopWaiting = () => {};
  try {
    const { code, signal } = await exit;
    // What it left behind, and what may still hold its pipes; a process that made a group of its own escapes only
    // where there is no sandbox, and is not waited for.
    killGroup(child);
    const bound = new Promise<void>((resolve) => {
      stopWaiting = clock.after(limits.sandboxEndMsMax, resolve);
    });
    await Promise.race([Promise.all(ends), bound]);
    return {
      ended: ended ?? (code === null ? 'killed' : 'exited'),
      exitCode: code,
      signal,
      stdout: ended === 'output_too_long' ? '' : Buffer.concat(stdout).toString('utf8'),
      stderrTail: stderr.end(),
      durationMs: clock.now() - startedAt,
    };
  } finally {
    stopTimer();
    stopWaiting();
    request.signal?.removeEventListener('abort', onAbort);
    for (const stream of child.stdio) stream?.destroy();
  }
}

export function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** Lines for the log, bounded in number and length, and the last bytes for the error. */
function createLogReader(onLog: ((line: string) => void) | undefined) {
  const decoder = new StringDecoder('utf8');
  let tail = Buffer.alloc(0);
  let rest = '';
  let lines = 0;
  const say = (line: string) => {
    if (line === '' || lines > limits.sandboxLogLinesMax) return;
    lines += 1;
    onLog?.(
      lines > limits.sandboxLogLinesMax
        ? '[further lines are not shown]'
        : line.slice(0, limits.sandboxLogLineCharsMax),
    );
  };
  return {
    take(chunk: Buffer) {
      tail = Buffer.from(Buffer.concat([tail, chunk]).subarray(-limits.sandboxStderrTailBytes));
      const parts = (rest + decoder.write(chunk)).split('\n');
      rest = (parts.pop() ?? '').slice(0, limits.sandboxLogLineCharsMax);
      for (const line of parts) say(line.trimEnd());
    },
    end(): string {
      say(`${rest}${decoder.end()}`.trimEnd());
      return tail.toString('utf8');
    },
  };
}
