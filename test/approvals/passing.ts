/** The end of a test on a clock that stands still: what the gateway still has to do then takes time too. */
import type { TestContext } from 'node:test';
import type { FakeClock } from '../support/fake_clock.ts';

const stepMs = 20;
/** Of real time. */
const endingMsMax = 15_000;

/** To be called before anything is started; the returned function ends it, as the last thing of the test. */
export function letEnd(t: TestContext, clock: FakeClock): () => void {
  let ended = false;
  t.after(() => {
    const until = performance.now() + endingMsMax;
    void (async () => {
      while (!ended && performance.now() < until) await clock.advance(stepMs);
    })();
  });
  return () => {
    ended = true;
  };
}
