/** Resource limits of the processes in the sandbox, as the shell sets them: see `shell.ts`. */
import { limits } from '../base/limits.ts';

/**
 * Set before bubblewrap starts. The address space is generous because Node reserves much more than it uses: under
 * 1 GiB it does not start; where a cgroup holds the memory of all processes together, any size is fine.
 */
export function outerLimits(of: { memoryInGroup: boolean }): string[] {
  // POSIX: -f counts blocks of 512 bytes. -v counts KiB.
  return [
    `ulimit -n ${limits.sandboxOpenFilesMax}`,
    `ulimit -f ${limits.sandboxFileBytesMax / 512}`,
    'ulimit -c 0',
    ...(of.memoryInGroup ? [] : [`ulimit -v ${limits.sandboxAddressBytesMax / 1024}`]),
  ];
}

/** Of CPU time, for each process. */
export function cpuSeconds(timeoutMs: number): number {
  return Math.ceil((timeoutMs / 1_000) * limits.sandboxCpuPerWallMax);
}

/**
 * Set inside: since Linux 5.14 processes are then counted within the sandbox, not over everything that the same user
 * runs. bash calls it -u, dash -p.
 */
export function innerLimits(): string[] {
  const most = limits.sandboxProcessesMax;
  return [`{ ulimit -u ${most} 2>/dev/null || ulimit -p ${most}; }`];
}
