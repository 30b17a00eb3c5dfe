/**
 * The contract of an adapter as tests, the same for every platform. `adapterSuite(driver)` in a file of its own is all
 * a platform needs besides its driver. What a platform cannot do is listed in the driver, with the reason; what its
 * features declare may not be listed.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Features } from '../../src/types/adapter.ts';
import { asking } from './asking.ts';
import type { Driver } from './driver.ts';
import { failing } from './failing.ts';
import { living } from './living.ts';
import { reading } from './reading.ts';
import { receiving } from './receiving.ts';
import { sending } from './sending.ts';
import { openStage, type Stage } from './stage.ts';
import { writing } from './writing.ts';

export interface Case {
  /** What of the features the case is about: without it the case is passed over. */
  about?: keyof Features;
  /** Declared by the adapter, so that the case may not be left out. */
  declared?: (features: Features) => boolean;
  /** Waits of the adapter pass faster. */
  fast?: true;
  run(stage: Stage, t: TestContext): Promise<void>;
}

const cases = { ...receiving, ...reading, ...writing, ...sending, ...asking, ...failing, ...living };
export type CaseName =
  | keyof typeof receiving
  | keyof typeof reading
  | keyof typeof writing
  | keyof typeof sending
  | keyof typeof asking
  | keyof typeof failing
  | keyof typeof living;

const timeout = 60_000;
const reasonCharsMin = 15;

export function adapterSuite(name: string, driver: Driver): void {
  test(`${name}: what the features declare is not left out`, { timeout }, async (t) => {
    const { adapter } = await openStage(t, driver, { fast: false });
    assert.deepEqual(leftOutWrongly(driver.cannot, adapter.features), []);
    assert.equal(adapter.edit !== undefined, adapter.features.edits);
    assert.equal(adapter.download !== undefined, adapter.features.files);
    assert.equal(adapter.react !== undefined, adapter.features.reactions);
    assert.equal(adapter.find !== undefined, adapter.features.reconcile === 'find');
    assert.equal(adapter.setStatus !== undefined, adapter.features.typing);
  });
  for (const [title, { run, fast, about }] of Object.entries<Case>(cases)) {
    const reason = driver.cannot[title as CaseName];
    test(`${name}: ${title}`, { timeout, ...(reason === undefined ? {} : { skip: reason }) }, async (t) => {
      const stage = await openStage(t, driver, { fast: fast ?? false });
      if (about && stage.adapter.features[about] === false) return t.skip(`the adapter declares no ${about}`);
      await run(stage, t);
    });
  }
}

/** Entries that contradict the features, are no case, or give no reason. */
export function leftOutWrongly(cannot: Driver['cannot'], features: Features): string[] {
  return Object.entries(cannot)
    .filter(([title, reason]) => {
      const left: Case | undefined = cases[title as CaseName];
      return !left || left.declared?.(features) === true || reason.length < reasonCharsMin;
    })
    .map(([title]) => title);
}
