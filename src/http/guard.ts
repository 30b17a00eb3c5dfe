/**
 * Who may reach what, decided before any route (rule 93). Pure: facts in, verdict out.
 *
 * A page in somebody's browser can send requests to 127.0.0.1 (DNS rebinding, cross-site forms), and a tunnel can put
 * the whole server on the internet. So the name in `Host` must be ours, whatever came through a proxy needs a session
 * outside the platform paths, and what changes something must come from our own page.
 */
import type { Target } from './target.ts';

export interface Caller {
  method: string;
  kind: Target['kind'];
  host: string | null;
  origin: string | null;
  /** `Sec-Fetch-Site` and `Sec-Fetch-Mode`, which pages cannot forge. */
  fetchSite: string | null;
  fetchMode: string | null;
  /** Carries `Forwarded`, `X-Forwarded-*` or `Via`. */
  forwarded: boolean;
  session: boolean;
  /** That session is a person's token in a header, which no page of others can send. */
  bearer: boolean;
}

export interface Site {
  /** Addresses we listen on, as they stand in `Host`: lower case, with the port. */
  hosts: ReadonlySet<string>;
  publicUrl: string | null;
}

export type Verdict = { allowed: true } | { allowed: false; status: 400 | 403 | 421; reason: string };

const refuse = (status: 400 | 403 | 421, reason: string): Verdict => ({ allowed: false, status, reason });

export function judge(caller: Caller, site: Site): Verdict {
  if (caller.kind === 'health') return { allowed: true };
  const host = caller.host?.toLowerCase() ?? null;
  if (host === null || host === '') return refuse(400, 'The request names no host.');
  const viaPublicName = publicHosts(site.publicUrl).includes(host);
  if (!viaPublicName && !site.hosts.has(host)) {
    return refuse(421, 'This is not an address of this gateway. Set gateway.public_url if it should be one.');
  }
  if (caller.kind === 'platform') return { allowed: true };
  const outside = caller.forwarded || viaPublicName;
  if (outside && !caller.session) {
    return refuse(403, "Nothing is shown here without a session. Sign in at the gateway's own address.");
  }
  if (caller.bearer) return { allowed: true };
  const origins = [`http://${host}`];
  if (outside && site.publicUrl !== null) origins.push(new URL(site.publicUrl).origin);
  return sameSite(caller, viaPublicName ? origins.slice(1) : origins);
}

function sameSite(caller: Caller, origins: readonly string[]): Verdict {
  const foreign = refuse(403, 'The request did not come from a page of this gateway.');
  if (caller.method === 'GET' || caller.method === 'HEAD') {
    // A link from elsewhere may open a page; a script elsewhere may not read or hold open anything.
    const embedded = caller.fetchSite === 'cross-site' || caller.fetchSite === 'same-site';
    return embedded && caller.fetchMode !== 'navigate' ? foreign : { allowed: true };
  }
  const origin = caller.origin === 'null' ? null : caller.origin;
  if (origin !== null && !origins.includes(origin)) return foreign;
  if (caller.fetchSite !== null && caller.fetchSite !== 'same-origin') return foreign;
  return origin === null && caller.fetchSite === null ? foreign : { allowed: true };
}

function publicHosts(publicUrl: string | null): string[] {
  if (publicUrl === null) return [];
  const url = new URL(publicUrl);
  return url.port === '' ? [url.host, `${url.host}:${url.protocol === 'https:' ? 443 : 80}`] : [url.host];
}

/** The names under which `host:port` is reached directly; `addresses` are those of this machine's interfaces. */
export function ownHosts(listen: { host: string; port: number }, addresses: readonly string[]): Set<string> {
  const names = ['localhost', '127.0.0.1', '[::1]', bracketed(listen.host)];
  if (isWildcard(listen.host)) names.push(...addresses.map(bracketed));
  const hosts = new Set<string>();
  for (const name of names) {
    hosts.add(`${name.toLowerCase()}:${listen.port}`);
    if (listen.port === 80) hosts.add(name.toLowerCase());
  }
  return hosts;
}

export const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::' || host === '';

/** An IPv6 address stands in brackets in a URL. */
export const bracketed = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);

/** `address` as Node reports it for a socket. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && (address === '::1' || /^(::ffff:)?127\./.test(address));
}

export function isForwarded(names: Iterable<string>): boolean {
  for (const name of names) {
    if (name === 'forwarded' || name === 'via' || name.startsWith('x-forwarded')) return true;
  }
  return false;
}
