/** Gathers the parts of one streamed answer. No I/O: the attempt feeds it. */
import { isDeeperThan } from '../base/json_depth.ts';
import { limits } from '../base/limits.ts';
import type { Json, JsonObject } from '../types/json.ts';
import type { ModelAnswer, ModelRequest, Usage } from '../types/model.ts';
import type { ToolCall } from '../types/tool.ts';
import { replayedInput, wireName } from './prompt.ts';
import type { StreamPart } from './providers.ts';

/** A part as it is replayed: the SDK's prompt part, plain JSON. */
interface Block {
  type: 'text' | 'reasoning' | 'tool-call';
  text: string;
  call: ToolCall | null;
  metadata: JsonObject | undefined;
}

export interface Collector {
  /** Takes a part; gives the text to show. Throws what the provider reported as an error in the stream. */
  take(part: StreamPart): string;
  /** The answer outgrew its limits and was cut; nothing more should be read. */
  readonly full: boolean;
  /** Some text was shown. */
  readonly shown: boolean;
  /** Characters of everything the model wrote, thoughts included: the basis of an estimate. */
  readonly writtenChars: number;
  /** What the provider said this costs; null before it did, or if it does not say. */
  readonly usage: Usage | null;
  /** Null while the provider has not said that the answer is complete. */
  finish(nativeKey: string, profile: string, usage: Usage): ModelAnswer | null;
}

export function createCollector(request: ModelRequest): Collector {
  const blocks: Block[] = [];
  const open = new Map<string, Block>();
  const usedIds = idsIn(request);
  let finish: Extract<StreamPart, { type: 'finish' }> | null = null;
  let shownChars = 0;
  let argumentChars = 0;
  let writtenChars = 0;
  let calls = 0;
  let full = false;

  function start(type: 'text' | 'reasoning', part: { id: string; providerMetadata?: unknown }): void {
    const block: Block = { type, text: '', call: null, metadata: plain(part.providerMetadata) };
    blocks.push(block);
    open.set(`${type} ${part.id}`, block);
  }

  function add(type: 'text' | 'reasoning', part: { id: string; providerMetadata?: unknown }, delta: string): void {
    const block = open.get(`${type} ${part.id}`);
    if (!block) return;
    block.text += delta;
    writtenChars += delta.length;
    block.metadata = plain(part.providerMetadata) ?? block.metadata;
  }

  return {
    take(part) {
      switch (part.type) {
        case 'text-start':
        case 'reasoning-start':
          start(part.type === 'text-start' ? 'text' : 'reasoning', part);
          return '';
        case 'text-delta': {
          const delta = part.delta.slice(0, limits.answerCharsMax - shownChars);
          full ||= delta.length < part.delta.length;
          shownChars += delta.length;
          add('text', part, delta);
          return delta;
        }
        case 'reasoning-delta':
          add('reasoning', part, part.delta);
          return '';
        case 'text-end':
        case 'reasoning-end':
          add(part.type === 'text-end' ? 'text' : 'reasoning', part, '');
          return '';
        case 'tool-input-delta':
          argumentChars += part.delta.length;
          full ||= argumentChars > limits.modelArgumentsCharsMax;
          return '';
        case 'tool-call': {
          calls += 1;
          if (calls > limits.modelCallsMax) {
            full = true;
            return '';
          }
          writtenChars += part.input.length;
          const call = { id: unusedId(part.toolCallId, usedIds), name: part.toolName, input: inputOf(part.input) };
          blocks.push({ type: 'tool-call', text: '', call, metadata: plain(part.providerMetadata) });
          return '';
        }
        case 'error':
          throw part.error;
        case 'finish':
          finish = part;
          return '';
        default:
          return '';
      }
    },
    get full() {
      return full;
    },
    get shown() {
      return shownChars > 0;
    },
    get writtenChars() {
      return writtenChars;
    },
    get usage() {
      return finish ? usageOf(finish) : null;
    },
    finish(nativeKey, profile, usage) {
      const reason = finish?.finishReason.unified;
      if (!full && (reason === undefined || reason === 'interrupted' || reason === 'error')) return null;
      const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
      const made = blocks.flatMap((block) => (block.call ? [block.call] : []));
      return {
        text,
        calls: made,
        message: {
          role: 'assistant',
          text,
          calls: made,
          ...(blocks.some(isPrivate) ? { native: { provider: nativeKey, messages: blocks.flatMap(replayed) } } : {}),
        },
        finish: full ? 'length' : finishOf(reason, made.length > 0),
        usage,
        profile,
      };
    },
  };
}

/** Metadata that plain text and calls would lose; an item's id alone says nothing, because nothing is stored there. */
function isPrivate(block: Block): boolean {
  if (block.type === 'reasoning') return true;
  return Object.values(block.metadata ?? {}).some(
    (own) =>
      own !== null &&
      typeof own === 'object' &&
      Object.entries(own).some(([key, value]) => key !== 'itemId' && value !== null && value !== undefined),
  );
}

function replayed(block: Block): JsonObject[] {
  const options: JsonObject = block.metadata ? { providerOptions: block.metadata } : {};
  if (block.call)
    return [
      {
        type: 'tool-call',
        toolCallId: block.call.id,
        toolName: wireName(block.call.name),
        input: replayedInput(block.call.input),
        ...options,
      },
    ];
  // Text of blanks only (models write it before a call) is refused when it comes back.
  if (block.type === 'text' && block.text.trim() === '' && !isPrivate(block)) return [];
  return [{ type: block.type, text: block.text, ...options }];
}

/** The raw text of malformed arguments, and of what stands too deep in each other, stays a string: the core answers such a call with a retry. */
function inputOf(args: string): Json {
  const cut = args.slice(0, limits.modelArgumentsCharsMax);
  if (cut.trim() === '') return {};
  try {
    const input = JSON.parse(cut) as Json;
    return isDeeperThan(input, limits.argumentsLevelsMax) ? cut : input;
  } catch {
    return cut;
  }
}

function idsIn(request: ModelRequest): Set<string> {
  const ids = new Set<string>();
  for (const message of request.messages)
    if (message.role === 'assistant') for (const call of message.calls) ids.add(call.id);
  return ids;
}

/** Some servers count their calls from zero in every answer. */
function unusedId(id: string, used: Set<string>): string {
  const base = id === '' ? 'call' : id;
  let unused = base;
  for (let number = 2; used.has(unused); number++) unused = `${base}_${number}`;
  used.add(unused);
  return unused;
}

function finishOf(reason: string | undefined, hasCalls: boolean): ModelAnswer['finish'] {
  if (reason === 'length') return 'length';
  if (reason === 'content-filter') return 'content_filter';
  if (hasCalls) return 'tool_calls';
  return reason === 'stop' ? 'stop' : 'other';
}

function usageOf(finish: Extract<StreamPart, { type: 'finish' }>): Usage | null {
  const { inputTokens, outputTokens } = finish.usage;
  if (inputTokens.total === undefined && outputTokens.total === undefined) return null;
  return {
    input: inputTokens.total ?? 0,
    cachedInput: inputTokens.cacheRead ?? 0,
    output: outputTokens.total ?? 0,
  };
}

/** Metadata as it will come back from the database, so that the first replay sends the same bytes as the later ones. */
function plain(metadata: unknown): JsonObject | undefined {
  return metadata === undefined ? undefined : (JSON.parse(JSON.stringify(metadata)) as JsonObject);
}
