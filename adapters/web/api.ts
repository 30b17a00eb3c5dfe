/** What the page asks for, below /chat. The core has checked Host, Origin and the session (rule 93). */
import { messageOf } from '../../src/base/errors.ts';
import type { AdapterContext, ChannelRequest, Receipt } from '../../src/types/adapter.ts';
import type { Decision, InboundEvent, IncomingMessage } from '../../src/types/message.ts';
import { loadAssets } from './assets.ts';
import { openEvents } from './events.ts';
import { bodyOf, commandOf, lineOf, linesHtml } from './line.ts';
import { pageHtml } from './page.ts';
import { type Press, readMessage, readPress } from './requests.ts';
import type { Room } from './room.ts';

/** Lines shown when the page opens, and lines of one answer of the API. */
const linesMax = 200;

export interface ApiParts {
  context: AdapterContext;
  roomOf(chat: string): Room;
  /** Resolves when the event is stored; rejects when the page must send it again. */
  accept(event: InboundEvent): Promise<Receipt | undefined>;
}

type Who = NonNullable<ChannelRequest['session']>;

export function createApi({ context, roomOf, accept }: ApiParts) {
  const { journal, clock, log } = context;
  const assets = loadAssets();
  const open = new Set<() => void>();

  async function handle({ request, path, session }: ChannelRequest): Promise<Response> {
    if (!session) return problem(401, 'You are signed in for another channel. Ask for a link for this one.');
    const route = `${request.method === 'HEAD' ? 'GET' : request.method} ${path}`;
    if (route.startsWith('GET /assets/')) return assets.serve(path.slice('/assets/'.length), request) ?? missing();
    switch (route) {
      case 'GET /':
        return page(request, session);
      case 'GET /api/messages':
        return messages(request, session);
      case 'GET /api/events':
        return events(request, session);
      case 'POST /api/messages':
        return post(request, session, null);
      case 'POST /api/presses':
        return press(request, session);
      case 'POST /api/stop':
        return post(request, session, '/stop');
      case 'POST /api/new':
        return post(request, session, '/new');
      default:
        return missing();
    }
  }

  async function page(request: Request, { account, name }: Who): Promise<Response> {
    const lines = await journal.read(account, { latest: true, limit: linesMax });
    const after = Math.max(0, ...lines.map(({ seq }) => seq));
    const shown = [...lines].sort((a, b) => lineOf(a).at - lineOf(b).at || a.seq - b.seq);
    const theme =
      /(?:^|;\s*)gatehouse_theme=(light|dark)(?:;|$)/.exec(request.headers.get('cookie') ?? '')?.[1] ?? null;
    const rendered = await linesHtml(shown);
    const html = pageHtml({ name, account, theme, after, lines: rendered, cut: lines.length === linesMax });
    return new Response(html, { headers: { 'Content-Type': 'text/html; charset=utf-8' } });
  }

  async function messages(request: Request, { account }: Who): Promise<Response> {
    const lines = await journal.read(account, { after: positionOf(request), limit: linesMax });
    const rendered = await linesHtml(lines);
    return Response.json(
      lines.map((line, i) => ({ seq: line.seq, key: line.key, ...lineOf(line), html: rendered[i] })),
    );
  }

  function events(request: Request, { account }: Who): Response {
    const stream = openEvents({
      room: roomOf(account),
      journal,
      chat: account,
      after: positionOf(request),
      clock,
      onClose: () => open.delete(stream.close),
    });
    open.add(stream.close);
    const headers = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' };
    return new Response(stream.body, { headers });
  }

  /**
   * The person's line first, then the event, then 202: a page that got no answer sends the same id again, and both
   * know it already.
   */
  async function post(request: Request, { account, name }: Who, command: string | null): Promise<Response> {
    const sent = await readMessage(request, command);
    if ('status' in sent) return problem(sent.status, sent.error);
    try {
      const at = clock.now();
      const line = await journal.append(account, `u:${sent.id}`, bodyOf({ who: 'me', text: sent.text, at }));
      roomOf(account).linesChanged();
      await accept(messageEvent({ account, name }, sent.id, lineOf(line)));
      return Response.json({ seq: line.seq, key: line.key }, { status: 202 });
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'a message of the chat page could not be stored');
      return problem(503, 'The gateway cannot take messages right now. Yours is kept here and sent again.');
    }
  }

  /** The answer is for whoever pressed and nobody else (rule 46). The same id again is the same press. */
  async function press(request: Request, who: Who): Promise<Response> {
    const sent = await readPress(request);
    if ('status' in sent) return problem(sent.status, sent.error);
    try {
      const receipt = await accept(pressEvent(who, sent, clock.now()));
      return Response.json({ notice: receipt?.notice ?? null });
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'a press on the chat page could not be stored');
      return problem(503, 'The gateway cannot take decisions right now. Nothing is decided; press again.');
    }
  }

  return {
    handle,
    close() {
      for (const close of [...open]) close();
    },
  };
}

function messageEvent({ account, name }: Who, id: string, line: { text: string; at: number }): IncomingMessage {
  const command = commandOf(line.text);
  return {
    kind: 'message',
    key: `m:${account}:${id}`,
    chat: { id: account, kind: 'direct' },
    messageId: `u:${id}`,
    sender: { id: account, name, kind: 'human', membership: 'full' },
    text: line.text,
    mentionsBot: false,
    ...(command ? { command } : {}),
    files: [],
    sentAt: line.at,
  };
}

function pressEvent({ account, name }: Who, { id, ref, data }: Press, now: number): Decision {
  return {
    kind: 'decision',
    key: `press:${account}:${id}`,
    chat: { id: account, kind: 'direct' },
    ref,
    sender: { id: account, name, kind: 'human', membership: 'full' },
    data,
    sentAt: now,
  };
}

/** `Last-Event-ID` is fresher than the address, which keeps the position of the first connection. */
function positionOf(request: Request): number {
  const asked = new URL(request.url).searchParams.get('after');
  const positions = [asked, request.headers.get('last-event-id')].map(Number);
  return Math.max(0, ...positions.filter((position) => Number.isSafeInteger(position)));
}

function problem(status: number, error: string): Response {
  const headers: Record<string, string> = status === 503 ? { 'Retry-After': '2' } : {};
  return Response.json({ error }, { status, headers });
}

const missing = (): Response => problem(404, 'Nothing here.');
