/** A whole gateway that tells its parent `parked.ts` what it costs: memory after a collection, and a held event loop. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createLog } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway } from '../../src/gateway/gateway.ts';
import { plugins } from '../../src/plugins.ts';
import { countPending } from '../../src/store/approvals.ts';

/** `cost` collects garbage first, `look` holds nothing up. */
export type Asked = 'cost' | 'look' | 'watch' | 'stop';
export interface Cost {
  rss: number;
  heap: number;
  pending: number;
  /** Milliseconds since `watch`. */
  loop: { p99: number; longest: number };
}

const gateway = await startGateway({
  config: loadConfig(process.argv[2] as string, {}, plugins).config,
  plugins,
  log: createLog({ level: 'error', format: 'json', secrets: () => [] }),
});
const loop = monitorEventLoopDelay({ resolution: 1 });
loop.enable();

async function cost(): Promise<Cost> {
  const { rss, heapUsed } = process.memoryUsage();
  const pending = await countPending(gateway.db);
  return { rss, heap: heapUsed, pending, loop: { p99: loop.percentile(99) / 1e6, longest: loop.max / 1e6 } };
}

process.on('message', async (asked: Asked) => {
  if (asked === 'watch') loop.reset();
  else if (asked !== 'stop') {
    if (asked === 'cost') global.gc?.();
    process.send?.(await cost());
  } else {
    await gateway.stop();
    process.exit(0);
  }
});
process.on('disconnect', () => process.exit());
process.send?.({ ready: gateway.url });
