/** The demo model: offline, free, and the same answer to the same words; for trying a gateway out without a key. */
import type { Clock } from '../base/clock.ts';
import type { Json } from '../types/json.ts';
import type { ModelAnswer, ModelMessage, ModelObserver, ModelRequest } from '../types/model.ts';
import type { ToolCall } from '../types/tool.ts';

const echoCharsMax = 200;
const resultCharsMax = 2_000;
const piecesMax = 60;
const callsMax = 16;
const charsPerToken = 4;

const whatIAm =
  'I am the demo model of Gatehouse. I work offline, follow a few fixed rules and understand nothing. ' +
  'For a real model set OPENAI_API_KEY or ANTHROPIC_API_KEY, or run Ollama, and start again: docs/getting-started.md, step 2.';

/** Answers from the last words of the person, or from tool results that nobody answered yet. */
export async function askDemo(
  profile: string,
  request: ModelRequest,
  observer: ModelObserver,
  signal: AbortSignal,
  pace: { clock: Clock; pieceMs: number },
): Promise<ModelAnswer> {
  const { text, calls } = answerTo(request);
  for (const piece of piecesOf(text)) {
    signal.throwIfAborted();
    observer.onText(piece);
    if (pace.pieceMs > 0) await pace.clock.sleep(pace.pieceMs, signal);
  }
  signal.throwIfAborted();
  return {
    text,
    calls,
    message: { role: 'assistant', text, calls },
    finish: calls.length > 0 ? 'tool_calls' : 'stop',
    usage: {
      input: tokensOf(request.instructions + JSON.stringify(request.messages)),
      cachedInput: 0,
      output: tokensOf(text + JSON.stringify(calls)),
    },
    profile,
  };
}

function answerTo(request: ModelRequest): { text: string; calls: ToolCall[] } {
  const turn = currentTurn(request.messages);
  const results = turn.flatMap((message) => (message.role === 'tool' ? message.results : []));
  const words = turn.flatMap((message) => (message.role === 'user' ? [message.content] : []));
  const given = new Set(request.tools.map((tool) => tool.name));
  const written = words.flatMap(callsIn).slice(0, callsMax);
  const wordy = written.filter((call) => call.wordy && given.has(call.name)).map((call) => call.name);
  const wanted = written.filter((call) => !call.wordy).map(({ name, input }) => ({ name, input }));
  const unknown = wanted.filter((call) => !given.has(call.name)).map((call) => call.name);
  const calls = wanted
    .filter((call) => given.has(call.name))
    .map((call, index) => ({ ...call, id: `demo_${callsMade(request.messages) + index + 1}` }));
  const lines: string[] = [];
  for (const result of results)
    lines.push(`${result.name} ${result.isError ? 'failed' : 'answered'}: ${cut(result.content, resultCharsMax)}`);
  if (unknown.length > 0) lines.push(`I was not given a tool named ${unknown.join(', ')}. ${toolList(request)}`);
  for (const name of wordy)
    lines.push(`I did not call ${name}: write what it needs as JSON, such as \`call ${name} {"key": "value"}\`.`);
  if (calls.length > 0) lines.push(`I call ${calls.map((call) => call.name).join(', ')}.`);
  if (lines.length > 0) return { text: lines.join('\n\n'), calls };
  const said = spoken(words);
  if (asksForTools(said)) return { text: toolList(request), calls };
  const echo = said === '' ? '' : `You wrote: “${cut(said, echoCharsMax)}”. `;
  const how =
    request.tools.length > 0
      ? 'Ask “which tools?” to see what I can call here, or write `call NAME {"key": "value"}` and I call it.'
      : 'I was given no tools here.';
  return { text: `${echo}${whatIAm} ${how}`, calls };
}

/** What came since the last thing this model said: results of its calls, or new words. */
function currentTurn(messages: ModelMessage[]): ModelMessage[] {
  return messages.slice(messages.findLastIndex((message) => message.role === 'assistant') + 1);
}

/** Words of the person; what the gateway adds of its own is in brackets. */
function spoken(words: string[]): string {
  const own = words.filter((text) => !/^\s*[<[(]/.test(text));
  return (own.at(-1) ?? words.at(-1) ?? '').trim();
}

function asksForTools(text: string): boolean {
  const words = text.replace(/^[^\n:]{1,60}:\s/, '').trim();
  return /^(tools|help)\s*[?!.]*$/i.test(words) || /\b(what|which|list|show)\b[^.!\n]{0,40}\btools?\b/i.test(words);
}

function toolList(request: ModelRequest): string {
  if (request.tools.length === 0) return 'I was given no tools here.';
  const lines = request.tools.map((tool) => `- \`${tool.name}\`: ${firstSentence(tool.description)}`);
  return `I was given these tools:\n\n${lines.join('\n')}\n\nWrite \`call NAME {"key": "value"}\` and I call one.`;
}

function firstSentence(text: string): string {
  return cut((/^[\s\S]*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text).replace(/\s+/g, ' ').trim(), echoCharsMax);
}

/**
 * `call NAME {json}` at the beginning of a line, a speaker's name and the mention of the bot before it in rooms; without JSON, no
 * arguments.
 * `wordy` is one that is followed by words instead.
 */
function callsIn(text: string): (Omit<ToolCall, 'id'> & { wordy: boolean })[] {
  const calls: (Omit<ToolCall, 'id'> & { wordy: boolean })[] = [];
  const pattern = /^[ \t]*(?:[^\n:{}]{1,60}:[ \t]+)?(?:@\S{1,64}[ \t]+)?call[ \t]+([A-Za-z0-9_-]{1,64})[ \t]*/gim;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const rest = text.slice(pattern.lastIndex);
    const length = objectLength(rest);
    calls.push({ name: match[1] as string, input: inputOf(rest, length), wordy: /^["'“\w]/.test(rest) });
    pattern.lastIndex += length;
  }
  return calls;
}

/** Braces inside strings do not count. 0 if there is no object; up to the end of the line if it does not close. */
function objectLength(text: string): number {
  if (!text.startsWith('{')) return 0;
  let depth = 0;
  for (const part of text.matchAll(/"(?:\\.|[^"\\])*"|[{}]/g)) {
    if (part[0] === '{') depth += 1;
    else if (part[0] === '}') depth -= 1;
    if (depth === 0) return part.index + part[0].length;
  }
  return text.split('\n', 1)[0]!.length;
}

function inputOf(text: string, length: number): Json {
  if (length === 0) return {};
  try {
    return JSON.parse(text.slice(0, length)) as Json;
  } catch {
    return text.slice(0, length);
  }
}

function callsMade(messages: ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + (message.role === 'assistant' ? message.calls.length : 0), 0);
}

/** Word by word; longer answers in proportionally larger pieces. */
function piecesOf(text: string): string[] {
  const words = text.match(/\s*\S+\s*/g) ?? [];
  const size = Math.ceil(words.length / piecesMax);
  const pieces: string[] = [];
  for (let start = 0; start < words.length; start += size) pieces.push(words.slice(start, start + size).join(''));
  return pieces;
}

function tokensOf(text: string): number {
  return Math.ceil(text.length / charsPerToken);
}

function cut(text: string, charsMax: number): string {
  return text.length > charsMax ? `${text.slice(0, charsMax)}…` : text;
}
