/** The gateway as `npm start` runs it, with a line to the benchmark for its memory. */
import { createLog } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway } from '../../src/gateway/gateway.ts';
import { plugins } from '../../src/plugins.ts';

const { config } = loadConfig(process.argv[2] as string, process.env, plugins);
const log = createLog({ ...config.gateway.log, secrets: () => [] });
const gateway = await startGateway({ config, plugins, log });

process.on('message', () => process.send?.({ rss: process.memoryUsage.rss(), cpu: process.cpuUsage() }));
process.on('disconnect', () => void gateway.stop().then(() => process.exit()));
process.send?.({ ready: true });
