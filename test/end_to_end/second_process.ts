/** A gateway in a process of its own, to be killed: the child of `two_processes.test.ts`. */
import { createLog } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway } from '../../src/gateway/gateway.ts';
import { plugins } from '../../src/plugins.ts';
import { type ClockRate, createFastClock } from '../support/fast_clock.ts';

export interface SecondProcess {
  configFile: string;
  rate: ClockRate;
}

const { configFile, rate } = JSON.parse(process.env.SECOND_PROCESS ?? '') as SecondProcess;
const gateway = await startGateway({
  config: loadConfig(configFile, {}, plugins).config,
  plugins,
  log: createLog({ level: 'error', format: 'json', secrets: () => [] }),
  clock: createFastClock(rate),
});
// Whoever started us is gone.
process.on('disconnect', () => process.exit(1));
process.on('message', (name: string) => {
  gateway.signInLink(name).then((link) => process.send?.({ link }));
});
process.send?.({ url: gateway.url });
