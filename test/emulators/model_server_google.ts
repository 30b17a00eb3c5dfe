/** Google generateContent (ai.google.dev/api/generate-content). */
import type { Json, JsonObject } from '../../src/types/json.ts';
import {
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
} from './model_server_types.ts';

export const googleWire: Wire = {
  name: 'google',
  key: (headers) => headers['x-goog-api-key'] as string | undefined,
  read(raw, { path }) {
    const contents = listOf(raw.contents, 'contents');
    if (contents.length === 0) refuse('* GenerateContentRequest.contents: contents is not specified');
    const messages: SeenMessage[] = [];
    let open: string[] = [];
    contents.forEach((entry, index) => {
      const content = objectOf(entry, `contents[${index}]`);
      const parts = listOf(content.parts, `contents[${index}].parts`).map((part) => objectOf(part, 'parts'));
      if (parts.length === 0)
        refuse(`* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.`);
      const seen = readParts(parts, content.role === 'model', open);
      if (open.length !== seen.results.length)
        refuse(
          'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
        );
      open = seen.calls.map((call) => call.id);
      messages.push(seen);
    });
    if (open.length > 0) refuse('Please ensure that function call turn is followed by a function response turn.');
    const tools = raw.tools === undefined ? [] : listOf(raw.tools, 'tools').map((tool) => objectOf(tool, 'tools'));
    return {
      model: /models\/([^:]+):/.exec(path)?.[1] ?? '',
      stream: path.includes(':streamGenerateContent'),
      instructions: instructionsOf(raw.systemInstruction),
      messages,
      tools: toolsOf(
        tools.flatMap((tool) =>
          listOf(tool.functionDeclarations, 'functionDeclarations').map((entry) => {
            const declaration = objectOf(entry, 'functionDeclarations');
            return {
              name: nameOf(declaration.name, 'functionDeclarations.name'),
              description: String(declaration.description ?? ''),
              schema: objectOf(
                declaration.parameters ?? declaration.parametersJsonSchema ?? { type: 'object' },
                'parameters',
              ),
            };
          }),
        ),
      ),
      maxOutputTokens: maxTokensOf(raw.generationConfig),
    };
  },
  events(answer, prompt, nonce) {
    const events: WireEvent[] = [];
    const push = (parts: JsonObject[], extra: JsonObject = {}, piece?: number) => {
      const data = JSON.stringify({
        candidates: [{ content: { role: 'model', parts }, index: 0, ...extra }],
        modelVersion: prompt.model,
        responseId: `resp-${nonce}`,
        usageMetadata: usage(answer, prompt),
      });
      events.push(piece === undefined ? { data } : { data, piece });
    };
    if (answer.reasoning) push([{ text: answer.reasoning, thought: true }]);
    piecesOf(answer).forEach((text, piece) => {
      push([{ text }], {}, piece);
    });
    const calls = callParts(answer, nonce);
    for (const call of calls) push([call]);
    push(calls.length > 0 ? [] : [{ text: '' }], { finishReason: finishOf(answer) });
    return events;
  },
  body(answer, prompt, nonce) {
    const parts: JsonObject[] = [];
    if (answer.reasoning) parts.push({ text: answer.reasoning, thought: true });
    for (const text of piecesOf(answer)) parts.push({ text });
    parts.push(...callParts(answer, nonce));
    return JSON.stringify({
      candidates: [{ content: { role: 'model', parts }, finishReason: finishOf(answer), index: 0 }],
      usageMetadata: usage(answer, prompt),
      modelVersion: prompt.model,
      responseId: `resp-${nonce}`,
    });
  },
  errorBody: (status, message, code) =>
    JSON.stringify({ error: { code: status, message, status: code ?? 'INVALID_ARGUMENT' } }),
  errorEvent: (type, message) => ({ data: JSON.stringify({ error: { code: 503, message, status: type } }) }),
};

function readParts(parts: JsonObject[], isModel: boolean, open: string[]): SeenMessage {
  const seen = emptyMessage(isModel ? 'assistant' : 'user');
  for (const part of parts) {
    if (part.thoughtSignature !== undefined) seen.reasoning.push({ signature: part.thoughtSignature });
    if (typeof part.text === 'string') {
      if (part.thought === true) seen.reasoning.push({ text: part.text });
      else seen.text += textOf(part.text, 'parts.text');
    } else if (part.inlineData !== undefined) seen.images += 1;
    else if (part.functionCall !== undefined && isModel) {
      const call = objectOf(part.functionCall, 'functionCall');
      const id = typeof call.id === 'string' ? call.id : `${seen.calls.length}`;
      seen.calls.push({
        id,
        name: nameOf(call.name, 'functionCall.name'),
        input: objectOf(call.args, 'functionCall.args'),
      });
    } else if (part.functionResponse !== undefined && !isModel) {
      const result = objectOf(part.functionResponse, 'functionResponse');
      const id = typeof result.id === 'string' ? result.id : (open[seen.results.length] ?? '?');
      if (!open.includes(id)) refuse(`functionResponse ${id} answers no functionCall of the turn before.`);
      const response = objectOf(result.response, 'functionResponse.response');
      const text = typeof response.content === 'string' ? response.content : JSON.stringify(response);
      seen.role = 'tool';
      seen.results.push({ id, text, isError: false });
    } else refuse(`unexpected part ${Object.keys(part).join(', ')}`);
  }
  return seen;
}

function instructionsOf(value: Json | undefined): string {
  if (value === undefined) return '';
  return listOf(objectOf(value, 'systemInstruction').parts, 'systemInstruction.parts')
    .map((part) => textOf(objectOf(part, 'parts').text, 'systemInstruction.parts.text'))
    .join('');
}

function maxTokensOf(value: Json | undefined): number | null {
  const max = value === undefined ? undefined : objectOf(value, 'generationConfig').maxOutputTokens;
  return typeof max === 'number' ? max : null;
}

/** The first call of a turn carries the signature of the thoughts that led to it. */
function callParts(answer: ScriptedText, nonce: string): JsonObject[] {
  return callsOf(answer, nonce, 'fc').map((call, index) => {
    const part: JsonObject = { functionCall: { id: call.id, name: call.name, args: JSON.parse(call.args) } };
    if (index === 0 && answer.reasoning) part.thoughtSignature = Buffer.from(answer.reasoning).toString('base64');
    return part;
  });
}

function finishOf(answer: ScriptedText): string {
  return answer.finish === 'length' ? 'MAX_TOKENS' : answer.finish === 'content_filter' ? 'SAFETY' : 'STOP';
}

function usage(answer: ScriptedText, prompt: Prompt): JsonObject {
  const { input, cachedInput, output } = usageOf(answer, prompt);
  return {
    promptTokenCount: input,
    cachedContentTokenCount: cachedInput,
    candidatesTokenCount: output,
    totalTokenCount: input + output,
  };
}
