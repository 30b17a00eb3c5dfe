/**
 * Tools for trials: some whose effect is seen outside the database when it happens twice (at once, after a person's yes,
 * after two people's), one that only reads.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { CapabilityPlugin } from '../../src/types/capability.ts';
import type { Tool } from '../../src/types/tool.ts';

export function readLines(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
}

/** `happened` is told `tool.before` and `tool.after` around the effect. */
export function createLinesCapability(file: string, happened: (event: string) => void): CapabilityPlugin {
  const appending = (id: string, over: Pick<Tool, 'effect' | 'policy'>): Tool => ({
    id,
    name: id,
    ...over,
    description: 'Appends a line to the file.',
    returns: 'The word written.',
    inputSchema: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    async call(input) {
      happened('tool.before');
      const handle = openSync(file, 'a');
      writeSync(handle, `${String(input.line)}\n`);
      fsyncSync(handle);
      closeSync(handle);
      happened('tool.after');
      return { content: 'written' };
    },
  });
  const append = appending('append_line', { effect: 'mutating', policy: 'allow' });
  const ask = appending('ask_line', { effect: 'mutating' });
  const dual = appending('dual_line', { effect: 'dangerous' });
  const count: Tool = {
    id: 'count_lines',
    name: 'count_lines',
    effect: 'safe',
    description: 'Counts how often a line stands in the file.',
    returns: 'The number.',
    inputSchema: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    call: async (input) => ({ content: String(readLines(file).filter((line) => line === input.line).length) }),
  };
  return {
    id: 'lines',
    name: 'Lines',
    category: 'test',
    description: 'A file of lines.',
    configSchema: { type: 'object', properties: {}, additionalProperties: false },
    tools: [append, ask, dual, count],
    always: true,
    attach(run) {
      for (const tool of [append, ask, dual, count]) run.tool(tool);
    },
  };
}
