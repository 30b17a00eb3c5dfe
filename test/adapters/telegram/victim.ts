/** A gateway in small, for being killed: says when an event reaches it, and never gets it stored. */
import { adapter as plugin } from '../../../adapters/telegram/index.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLog } from '../../support/silent_log.ts';

const [url, token] = process.argv.slice(2);
const adapter = plugin.create(
  { token: token ?? '', mode: 'polling', webhook_secret: null, api_url: url ?? '' },
  {
    channel: 'helper',
    log: silentLog,
    clock: systemClock,
    publicUrl: null,
    journal: undefined as never,
    state: { get: async () => null, set: async () => {} },
    report: () => {},
    count: () => {},
  },
);
await adapter.start({
  accept(event) {
    process.stdout.write(`${event.key}\n`);
    return new Promise(() => {});
  },
});
