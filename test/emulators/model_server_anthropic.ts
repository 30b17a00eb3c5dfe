/** Anthropic messages. Error texts and rules as api.anthropic.com gives them (docs.anthropic.com/en/api/messages). */
import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../../src/types/json.ts';
import {
  argumentPieces,
  callsOf,
  emptyMessage,
  listOf,
  nameOf,
  objectOf,
  type Prompt,
  piecesOf,
  refuse,
  type ScriptedText,
  type SeenMessage,
  textOf,
  toolsOf,
  usageOf,
  type Wire,
  type WireEvent,
  wholeText,
} from './model_server_types.ts';

const breakpointsMax = 4;

export const anthropicWire: Wire = {
  name: 'anthropic',
  key: (headers) => headers['x-api-key'] as string | undefined,
  read(raw, { headers }) {
    if (!headers['anthropic-version']) refuse('anthropic-version: header is required');
    if (typeof raw.max_tokens !== 'number') refuse('max_tokens: Field required');
    const messages = listOf(raw.messages, 'messages');
    if (messages.length === 0) refuse('messages: at least one message is required');
    const breakpoints = JSON.stringify(raw).match(/"cache_control":/g)?.length ?? 0;
    if (breakpoints > breakpointsMax)
      refuse(`A maximum of ${breakpointsMax} blocks with cache_control may be provided. Found ${breakpoints}.`);
    const seen: SeenMessage[] = [];
    const used = new Set<string>();
    let open: string[] = [];
    messages.forEach((entry, index) => {
      const message = objectOf(entry, `messages.${index}`);
      const role = index % 2 === 0 ? 'user' : 'assistant';
      if (message.role !== role)
        refuse(`messages: roles must alternate between "user" and "assistant" (messages.${index})`);
      const blocks = blocksOf(message.content, `messages.${index}`);
      if (role === 'assistant') {
        seen.push(readAssistant(blocks, `messages.${index}`, used));
        open = seen.at(-1)!.calls.map((call) => call.id);
      } else {
        seen.push(...readUser(blocks, index, open));
        open = [];
      }
    });
    if (open.length > 0) missingResults(messages.length - 1, open);
    if (messages.length % 2 === 0)
      refuse('This model does not support assistant message prefill. The conversation must end with a user message.');
    return {
      model: textOf(raw.model, 'model'),
      stream: raw.stream === true,
      instructions: readSystem(raw.system),
      messages: seen,
      tools: toolsOf(
        (raw.tools === undefined ? [] : listOf(raw.tools, 'tools')).map((entry) => {
          const tool = objectOf(entry, 'tools');
          return {
            name: nameOf(tool.name, 'tools.name'),
            description: String(tool.description ?? ''),
            schema: objectOf(tool.input_schema, 'tools.input_schema'),
          };
        }),
      ),
      maxOutputTokens: raw.max_tokens,
    };
  },
  events(answer, prompt, nonce) {
    const events: WireEvent[] = [];
    const push = (type: string, fields: JsonObject, piece?: number) => {
      const data = JSON.stringify({ type, ...fields });
      events.push(piece === undefined ? { event: type, data } : { event: type, data, piece });
    };
    push('message_start', {
      message: { ...messageOf(prompt, nonce), usage: { ...usage(answer, prompt), output_tokens: 1 } },
    });
    push('ping', {});
    contentOf(answer, nonce).forEach((block, index) => {
      const delta = (fields: JsonObject, piece?: number) =>
        push('content_block_delta', { index, delta: fields }, piece);
      if (block.type === 'thinking') {
        push('content_block_start', { index, content_block: { type: 'thinking', thinking: '', signature: '' } });
        delta({ type: 'thinking_delta', thinking: block.thinking as string });
        delta({ type: 'signature_delta', signature: block.signature as string });
      } else if (block.type === 'text') {
        push('content_block_start', { index, content_block: { type: 'text', text: '' } });
        piecesOf(answer).forEach((text, piece) => {
          delta({ type: 'text_delta', text }, piece);
        });
      } else {
        push('content_block_start', {
          index,
          content_block: { type: 'tool_use', id: block.id!, name: block.name!, input: {} },
        });
        for (const partial_json of argumentPieces(block.args as string))
          delta({ type: 'input_json_delta', partial_json });
      }
      push('content_block_stop', { index });
    });
    const { output } = usageOf(answer, prompt);
    push('message_delta', {
      delta: { stop_reason: stopOf(answer), stop_sequence: null },
      usage: { output_tokens: output },
    });
    push('message_stop', {});
    return events;
  },
  body(answer, prompt, nonce) {
    const content = contentOf(answer, nonce).map(({ args, ...block }) =>
      block.type === 'tool_use' ? { ...block, input: JSON.parse(args as string) } : block,
    );
    return JSON.stringify({
      ...messageOf(prompt, nonce),
      content,
      stop_reason: stopOf(answer),
      usage: usage(answer, prompt),
    });
  },
  errorBody(status, message, code) {
    const types: Record<number, string> = {
      400: 'invalid_request_error',
      401: 'authentication_error',
      403: 'permission_error',
      404: 'not_found_error',
      429: 'rate_limit_error',
      529: 'overloaded_error',
    };
    return JSON.stringify({ type: 'error', error: { type: code ?? types[status] ?? 'api_error', message } });
  },
  errorEvent: (type, message) => ({
    event: 'error',
    data: JSON.stringify({ type: 'error', error: { type, message } }),
  }),
};

