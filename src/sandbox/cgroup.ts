/**
 * Control groups: the only limit of memory that holds for all processes of a call together and lets Node run. Made
 * below the gateway's own group, one for each call, where the kernel lets us; see `findCgroups`.
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';

/** Where groups of calls are made, one parent folder per hierarchy: v1 has one for each controller, v2 has one. */
export interface CgroupPlace {
  version: 1 | 2;
  memory: string;
  /** Null when the number of processes is limited by RLIMIT_NPROC alone. */
  pids: string | null;
}

export interface CallGroup {
  /** A process that writes 0 to each of them is in the group, with all it starts. */
  procs: string[];
  /** Whether the kernel killed a process of the group for its memory. */
  outOfMemory(): boolean;
  /** Ends what is in it. Resolves when the group is gone; false when it is still there after `sandboxEndMsMax`. */
  remove(): Promise<boolean>;
}

const prefix = 'gatehouse-';
let count = 0;

export function openCallGroup(place: CgroupPlace, clock: Clock): CallGroup {
  const name = `${prefix}${process.pid}-${++count}`;
  const memory = join(place.memory, name);
  const folders = [memory, ...(place.pids && place.pids !== place.memory ? [join(place.pids, name)] : [])];
  try {
    for (const folder of folders) mkdirSync(folder);
    const bytes = String(limits.sandboxMemoryBytesMax);
    if (place.version === 1) {
      writeFileSync(join(memory, 'memory.limit_in_bytes'), bytes);
      writeIfThere(join(memory, 'memory.memsw.limit_in_bytes'), bytes);
    } else {
      writeFileSync(join(memory, 'memory.max'), bytes);
      writeIfThere(join(memory, 'memory.swap.max'), '0');
    }
    if (place.pids) writeFileSync(join(place.pids, name, 'pids.max'), String(limits.sandboxProcessesMax));
  } catch (error) {
    for (const folder of folders) removed(folder);
    throw error;
  }
  return {
    procs: folders.map((folder) => join(folder, 'cgroup.procs')),
    outOfMemory() {
      const text = read(join(memory, place.version === 1 ? 'memory.oom_control' : 'memory.events')) ?? '';
      return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0) > 0;
    },
    async remove() {
      for (let wait = 1, waited = 0; ; waited += wait, wait *= 2) {
        if (folders.map(emptied).every(Boolean)) return true;
        if (waited >= limits.sandboxEndMsMax) return false;
        await clock.sleep(wait);
      }
    },
  };
}

/**
 * The folders below which groups can be made, or why there are none. On v1 that is the gateway's own group in the
 * memory hierarchy. On v2 a group with processes cannot hand memory on to groups below it, so it is the group above
 * (systemd's `DelegateSubgroup=`) if that is ours and empty, or else our own after its processes, which must be we
 * and those that started us, have moved into a group `gateway` below it (`Delegate=yes`).
 * `root` and `self` are for tests.
 */
export function findCgroups(root = '/', self: Ancestry = ownAncestry()): CgroupPlace | { reason: string } {
  const mounts = cgroupMounts(read(join(root, 'proc/self/mountinfo')) ?? '');
  const own = (read(join(root, 'proc/self/cgroup')) ?? '').split('\n').map((line) => line.split(':'));
  const place = (controller: string): string | null => {
    const mount = mounts.find((one) => (controller === '' ? one.version === 2 : one.controllers.includes(controller)));
    const path = own.find(([, controllers]) => controllers?.split(',').includes(controller))?.[2];
    if (!mount || path === undefined || !path.startsWith(mount.root === '/' ? '/' : mount.root)) return null;
    return join(root, mount.at, mount.root === '/' ? path : path.slice(mount.root.length));
  };
  const memory = place('memory');
  if (memory !== null) {
    if (!canHold(memory)) return { reason: `no group can be made in ${memory}` };
    // A second hierarchy would cost a second entry; the number of processes has a limit of its own (limits.ts).
    return { version: 1, memory, pids: null };
  }
  const unified = place('');
  if (unified === null) return { reason: 'there is no cgroup file system' };
  return findUnified(unified, self);
}

