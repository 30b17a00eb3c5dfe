/** What a failed send says. The outcome alone decides whether the core repeats it. */
import assert from 'node:assert/strict';
import { DeliveryError } from '../../src/base/errors.ts';
import type { Case } from './adapter_suite.ts';
import { deliveryError, need, type Stage } from './stage.ts';

const neverMs = 30_000;
const atOnceMs = 3_000;

function alone(stage: Stage) {
  return stage.platform.direct(stage.platform.person('Alice'));
}

async function texts(stage: Stage, spot: { chat: string }): Promise<string[]> {
  return (await stage.platform.seen(spot)).map(({ text }) => text.trim());
}

export const failing = {
  'D3: a send whose answer is lost is unknown, and stands there once': {
    async run(stage) {
      const spot = alone(stage);
      need(stage.platform.loseAnswer, 'loseAnswer')();
      const error = await deliveryError(stage.send(spot, 'hello'));
      assert.deepEqual([error.outcome, error.permanent], ['unknown', false]);
      // The adapter itself never repeats.
      assert.deepEqual(await texts(stage, spot), ['hello']);
    },
  },

  'D3: after an unknown send there is exactly one message': {
    declared: (features) => features.reconcile !== false,
    async run(stage) {
      const { adapter, platform } = stage;
      const spot = alone(stage);
      const message = stage.outgoing(spot, 'hello');
      need(platform.loseAnswer, 'loseAnswer')();
      await deliveryError(adapter.send(message, AbortSignal.timeout(neverMs)));
      if (adapter.features.reconcile === 'find') {
        const find = need(adapter.find, 'find');
        assert.ok(await find(message));
        assert.equal(await find(stage.outgoing(spot, 'hello')), null);
      } else {
        const first = await adapter.send(message, AbortSignal.timeout(neverMs));
        const again = await adapter.send(message, AbortSignal.timeout(neverMs));
        assert.equal(again.ref, first.ref);
      }
      assert.deepEqual(await texts(stage, spot), ['hello']);
    },
  },

  'a send that could not reach the platform is certainly not sent': {
    fast: true,
    async run(stage) {
      const { platform } = stage;
      const spot = alone(stage);
      await need(platform.down, 'down')();
      const error = await deliveryError(stage.send(spot, 'hello'));
      assert.deepEqual([error.outcome, error.permanent], ['not_sent', false]);
      await need(platform.up, 'up')();
      await stage.send(spot, 'hello again');
      assert.deepEqual(await texts(stage, spot), ['hello again']);
    },
  },

  'D4: a platform that asks to wait says how long, and other chats go on': {
    async run(stage) {
      const { platform } = stage;
      const [busy, free] = [alone(stage), platform.direct(platform.person('Bob'))];
      need(platform.limit, 'limit')(busy, 7);
      const error = await deliveryError(stage.send(busy, 'hello'));
      assert.deepEqual([error.outcome, error.permanent, error.retryAfterMs], ['not_sent', false, 7_000]);
      await stage.send(free, 'hello');
      assert.deepEqual([await texts(stage, busy), await texts(stage, free)], [[], ['hello']]);
    },
  },

  'a chat where the bot may not write is refused for good': {
    async run(stage) {
      const { platform } = stage;
      const spot = alone(stage);
      await stage.send(spot, 'hello');
      need(platform.forbid, 'forbid')(spot);
      const error = await deliveryError(stage.send(spot, 'hello?'));
      assert.deepEqual([error.outcome, error.permanent], ['not_sent', true]);
    },
  },

  'an aborted send is not begun': {
    async run(stage) {
      const spot = alone(stage);
      const sending = stage.adapter.send(stage.outgoing(spot, 'hello'), AbortSignal.abort(new Error('too late')));
      assert.equal((await deliveryError(sending)).outcome, 'not_sent');
      assert.deepEqual(await texts(stage, spot), []);
    },
  },

  'a send that is aborted while the platform hangs ends at once, as unknown': {
    async run(stage) {
      const spot = alone(stage);
      const hanging = need(stage.platform.hang, 'hang')();
      const abort = new AbortController();
      const sending = stage.adapter.send(stage.outgoing(spot, 'hello'), abort.signal);
      sending.catch(() => {});
      await hanging;
      abort.abort(new DeliveryError('not in time', { outcome: 'unknown' }));
      const began = performance.now();
      assert.equal((await deliveryError(sending)).outcome, 'unknown');
      assert.ok(performance.now() - began < atOnceMs);
    },
  },
} satisfies Record<string, Case>;
