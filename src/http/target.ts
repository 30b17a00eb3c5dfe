/** What a path leads to. The guard and the routes read the same answer, so that they cannot disagree. */
import type { Adapter } from '../types/adapter.ts';

export interface Channel {
  name: string;
  type: string;
  adapter: Adapter;
}

export type Target =
  | { kind: 'health' }
  /** Callbacks of a platform; the adapter authenticates them (rule 9). `below` begins with `/`. */
  | { kind: 'platform'; channel: Channel; below: string }
  /** The page of the web channel. */
  | { kind: 'chat'; below: string }
  /** Everything else the gateway answers itself. */
  | { kind: 'page' };

/** The channel type whose HTTP is the page at /chat and not a platform path. */
export const pageType = 'web';

/** `path` is the pathname of a parsed URL: dot segments are gone, escapes are not decoded. */
export function targetOf(path: string, channels: readonly Channel[]): Target {
  if (path === '/healthz') return { kind: 'health' };
  const [, first = '', second = '', ...rest] = path.split('/');
  if (first === 'chat') return { kind: 'chat', below: path.slice('/chat'.length) || '/' };
  if (first !== pageType) {
    const channel = channels.find(({ type, name }) => type === first && encodeURIComponent(name) === second);
    if (channel?.adapter.http) return { kind: 'platform', channel, below: `/${rest.join('/')}` };
  }
  return { kind: 'page' };
}

/** Where programs ask: a person's token counts there, and only there (rules 93 and 97). */
export function takesTokens(path: string): boolean {
  return /^\/(v1|api\/v1)(\/|$)/.test(path) || path === '/metrics' || path === '/readyz';
}

/** For the log: a path may end in a secret (iMessage) and never carries its query. */
export function loggedPath(path: string): string {
  return path.split('/', 3).join('/').slice(0, 100);
}