/** This process and those it descends from. */
export type Ancestry = ReadonlySet<number>;

function findUnified(own: string, self: Ancestry): CgroupPlace | { reason: string } {
  if (!(read(join(own, 'cgroup.controllers')) ?? '').split(/\s+/).includes('memory'))
    return { reason: 'the memory controller is not handed to this process (systemd: Delegate=yes)' };
  const above = join(own, '..');
  if (read(join(above, 'cgroup.procs')) === '' && handsDown(above) && canHold(above)) return unifiedPlace(above);
  // Not a login session: its processes are nobody's to move.
  if (!own.endsWith('.service')) return { reason: `${own} is not a service of its own` };
  const members = (read(join(own, 'cgroup.procs')) ?? '').split('\n').filter(Boolean).map(Number);
  if (!members.every((pid) => self.has(pid))) return { reason: `${own} has processes that are not the gateway's` };
  const leaf = join(own, 'gateway');
  try {
    mkdirSync(leaf, { recursive: true });
    for (const pid of members) writeFileSync(join(leaf, 'cgroup.procs'), String(pid));
  } catch {
    return { reason: `${own} cannot be written (systemd: Delegate=yes)` };
  }
  if (!handsDown(own) || !canHold(own)) return { reason: `${own} does not hand memory on to groups below it` };
  return unifiedPlace(own);
}

function unifiedPlace(parent: string): CgroupPlace {
  const pids = (read(join(parent, 'cgroup.subtree_control')) ?? '').split(/\s+/).includes('pids');
  return { version: 2, memory: parent, pids: pids ? parent : null };
}

/** Tells the kernel to account for memory and processes in groups below; false when it will not for memory. */
function handsDown(parent: string): boolean {
  const file = join(parent, 'cgroup.subtree_control');
  for (const controller of ['memory', 'pids'])
    if (!(read(file) ?? '').split(/\s+/).includes(controller)) writeIfThere(file, `+${controller}`);
  return (read(file) ?? '').includes('memory');
}

/** Tries it, and takes away what a gateway that was killed has left, processes included. */
function canHold(parent: string): boolean {
  const probe = join(parent, `${prefix}${process.pid}-0`);
  try {
    for (const name of readdirSync(parent)) {
      const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : process.pid;
      if (pid !== process.pid && !isAlive(pid)) emptied(join(parent, name));
    }
    mkdirSync(probe);
    return removed(probe);
  } catch {
    return false;
  }
}

/** A line is `id parent major:minor root mountpoint options… - type source superoptions` (proc(5)). */
function cgroupMounts(mountinfo: string) {
  return mountinfo.split('\n').flatMap((line) => {
    const [mount = '', system = ''] = line.split(' - ');
    const [, , , root = '/', at = ''] = mount.split(' ');
    const [type, , options = ''] = system.split(' ');
    if (type === 'cgroup2') return [{ version: 2, root, at, controllers: [] as string[] }];
    return type === 'cgroup' ? [{ version: 1, root, at, controllers: options.split(',') }] : [];
  });
}

function ownAncestry(): Ancestry {
  const found = new Set<number>();
  for (let pid = process.pid; pid > 0 && !found.has(pid); ) {
    found.add(pid);
    pid = Number(/^PPid:\s*(\d+)/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1] ?? 0);
  }
  return found;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** As `removed`, and ends what is in it: then it can be removed in a moment. */
function emptied(folder: string): boolean {
  if (removed(folder)) return true;
  // A process of a namespace that we cannot see is listed as 0, which means ourselves to kill(2).
  const members = (read(join(folder, 'cgroup.procs')) ?? '').split('\n').map(Number);
  for (const pid of members.filter((pid) => pid > 1)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
  return false;
}

/** False while something is in it. */
function removed(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function writeIfThere(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch {
    // Kernels without swap accounting have no such file.
  }
}
