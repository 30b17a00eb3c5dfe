/** The least a server can do: prepared bytes per wire, so that a benchmark measures the client. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { anthropicWire } from './model_server_anthropic.ts';
import { chatWire } from './model_server_chat.ts';
import { googleWire } from './model_server_google.ts';
import { responsesWire } from './model_server_responses.ts';
import type { Prompt, Wire } from './model_server_types.ts';

export function createInstant(text: string): (message: IncomingMessage, response: ServerResponse) => void {
  const prompt: Prompt = {
    model: 'instant',
    stream: true,
    instructions: '',
    messages: [],
    tools: [],
    maxOutputTokens: null,
  };
  const answer = { pieces: [text], usage: { input: 10, output: 5 } };
  const prepare = (wire: Wire) => ({
    stream: Buffer.from(
      wire
        .events(answer, prompt, 'instant')
        .map((event) => (event.event ? `event: ${event.event}\ndata: ${event.data}\n\n` : `data: ${event.data}\n\n`))
        .join(''),
    ),
    whole: Buffer.from(wire.body(answer, prompt, 'instant')),
  });
  const prepared = [chatWire, responsesWire, anthropicWire, googleWire].map(prepare);
  const marker = Buffer.from('"stream":true');
  return (message, response) => {
    const url = message.url ?? '';
    const index = url.endsWith('/completions') ? 0 : url.endsWith('/responses') ? 1 : url.endsWith('/messages') ? 2 : 3;
    let streamed = url.includes(':stream');
    message.on('data', (chunk: Buffer) => {
      if (index < 3) streamed ||= chunk.includes(marker);
    });
    message.on('end', () => {
      const bytes = prepared[index]!;
      const out = streamed ? bytes.stream : bytes.whole;
      response.writeHead(200, {
        'content-type': streamed ? 'text/event-stream' : 'application/json',
        'content-length': out.length,
      });
      response.end(out);
    });
  };
}
