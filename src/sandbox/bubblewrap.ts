/**
 * What a sandboxed process sees, as arguments of bubblewrap: a read-only system, its own folder at /skill, a private
 * /tmp, and nothing else of the machine. The options go to `bwrap --args FD`, so that values of variables are on no
 * command line; only the command itself is.
 */
import { statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { limits } from '../base/limits.ts';
import { checkGrant, type Grant, isWithin, realPath } from './grant.ts';

/** Of the processes inside; on the machine they are the gateway's user, or this one when the gateway is root. */
export const unprivilegedId = 65534;
export const skillFolder = '/skill';
/** Where the gateway's own Node is seen when it is not in /usr: a place that no grant covers. */
const nodeFolder = '/.gateway';

export interface View {
  /** Shown read-only at /skill, which is the working folder; null shows none and works in /tmp. */
  folder: string | null;
  env: Readonly<Record<string, string>>;
  grant: Grant;
  /** Real paths of the gateway's own files. Where they lie below something that is shown, they are covered. */
  hidden: readonly string[];
  /** The node binary to show besides /usr, or null. */
  node: string | null;
}

interface Bind {
  source: string;
  target: string;
  writable?: boolean;
}

/**
 * Options for `--args`. `--disable-userns` needs `--unshare-user`. No `--new-session`: the front has one of its own already,
 * and bubblewrap's first process inside must stay in the front's process group, or a kill that comes before it has bound
 * itself to its parent (which it does last) would leave it and the skill running. The mounts that bubblewrap makes writable by itself,
 * `/` and `/dev`, are memory without a limit, so they are made read-only at the end.
 * Throws GatehouseError('refused') for a grant that cannot be given.
 */
export function bubblewrapOptions(view: View): string[] {
  checkGrant(view.grant, view.hidden);
  const online = view.grant.network === 'any';
  const binds: Bind[] = [
    { source: '/usr', target: '/usr' },
    ...(view.node ? [{ source: view.node, target: nodeSeenAt(view.node) }] : []),
    ...(view.folder ? [{ source: view.folder, target: skillFolder }] : []),
    ...systemFiles(online).map((path) => ({ source: path, target: path })),
    ...view.grant.read.map((path) => ({ source: path, target: path })),
    ...view.grant.write.map((path) => ({ source: path, target: path, writable: true })),
  ];
  const shared = binds.filter(({ source }) => realPath(source) !== null);
  return [
    '--unshare-all',
    ...(online ? ['--share-net'] : []),
    '--unshare-user',
    '--disable-userns',
    '--die-with-parent',
    '--hostname',
    'sandbox',
    ...['--uid', String(unprivilegedId), '--gid', String(unprivilegedId)],
    ...['--cap-drop', 'ALL'],
    '--clearenv',
    ...Object.entries(view.env).flatMap(([name, value]) => ['--setenv', name, value]),
    ...topLevel(),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...memoryFolder('/dev/shm', limits.sandboxSharedMemoryBytesMax),
    ...memoryFolder('/tmp', limits.sandboxTmpBytesMax),
    ...shared.flatMap(({ source, target, writable }) => [writable ? '--bind' : '--ro-bind', source, target]),
    ...covers(shared, view.hidden),
    ...['--remount-ro', '/dev', '--remount-ro', '/'],
    ...['--chdir', view.folder ? skillFolder : '/tmp'],
  ];
}

export function nodeSeenAt(node: string): string {
  return isWithin(node, '/usr') ? node : join(nodeFolder, 'node');
}

/** /bin and its siblings are links into /usr on a merged system, folders of their own on others. */
function topLevel(): string[] {
  return ['bin', 'sbin', 'lib', 'lib32', 'lib64'].flatMap((name) => {
    const real = realPath(`/${name}`);
    if (real === null) return [];
    return isWithin(real, '/usr')
      ? ['--symlink', relative('/', real), `/${name}`]
      : ['--ro-bind', `/${name}`, `/${name}`];
  });
}

/** Debian's alternatives are links through /etc; names and certificates matter only with a network. */
function systemFiles(online: boolean): string[] {
  const network = [
    'resolv.conf',
    'hosts',
    'nsswitch.conf',
    'gai.conf',
    'ssl/certs',
    'ssl/openssl.cnf',
    'ca-certificates',
  ];
  return ['alternatives', 'ld.so.cache', 'localtime', ...(online ? network : [])].map((name) => `/etc/${name}`);
}

function memoryFolder(path: string, bytes: number): string[] {
  return ['--size', String(bytes), '--perms', '1777', '--tmpfs', path];
}

/** An empty folder, or a file that cannot be opened, over each of the gateway's own files that a bind would show. */
function covers(binds: readonly Bind[], hidden: readonly string[]): string[] {
  return binds.flatMap(({ source, target }) => {
    const shown = realPath(source);
    if (shown === null) return [];
    return hidden
      .filter((path) => path !== shown && isWithin(path, shown))
      .flatMap((path) => {
        const at = join(target, relative(shown, path));
        const kind = statSync(path, { throwIfNoEntry: false });
        if (!kind) return [];
        return kind.isDirectory() ? ['--tmpfs', at, '--remount-ro', at] : ['--ro-bind', '/dev/null', at];
      });
  });
}
