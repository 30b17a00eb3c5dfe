/** What a gateway reaches by itself after its start, asked for until it is so. */
import assert from 'node:assert/strict';

const becomesMs = 20_000;
const pauseMs = 10;

/** Resolves when what `ask` tells is deeply equal to `wanted`; fails with the difference when it still is not in the end. */
export async function becomes<T>(ask: () => T | Promise<T>, wanted: T): Promise<void> {
  const until = performance.now() + becomesMs;
  for (;;) {
    const told = await ask();
    try {
      return assert.deepEqual(told, wanted);
    } catch (error) {
      if (performance.now() > until) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

export interface ReadyBody {
  ready: boolean;
  store: { ok: boolean; reason?: string };
  channels: { name: string; type: string; state: string; reason?: string; since: string }[];
}

/** Of /readyz, asked from this machine. */
export async function readyz(url: string): Promise<{ status: number; body: ReadyBody }> {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, body: (await response.json()) as ReadyBody };
}
