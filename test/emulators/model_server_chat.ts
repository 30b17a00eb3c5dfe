/** OpenAI chat completions. Error texts and rules as api.openai.com gives them (platform.openai.com/docs/api-reference/chat). */
import type { Json, JsonObject } from '../../src/types/json.ts';
import {
  argumentPieces,
  argumentsOf,
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

export const chatWire: Wire = {
  name: 'chat',
  key: (headers) => headers.authorization?.replace(/^Bearer /, ''),
  read(raw) {
    const messages = listOf(raw.messages, 'messages');
    if (messages.length === 0) refuse("[] is too short - 'messages'");
    let instructions = '';
    const seen: SeenMessage[] = [];
    /** Calls that still wait for their result. */
    const open = new Set<string>();
    messages.forEach((entry, index) => {
      const message = objectOf(entry, `messages.[${index}]`);
      if (message.role !== 'tool' && open.size > 0) missingResults(open);
      if (message.role === 'system' || message.role === 'developer') {
        instructions += textOf(message.content, `messages.[${index}].content`);
        return;
      }
      const next = readMessage(message, `messages.[${index}]`, open);
      const last = seen.at(-1);
      if (next.role === 'tool' && last?.role === 'tool') last.results.push(...next.results);
      else seen.push(next);
    });
    if (open.size > 0) missingResults(open);
    return {
      model: textOf(raw.model, 'model'),
      stream: raw.stream === true,
      instructions,
      messages: seen,
      tools: readTools(raw.tools),
      maxOutputTokens: numberOrNull(raw.max_completion_tokens ?? raw.max_tokens),
    };
  },
  events(answer, prompt, nonce) {
    const chunk = (delta: JsonObject, finish: string | null = null) =>
      JSON.stringify({ ...head(prompt, nonce), choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
    const events: WireEvent[] = [{ data: chunk({ role: 'assistant', content: '' }) }];
    if (answer.reasoning) events.push({ data: chunk({ reasoning_content: answer.reasoning }) });
    piecesOf(answer).forEach((content, piece) => {
      events.push({ data: chunk({ content }), piece });
    });
    callsOf(answer, nonce, 'call').forEach((call, index) => {
      const start = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
      events.push({ data: chunk({ tool_calls: [start] }) });
      for (const part of argumentPieces(call.args))
        events.push({ data: chunk({ tool_calls: [{ index, function: { arguments: part } }] }) });
    });
    events.push({ data: chunk({}, finishOf(answer)) });
    events.push({ data: JSON.stringify({ ...head(prompt, nonce), choices: [], usage: usage(answer, prompt) }) });
    events.push({ data: '[DONE]' });
    return events;
  },
  body(answer, prompt, nonce) {
    const calls = callsOf(answer, nonce, 'call').map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: call.args },
    }));
    const message: JsonObject = { role: 'assistant', content: wholeText(answer) || null };
    if (calls.length > 0) message.tool_calls = calls;
    if (answer.reasoning) message.reasoning_content = answer.reasoning;
    return JSON.stringify({
      ...head(prompt, nonce),
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(answer) }],
      usage: usage(answer, prompt),
    });
  },
  errorBody: openaiErrorBody,
  errorEvent: (type, message) => ({ data: JSON.stringify({ error: { message, type, code: type } }) }),
};

export function openaiErrorBody(status: number, message: string, code?: string): string {
  const type = status === 429 ? 'rate_limit_exceeded' : status >= 500 ? 'server_error' : 'invalid_request_error';
  return JSON.stringify({ error: { message, type, param: null, code: code ?? null } });
}

function missingResults(open: Set<string>): never {
  return refuse(
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. ` +
      `The following tool_call_ids did not have response messages: ${[...open].join(', ')}`,
  );
}

function readMessage(message: JsonObject, where: string, open: Set<string>): SeenMessage {
  if (message.role === 'user') {
    const seen = emptyMessage('user');
    readContent(message.content, where, seen);
    return seen;
  }
  if (message.role === 'tool') {
    const id = textOf(message.tool_call_id, `${where}.tool_call_id`);
    if (!open.delete(id))
      refuse(
        `Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.`,
      );
    const text = typeof message.content === 'string' ? message.content : JSON.stringify(message.content);
    return { ...emptyMessage('tool'), results: [{ id, text: textOf(text, `${where}.content`), isError: false }] };
  }
  if (message.role !== 'assistant')
    refuse(`Invalid value: '${String(message.role)}'. Supported values are: 'system', …`);
  const seen = emptyMessage('assistant');
  if (message.content != null) seen.text = String(message.content);
  if (typeof message.reasoning_content === 'string') seen.reasoning.push({ text: message.reasoning_content });
  if (message.tool_calls !== undefined) {
    const calls = listOf(message.tool_calls, `${where}.tool_calls`);
    if (calls.length === 0) refuse(`[] is too short - '${where}.tool_calls'`);
    for (const entry of calls) {
      const call = objectOf(entry, `${where}.tool_calls`);
      const fn = objectOf(call.function, `${where}.tool_calls.function`);
      const id = textOf(call.id, `${where}.tool_calls.id`);
      if (open.has(id)) refuse(`Duplicate value for 'tool_call_id' of ${id}`);
      open.add(id);
      seen.calls.push({
        id,
        name: nameOf(fn.name, `${where}.tool_calls.function.name`),
        input: argumentsOf(fn.arguments, `${where}.tool_calls.function.arguments`),
      });
    }
  }
  if (seen.text === '' && seen.calls.length === 0)
    refuse(`Invalid value for 'content': expected a string, got null (${where}).`);
  return seen;
}

function readContent(content: Json | undefined, where: string, seen: SeenMessage): void {
  if (typeof content === 'string') {
    seen.text = textOf(content, `${where}.content`);
    return;
  }
  const parts = listOf(content, `${where}.content`);
  if (parts.length === 0) refuse(`[] is too short - '${where}.content'`);
  for (const entry of parts) {
    const part = objectOf(entry, `${where}.content`);
    if (part.type === 'text') seen.text += textOf(part.text, `${where}.content.text`);
    else if (part.type === 'image_url') seen.images += 1;
    else refuse(`Invalid value: '${String(part.type)}' (${where}.content.type)`);
  }
}

function readTools(value: Json | undefined) {
  if (value === undefined) return [];
  const tools = listOf(value, 'tools');
  if (tools.length === 0) refuse("[] is too short - 'tools'");
  return toolsOf(
    tools.map((entry) => {
      const fn = objectOf(objectOf(entry, 'tools').function, 'tools.function');
      return {
        name: nameOf(fn.name, 'tools.function.name'),
        description: String(fn.description ?? ''),
        schema: objectOf(fn.parameters, 'tools.function.parameters'),
      };
    }),
  );
}

function head(prompt: Prompt, nonce: string): JsonObject {
  return { id: `chatcmpl-${nonce}`, object: 'chat.completion.chunk', created: 1767225600, model: prompt.model };
}

function finishOf(answer: ScriptedText): string {
  return answer.finish ?? (answer.calls?.length ? 'tool_calls' : 'stop');
}

function usage(answer: ScriptedText, prompt: Prompt): JsonObject {
  const { input, cachedInput, output } = usageOf(answer, prompt);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cachedInput },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

export function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
