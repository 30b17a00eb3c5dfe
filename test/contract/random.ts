/** A sequence that comes again with its seed (mulberry32). */
export interface Random {
  seed: number;
  /** 0 ≤ n < `count`. */
  below(count: number): number;
}

/** `GATEHOUSE_SEED` repeats a run; print `seed` with every failure. */
export function createRandom(seed = Number(process.env.GATEHOUSE_SEED ?? Date.now() % 1_000_000)): Random {
  let state = seed | 0;
  return {
    seed,
    below(count) {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * count);
    },
  };
}
