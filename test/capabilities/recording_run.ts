import type { RunBuilder, RunFacts } from '../../src/types/capability.ts';
import type { Tool } from '../../src/types/tool.ts';

/** A run that only notes what a capability contributes. */
export function createRecordingRun(facts: Partial<RunFacts> = {}) {
  const tools: Tool[] = [];
  const instructions: string[] = [];
  const reminders: (() => string)[] = [];
  const run: RunBuilder = {
    facts: {
      audience: 'direct',
      person: { id: 'ana', name: 'Ana' },
      timezone: 'Europe/Berlin',
      now: () => 0,
      ...facts,
    },
    tool: (tool) => void tools.push(tool),
    instructions: (text) => void instructions.push(text),
    reminder: (text) => void reminders.push(text),
    onFinish: () => {},
  };
  return { run, tools, instructions, reminders };
}
