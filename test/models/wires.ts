/** What the tests of this folder share: a profile per wire, an observer that writes everything down, a quiet log. */
import type { Log } from '../../src/base/log.ts';
import type { ModelMessage, ModelProfile, ModelRequest, ModelTool, Usage } from '../../src/types/model.ts';
import type { WireName } from '../emulators/model_server.ts';

export const apiKey = 'sk-test-4f9a8b7c6d5e4f3a2b1c';

export interface WireCase {
  wire: WireName;
  provider: ModelProfile['provider'];
  model: string;
  path: string;
}

export const wires: WireCase[] = [
  { wire: 'responses', provider: 'openai', model: 'gpt-5.4', path: '/v1' },
  { wire: 'chat', provider: 'openai_compatible', model: 'qwen3', path: '/v1' },
  { wire: 'anthropic', provider: 'anthropic', model: 'claude-sonnet-4-5', path: '/v1' },
  { wire: 'google', provider: 'google', model: 'gemini-3-pro', path: '/v1beta' },
];

export function wireCase(wire: WireName): WireCase {
  return wires.find((candidate) => candidate.wire === wire) as WireCase;
}

export function profileOf(wire: WireCase, url: string, changes: Partial<ModelProfile> = {}): ModelProfile {
  return {
    name: 'main',
    provider: wire.provider,
    model: wire.model,
    apiKey,
    baseUrl: `${url}${wire.path}`,
    contextWindow: 200_000,
    maxOutputTokens: 1_000,
    price: null,
    timeoutMs: 60_000,
    retries: 2,
    fallbacks: [],
    ...changes,
  };
}

export const demoProfile: ModelProfile = {
  name: 'demo',
  provider: 'demo',
  model: 'demo',
  apiKey: null,
  baseUrl: null,
  contextWindow: 128_000,
  maxOutputTokens: 1_000,
  price: { input: 0, cachedInput: 0, output: 0 },
  timeoutMs: 60_000,
  retries: 0,
  fallbacks: [],
};

export const tools: ModelTool[] = [
  {
    name: 'store_get',
    description: 'Gives the value stored under a key. Nothing else.',
    inputSchema: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
  },
  {
    name: 'store_set',
    description: 'Stores a value under a key.',
    inputSchema: {
      type: 'object',
      properties: { key: { type: 'string' }, value: { type: 'string' } },
      required: ['key', 'value'],
    },
  },
];

export function requestOf(messages: ModelMessage[], changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    instructions: 'You are a careful assistant.',
    tools,
    messages,
    stableMessages: 0,
    cacheKey: 'run-1',
    ...changes,
  };
}

export function ask(text: string): ModelMessage[] {
  return [{ role: 'user', content: text }];
}

export interface Recorder {
  deltas: string[];
  resets: number;
  spent: { profile: string; usage: Usage }[];
  onText(delta: string): void;
  onReset(): void;
  onSpent(profile: string, usage: Usage): void;
  /** Resolves with the first text. */
  first: Promise<string>;
}

export function createRecorder(): Recorder {
  const first = Promise.withResolvers<string>();
  const recorder: Recorder = {
    deltas: [],
    resets: 0,
    spent: [],
    onText(delta) {
      recorder.deltas.push(delta);
      first.resolve(delta);
    },
    onReset() {
      recorder.resets += 1;
    },
    onSpent(profile, usage) {
      recorder.spent.push({ profile, usage });
    },
    first: first.promise,
  };
  return recorder;
}

export interface LogLine {
  message: string;
  fields: Record<string, unknown>;
}

/** A log whose lines a test can read and wait for. */
export function createLogRecorder(): { log: Log; lines: LogLine[]; line(message: string): Promise<LogLine> } {
  const lines: LogLine[] = [];
  const waiting: { message: string; resolve: (line: LogLine) => void }[] = [];
  const write = (fields: object, message: string) => {
    const line = { message, fields: fields as Record<string, unknown> };
    lines.push(line);
    const index = waiting.findIndex((waiter) => waiter.message === message);
    if (index >= 0) waiting.splice(index, 1)[0]?.resolve(line);
  };
  const log: Log = { debug: write, info: write, warn: write, error: write, child: () => log };
  return {
    log,
    lines,
    line: (message) => new Promise((resolve) => waiting.push({ message, resolve })),
  };
}
