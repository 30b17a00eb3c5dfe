import { randomInt } from 'node:crypto';

/** A sequence that comes again with its seed. */
export interface Random {
  seed: number;
  /** 0 ≤ n < `count`. */
  below(count: number): number;
  pick<T>(choices: readonly T[]): T;
  /** One to `most` of what `make` makes. */
  times<T>(most: number, make: () => T): T[];
}

/** `GATEHOUSE_SEED` repeats a run; print the seed with every failure. */
export function givenSeed(): number {
  return Number(process.env.GATEHOUSE_SEED ?? randomInt(1_000_000));
}

/** Mulberry32: small, and the same on every machine. */
export function createRandom(seed = givenSeed()): Random {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number) => Math.floor(next() * count);
  return {
    seed,
    below,
    pick: (choices) => choices[below(choices.length)]!,
    times: (most, make) => Array.from({ length: 1 + below(most) }, make),
  };
}
