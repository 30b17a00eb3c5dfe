/** Puts one answer on the wire: event by event, through its gates, up to the point where the script breaks it. */
import type { ServerResponse } from 'node:http';
import type { Answer, ScriptedText, SeenRequest, Wire, WireEvent } from './model_server_types.ts';

export async function sendAnswer(
  wire: Wire,
  request: SeenRequest,
  answer: Answer,
  response: ServerResponse,
): Promise<void> {
  if ('hang' in answer) {
    await request.ended;
    return;
  }
  if ('destroy' in answer) return destroy(request, response);
  if ('status' in answer) {
    request.status = answer.status;
    const body =
      answer.body ?? wire.errorBody(answer.status, answer.message ?? `scripted ${answer.status}`, answer.code);
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
    response.end(body);
    return;
  }
  request.status = 200;
  const nonce = `${request.number}`.padStart(4, '0');
  if (!request.stream) {
    await answer.gate?.(0);
    response.writeHead(200, { 'content-type': 'application/json' }).end(wire.body(answer, request, nonce));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  await stream(wire, answer, wire.events(answer, request, nonce), request, response);
}

async function stream(
  wire: Wire,
  answer: ScriptedText,
  events: WireEvent[],
  request: SeenRequest,
  response: ServerResponse,
): Promise<void> {
  const limit = answer.breakAfter ?? answer.endAfter ?? answer.hangAfter ?? answer.errorAfter?.pieces ?? Infinity;
  let pieces = 0;
  /** What needs no waiting goes out in one write, as a real server's buffering does. */
  let pending = '';
  const flush = () => {
    if (pending === '' || response.destroyed) return;
    const text = pending;
    pending = '';
    return new Promise<void>((resolve) => response.write(text, () => resolve()));
  };
  for (const event of events) {
    if (pieces >= limit && (event.piece !== undefined || pieces > 0)) break;
    if (event.piece !== undefined) {
      if (answer.gate) {
        await flush();
        await answer.gate(event.piece);
      }
      pieces += 1;
    }
    pending += frame(event);
    if (response.destroyed) return;
  }
  if (answer.errorAfter) pending += frame(wire.errorEvent(answer.errorAfter.type, answer.errorAfter.message));
  await flush();
  if (answer.breakAfter !== undefined) return destroy(request, response);
  if (answer.hangAfter !== undefined) {
    await request.ended;
    return;
  }
  response.end();
}

function frame(event: WireEvent): string {
  return event.event ? `event: ${event.event}\ndata: ${event.data}\n\n` : `data: ${event.data}\n\n`;
}

function destroy(request: SeenRequest, response: ServerResponse): void {
  request.brokenByScript = true;
  response.socket?.destroy();
}
