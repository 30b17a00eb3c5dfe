/** What /readyz says (DESIGN, "Interfaces that are fixed"). */
import type { ChannelState } from '../types/adapter.ts';

export interface Readiness {
  store: { ok: boolean; reason?: string };
  channels: { name: string; type: string; state: ChannelState; reason?: string; since: number }[];
}

/**
 * Says whether the gateway is ready: the store works and every channel has been up or has failed for good once.
 * A channel that drops later is shown and does not take the others out of service; `strict` wants all of them up.
 */
export function createReadyCheck(): (now: Readiness, strict: boolean) => boolean {
  const settled = new Set<string>();
  return ({ store, channels }, strict) => {
    for (const { name, state } of channels) if (state === 'up' || state === 'failed') settled.add(name);
    const wanted = strict
      ? channels.every(({ state }) => state === 'up')
      : channels.every(({ name }) => settled.has(name));
    return store.ok && wanted;
  };
}

/** `full` is for those who may know why (rule 93). */
export function readyBody(now: Readiness, ready: boolean, full: boolean): object {
  if (!full) return { ready };
  const channels = now.channels.map(({ since, ...channel }) => ({ ...channel, since: new Date(since).toISOString() }));
  return { ready, store: now.store, channels };
}