/** Thinking can be replayed only unchanged. */
function signatureOf(thinking: string): string {
  return createHash('sha256').update(`anthropic|${thinking}`).digest('base64');
}

function missingResults(index: number, ids: string[]): never {
  return refuse(
    `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}. ` +
      'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
  );
}

function blocksOf(content: Json | undefined, where: string): JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const blocks = listOf(content, `${where}.content`).map((block) => objectOf(block, `${where}.content`));
  if (blocks.length === 0) refuse(`${where}: all messages must have non-empty content`);
  return blocks;
}

function readSystem(system: Json | undefined): string {
  if (system === undefined) return '';
  if (typeof system === 'string') return system;
  return listOf(system, 'system')
    .map((block) => textOf(objectOf(block, 'system').text, 'system.text'))
    .join('');
}

function readAssistant(blocks: JsonObject[], where: string, used: Set<string>): SeenMessage {
  const seen = emptyMessage('assistant');
  for (const block of blocks) {
    if (block.type === 'text') seen.text += textBlock(block);
    else if (block.type === 'thinking') {
      if (block.signature !== signatureOf(String(block.thinking)))
        refuse(`${where}: Invalid \`signature\` in \`thinking\` block`);
      seen.reasoning.push(block);
    } else if (block.type === 'tool_use') {
      const id = nameOf(block.id, `${where}.content.tool_use.id`);
      if (used.has(id)) refuse(`${where}: \`tool_use\` ids must be unique`);
      used.add(id);
      const input = objectOf(block.input, `${where}.content.tool_use.input: Input should be a valid dictionary`);
      seen.calls.push({ id, name: nameOf(block.name, `${where}.content.tool_use.name`), input });
    } else refuse(`${where}: unexpected block ${String(block.type)}`);
  }
  return seen;
}

/** Results first, then what the person says: two turns for us, one message on this wire. */
function readUser(blocks: JsonObject[], index: number, open: string[]): SeenMessage[] {
  const results = emptyMessage('tool');
  const user = emptyMessage('user');
  for (const block of blocks) {
    if (block.type === 'tool_result') {
      const id = String(block.tool_use_id);
      if (user.text !== '' || user.images > 0) missingResults(index - 1, [id]);
      if (!open.includes(id))
        refuse(
          `messages.${index}.content: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. ` +
            'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
        );
      if (results.results.some((result) => result.id === id))
        refuse(
          `messages.${index}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
        );
      const text = typeof block.content === 'string' ? block.content : JSON.stringify(block.content);
      results.results.push({ id, text, isError: block.is_error === true });
    } else if (block.type === 'text') user.text += textBlock(block);
    else if (block.type === 'image') user.images += 1;
    else refuse(`messages.${index}: unexpected block ${String(block.type)}`);
  }
  const missing = open.filter((id) => !results.results.some((result) => result.id === id));
  if (missing.length > 0) missingResults(index - 1, missing);
  return [results, user].filter((message) => message.results.length + message.text.length + message.images > 0);
}

function textBlock(block: JsonObject): string {
  if (typeof block.text !== 'string' || block.text.trim() === '')
    refuse('messages: text content blocks must be non-empty');
  return block.text;
}

function contentOf(answer: ScriptedText, nonce: string): JsonObject[] {
  const blocks: JsonObject[] = [];
  if (answer.reasoning)
    blocks.push({ type: 'thinking', thinking: answer.reasoning, signature: signatureOf(answer.reasoning) });
  if (piecesOf(answer).length > 0) blocks.push({ type: 'text', text: wholeText(answer) });
  for (const call of callsOf(answer, nonce, 'toolu')) blocks.push({ type: 'tool_use', ...call });
  return blocks;
}

function messageOf(prompt: Prompt, nonce: string): JsonObject {
  return {
    id: `msg_${nonce}`,
    type: 'message',
    role: 'assistant',
    model: prompt.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
}

function stopOf(answer: ScriptedText): string {
  if (answer.finish === 'length') return 'max_tokens';
  if (answer.finish === 'content_filter') return 'refusal';
  return answer.calls?.length ? 'tool_use' : 'end_turn';
}

/** This wire counts cached tokens apart from the others. */
function usage(answer: ScriptedText, prompt: Prompt): JsonObject {
  const { input, cachedInput, output } = usageOf(answer, prompt);
  return {
    input_tokens: input - cachedInput,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedInput,
    output_tokens: output,
  };
}
