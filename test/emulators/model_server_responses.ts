/** OpenAI responses with `store: false` (platform.openai.com/docs/api-reference/responses). */
import type { Json, JsonObject } from '../../src/types/json.ts';
import { numberOrNull, openaiErrorBody } from './model_server_chat.ts';
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

export const responsesWire: Wire = {
  name: 'responses',
  key: (headers) => headers.authorization?.replace(/^Bearer /, ''),
  read(raw) {
    const model = textOf(raw.model, 'model');
    const items = typeof raw.input === 'string' ? [{ role: 'user', content: raw.input }] : listOf(raw.input, 'input');
    if (items.length === 0) refuse("[] is too short - 'input'");
    let instructions = typeof raw.instructions === 'string' ? raw.instructions : '';
    const messages: SeenMessage[] = [];
    const open = new Map<string, boolean>();
    items.forEach((entry, index) => {
      const item = objectOf(entry, `input[${index}]`);
      const where = `input[${index}]`;
      if (item.role === 'system' || item.role === 'developer') instructions += textOf(item.content, `${where}.content`);
      else readItem(item, where, { model, messages, open, next: items[index + 1] });
    });
    for (const [id, answered] of open)
      if (!answered) refuse(`No tool output found for function call ${id}.`, 400, 'invalid_request_error');
    return {
      model,
      stream: raw.stream === true,
      instructions,
      messages,
      tools: readTools(raw.tools),
      maxOutputTokens: numberOrNull(raw.max_output_tokens),
    };
  },
  events(answer, prompt, nonce) {
    const events: WireEvent[] = [];
    let sequence = 0;
    const push = (type: string, fields: JsonObject, piece?: number) => {
      const data = JSON.stringify({ type, sequence_number: sequence++, ...fields });
      events.push(piece === undefined ? { event: type, data } : { event: type, data, piece });
    };
    const response = responseOf(prompt, nonce, 'in_progress');
    push('response.created', { response });
    push('response.in_progress', { response });
    outputOf(answer, prompt, nonce).forEach((item, output_index) => {
      push('response.output_item.added', { output_index, item: openItem(item) });
      if (item.type === 'message') {
        const at = { item_id: item.id as string, output_index, content_index: 0 };
        push('response.content_part.added', { ...at, part: { type: 'output_text', text: '', annotations: [] } });
        piecesOf(answer).forEach((delta, piece) => {
          push('response.output_text.delta', { ...at, delta }, piece);
        });
        push('response.output_text.done', { ...at, text: wholeText(answer) });
      } else if (item.type === 'function_call') {
        const at = { item_id: item.id as string, output_index };
        for (const delta of argumentPieces(item.arguments as string))
          push('response.function_call_arguments.delta', { ...at, delta });
        push('response.function_call_arguments.done', { ...at, arguments: item.arguments as string });
      } else {
        const at = { item_id: item.id as string, output_index, summary_index: 0 };
        push('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } });
        push('response.reasoning_summary_text.delta', { ...at, delta: answer.reasoning ?? '' });
        push('response.reasoning_summary_part.done', {
          ...at,
          part: { type: 'summary_text', text: answer.reasoning ?? '' },
        });
      }
      push('response.output_item.done', { output_index, item });
    });
    const done = completed(answer, prompt, nonce);
    push(done.status === 'incomplete' ? 'response.incomplete' : 'response.completed', { response: done });
    return events;
  },
  body: (answer, prompt, nonce) => JSON.stringify(completed(answer, prompt, nonce)),
  errorBody: openaiErrorBody,
  errorEvent: (type, message) => ({
    event: 'error',
    data: JSON.stringify({ type: 'error', sequence_number: 9, error: { type, code: type, message, param: null } }),
  }),
};

/** Items that are not stored carry their state; it opens only for the model that made it. */
function sealOf(model: string, reasoning: string): string {
  return `gAAAA.${Buffer.from(`${model}|${reasoning}`).toString('base64url')}`;
}

interface Reading {
  model: string;
  messages: SeenMessage[];
  open: Map<string, boolean>;
  next: Json | undefined;
}

function readItem(item: JsonObject, where: string, reading: Reading): void {
  const { messages, open } = reading;
  if (item.role === 'user' || item.role === 'assistant') {
    const seen = item.role === 'user' ? emptyMessage('user') : assistantTurn(messages);
    readContent(item.content, where, seen);
    if (item.role === 'user') messages.push(seen);
  } else if (item.type === 'reasoning') {
    const sealed = textOf(item.encrypted_content, `${where}.encrypted_content`);
    if (
      !Buffer.from(sealed.replace(/^gAAAA\./, ''), 'base64url')
        .toString()
        .startsWith(`${reading.model}|`)
    )
      refuse(
        `The encrypted content for item ${String(item.id)} could not be verified.`,
        400,
        'invalid_encrypted_content',
      );
    const next = reading.next as JsonObject | undefined;
    if (next === undefined || (next.type !== 'function_call' && next.type !== 'reasoning' && next.role !== 'assistant'))
      refuse(`Item '${String(item.id)}' of type 'reasoning' was provided without its required following item.`);
    assistantTurn(messages).reasoning.push(item);
  } else if (item.type === 'function_call') {
    const id = textOf(item.call_id, `${where}.call_id`);
    if (open.has(id)) refuse(`Duplicate function call with call_id ${id}.`);
    open.set(id, false);
    const name = nameOf(item.name, `${where}.name`);
    assistantTurn(messages).calls.push({ id, name, input: argumentsOf(item.arguments, `${where}.arguments`) });
  } else if (item.type === 'function_call_output') {
    const id = textOf(item.call_id, `${where}.call_id`);
    if (!open.has(id)) refuse(`No tool call found for function call output with call_id ${id}.`);
    if (open.get(id)) refuse(`Duplicate output for function call with call_id ${id}.`);
    open.set(id, true);
    const last = messages.at(-1);
    const seen = last?.role === 'tool' ? last : emptyMessage('tool');
    if (seen !== last) messages.push(seen);
    seen.results.push({ id, text: textOf(item.output, `${where}.output`), isError: false });
  } else if (item.type === 'item_reference') {
    refuse(`Item with id '${String(item.id)}' not found. Items are not persisted when \`store\` is set to false.`, 404);
  } else refuse(`Invalid value: '${String(item.type)}' (${where}.type)`);
}

/** Items of one assistant turn stand side by side on this wire. */
function assistantTurn(messages: SeenMessage[]): SeenMessage {
  const last = messages.at(-1);
  if (last?.role === 'assistant') return last;
  const turn = emptyMessage('assistant');
  messages.push(turn);
  return turn;
}

function readContent(content: Json | undefined, where: string, seen: SeenMessage): void {
  if (typeof content === 'string') {
    seen.text += textOf(content, `${where}.content`);
    return;
  }
  const parts = listOf(content, `${where}.content`);
  if (parts.length === 0) refuse(`[] is too short - '${where}.content'`);
  for (const entry of parts) {
    const part = objectOf(entry, `${where}.content`);
    if (part.type === 'input_text' || part.type === 'output_text') seen.text += textOf(part.text, `${where}.text`);
    else if (part.type === 'input_image') seen.images += 1;
    else refuse(`Invalid value: '${String(part.type)}' (${where}.content.type)`);
  }
}

function readTools(value: Json | undefined) {
  return toolsOf(
    (value === undefined ? [] : listOf(value, 'tools')).map((entry) => {
      const tool = objectOf(entry, 'tools');
      return {
        name: nameOf(tool.name, 'tools.name'),
        description: String(tool.description ?? ''),
        schema: objectOf(tool.parameters, 'tools.parameters'),
      };
    }),
  );
}

function outputOf(answer: ScriptedText, prompt: Prompt, nonce: string): JsonObject[] {
  const items: JsonObject[] = [];
  if (answer.reasoning)
    items.push({
      type: 'reasoning',
      id: `rs_${nonce}`,
      encrypted_content: sealOf(prompt.model, answer.reasoning),
      summary: [{ type: 'summary_text', text: answer.reasoning }],
    });
  if (piecesOf(answer).length > 0)
    items.push({
      type: 'message',
      id: `msg_${nonce}`,
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: wholeText(answer), annotations: [] }],
    });
  callsOf(answer, nonce, 'call').forEach((call, index) => {
    items.push({
      type: 'function_call',
      id: `fc_${nonce}_${index + 1}`,
      call_id: call.id,
      name: call.name,
      arguments: call.args,
      status: 'completed',
    });
  });
  return items;
}

function openItem(item: JsonObject): JsonObject {
  if (item.type === 'message') return { ...item, status: 'in_progress', content: [] };
  if (item.type === 'function_call') return { ...item, status: 'in_progress', arguments: '' };
  return { ...item, summary: [] };
}

function responseOf(prompt: Prompt, nonce: string, status: string): JsonObject {
  return { id: `resp_${nonce}`, object: 'response', created_at: 1767225600, status, model: prompt.model, output: [] };
}

function completed(answer: ScriptedText, prompt: Prompt, nonce: string): JsonObject {
  const cut =
    answer.finish === 'length' ? 'max_output_tokens' : answer.finish === 'content_filter' ? 'content_filter' : null;
  const { input, cachedInput, output } = usageOf(answer, prompt);
  return {
    ...responseOf(prompt, nonce, cut === null ? 'completed' : 'incomplete'),
    incomplete_details: cut === null ? null : { reason: cut },
    output: outputOf(answer, prompt, nonce),
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cachedInput },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  };
}
