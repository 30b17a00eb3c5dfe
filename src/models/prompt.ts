/** Our transcript as a provider's prompt. Pure: the same request gives the same bytes (M1). */
import { sha256 } from '../base/digest.ts';
import type { Json, JsonObject } from '../types/json.ts';
import type { ModelMessage, ModelProfile, ModelRequest } from '../types/model.ts';
import type { CallOptions, PromptMessage, Wire } from './providers.ts';

type Assistant = Extract<PromptMessage, { role: 'assistant' }>;
type AssistantPart = Assistant['content'][number];
type Tool = NonNullable<CallOptions['tools']>[number];

const breakpoint = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const;

/** Providers refuse messages without content. */
const emptyUserText = '(a message without text)';
const emptyResultText = '(no output)';

/**
 * Whose native parts may be replayed: seals and signatures open only for the account and model that made them, so a
 * fallback of the same provider gets none of another profile's.
 */
export function nativeKeyOf(profile: ModelProfile, wire: Wire): string {
  return `${wire}:${profile.name}:${profile.model}`;
}

/** Everything of a call but the signal. With `replayNative: false` all native parts are left out. */
export function toCallOptions(
  request: ModelRequest,
  profile: ModelProfile,
  wire: Wire,
  replayNative: boolean,
): Omit<CallOptions, 'abortSignal'> {
  const prompt: CallOptions['prompt'] = [];
  const marked = wire === 'anthropic' ? breakpointsIn(request) : new Set<number>();
  if (request.instructions.trim() !== '')
    prompt.push({
      role: 'system',
      content: request.instructions,
      ...(wire === 'anthropic' ? { providerOptions: breakpoint } : {}),
    });
  const native = replayNative ? nativeKeyOf(profile, wire) : null;
  request.messages.forEach((message, index) => {
    const converted = toMessage(message, wire, native);
    if (converted) prompt.push(marked.has(index) ? { ...converted, providerOptions: breakpoint } : converted);
  });
  return {
    prompt,
    ...(request.tools.length > 0 ? { tools: toTools(request, wire) } : {}),
    maxOutputTokens: profile.maxOutputTokens,
    ...(wire === 'responses'
      ? { providerOptions: { openai: { store: false, promptCacheKey: request.cacheKey } } }
      : {}),
  };
}

function toTools(request: ModelRequest, wire: Wire): Tool[] {
  return request.tools.map((tool, index) => ({
    type: 'function',
    name: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema,
    ...(wire === 'anthropic' && index === request.tools.length - 1 ? { providerOptions: breakpoint } : {}),
  }));
}

/**
 * Anthropic takes four breakpoints: tools, instructions, and two in the messages. The last stable message is written to
 * the cache; the one before the last stable answer is where the request before this one had its own, so that it is
 * found even when a step added more blocks than the provider looks back over (20).
 */
function breakpointsIn(request: ModelRequest): Set<number> {
  const marked = new Set<number>();
  const stable = request.messages.slice(0, request.stableMessages);
  if (stable.length === 0) return marked;
  marked.add(stable.length - 1);
  const answer = stable.findLastIndex((message) => message.role === 'assistant');
  if (answer > 0) marked.add(answer - 1);
  return marked;
}

function toMessage(message: ModelMessage, wire: Wire, nativeKey: string | null): PromptMessage | null {
  if (message.role === 'user') {
    const images = (message.images ?? []).map((image) => ({
      type: 'file' as const,
      mediaType: image.mime,
      data: { type: 'data' as const, data: image.base64 },
    }));
    const blank = message.content.trim() === '';
    if (blank && images.length > 0) return { role: 'user', content: images };
    return { role: 'user', content: [{ type: 'text', text: blank ? emptyUserText : message.content }, ...images] };
  }
  if (message.role === 'tool') {
    if (message.results.length === 0) return null;
    return {
      role: 'tool',
      content: message.results.map((result) => ({
        type: 'tool-result',
        toolCallId: wireId(result.id, wire),
        toolName: wireName(result.name),
        output: {
          // Only Anthropic has a place for it; elsewhere the SDK would wrap our words in JSON.
          type: result.isError && wire === 'anthropic' ? 'error-text' : 'text',
          value: result.content.trim() === '' ? emptyResultText : result.content,
        },
      })),
    };
  }
  const content = nativeParts(message, nativeKey) ?? plainParts(message, wire);
  return content.length > 0 ? { role: 'assistant', content } : null;
}

function nativeParts(
  message: Extract<ModelMessage, { role: 'assistant' }>,
  key: string | null,
): AssistantPart[] | null {
  if (!message.native || message.native.provider !== key || !Array.isArray(message.native.messages)) return null;
  return message.native.messages as unknown as AssistantPart[];
}

function plainParts(message: Extract<ModelMessage, { role: 'assistant' }>, wire: Wire): AssistantPart[] {
  const parts: AssistantPart[] = [];
  if (message.text.trim() !== '') parts.push({ type: 'text', text: message.text });
  for (const call of message.calls)
    parts.push({
      type: 'tool-call',
      toolCallId: wireId(call.id, wire),
      toolName: wireName(call.name),
      input: replayedInput(call.input),
    });
  return parts;
}

const replayedArgumentsCharsMax = 2_000;

/** Providers accept only objects; what the model wrote instead is shown to it, cut. */
export function replayedInput(input: Json): JsonObject {
  if (input !== null && typeof input === 'object' && !Array.isArray(input)) return input;
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  return { not_a_json_object: text.slice(0, replayedArgumentsCharsMax) };
}

/** Tool names the model made up must still pass the providers' pattern when they are replayed. */
export function wireName(name: string): string {
  return /^[a-zA-Z0-9_-]{1,64}$/.test(name) ? name : name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
}

/** Ids made by one provider go to another after a fallback; these two check them. Equal ids give equal ids. */
export function wireId(id: string, wire: Wire): string {
  if (wire === 'chat' || wire === 'google' || /^[a-zA-Z0-9_-]{1,64}$/.test(id)) return id;
  return `call_${sha256(id).slice(0, 24)}`;
}
