import type { Json } from '../types/json.ts';

/** Whether arrays and objects stand in each other deeper than that; `{}` has a depth of 1. Without recursion. */
export function isDeeperThan(value: Json, levelsMax: number): boolean {
  let level: object[] = containersIn([value]);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > levelsMax) return true;
    level = level.flatMap((one) => containersIn(Object.values(one)));
  }
  return false;
}

function containersIn(values: readonly Json[]): object[] {
  return values.filter((value) => typeof value === 'object' && value !== null);
}
