import type { CapabilityPlugin } from '../../src/types/capability.ts';
import { clockLine, type Granularity } from './clock_line.ts';

export interface ClockConfig {
  granularity?: Granularity;
}

/** Tells the agent the date and time, in a line behind the stable prefix of the request (M1). */
export const capability: CapabilityPlugin<ClockConfig> = {
  id: 'clock',
  name: 'Clock',
  category: 'core',
  description: 'The current date, weekday and time, in `gateway.timezone`.',
  configSchema: {
    type: 'object',
    properties: {
      granularity: {
        enum: ['minute', 'hour', 'day'],
        default: 'minute',
        description: 'How exactly the time is told. A coarser clock changes less often.',
      },
    },
    additionalProperties: false,
  },
  tools: [],
  attach(run, config) {
    const { facts } = run;
    const granularity = config.granularity ?? 'minute';
    run.reminder(() => clockLine(facts.now(), facts.timezone, granularity));
  },
};
export default capability;
