/**
 * What approvals must do, once for every platform: rules 44 to 57 and what belongs to them. `approvalSuite(name, stage)`
 * in a file of its own is all a platform needs besides its stage. What a platform cannot play is listed there, with the
 * reason.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ApprovalStage, Scene, SceneOptions, Where } from './stage.ts';

export interface Case {
  /** Where the rule says something; without it in a direct chat. */
  where?: readonly Where[];
  options?: SceneOptions | ((where: Where) => SceneOptions);
  run(scene: Scene, t: TestContext): Promise<void>;
}

export type Cases = Record<string, Case>;

/** No case takes longer; one that hangs is a failure. */
const timeout = 60_000;
const reasonCharsMin = 15;

export function approvalSuite(name: string, stage: ApprovalStage, where: Where, cases: Cases): void {
  for (const [title, { options = {}, run, where: places = ['direct'] }] of Object.entries(cases)) {
    if (!places.includes(where)) continue;
    const reason = stage.places.includes(where) ? stage.cannot[title] : `${name} has no ${where}`;
    if (reason !== undefined) assert.ok(reason.length >= reasonCharsMin, `${title} is left out without a reason`);
    test(`${name}, ${where}: ${title}`, { timeout, ...(reason === undefined ? {} : { skip: reason }) }, async (t) => {
      await run(await stage.open(t, where, typeof options === 'function' ? options(where) : options), t);
    });
  }
}

export const both = ['direct', 'room'] as const;
export const room = ['room'] as const;
