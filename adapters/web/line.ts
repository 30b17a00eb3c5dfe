/** One line of a chat: how it is kept in the journal and how it looks on the page. Pure. */
import type { JournalBody, JournalLine } from '../../src/types/adapter.ts';
import type { Button, Question } from '../../src/types/message.ts';
import { createRendering, escapeHtml } from './render.ts';

const { render } = createRendering();

/** `at` orders the lines: for an answer, when its first piece was seen. */
export interface Line {
  who: 'me' | 'bot';
  text: string;
  at: number;
  /** The previews this line takes the place of. */
  answerId?: string;
  /** Buttons below the words; none when it is decided. */
  question?: Question;
}

export function bodyOf(line: Line): JournalBody {
  return { ...line };
}

export function lineOf({ body, createdAt }: JournalLine): Line {
  return {
    who: body.who === 'me' ? 'me' : 'bot',
    text: typeof body.text === 'string' ? body.text : '',
    at: typeof body.at === 'number' ? body.at : createdAt,
    ...(typeof body.answerId === 'string' ? { answerId: body.answerId } : {}),
    // Only `bodyOf` writes there.
    ...(typeof body.question === 'object' && body.question !== null ? { question: body.question as Question } : {}),
  };
}

/** What the core calls a line of ours; with the time, so that an edited line keeps its place after a restart. */
export const refOf = (line: JournalLine): string => `${lineOf(line).at}:${line.key}`;

export function readRef(ref: string): { at: number; key: string } {
  const cut = ref.indexOf(':');
  return { at: Number(ref.slice(0, cut)), key: ref.slice(cut + 1) };
}

/** `/name rest` as the whole message. */
export function commandOf(text: string): { name: string; args: string } | null {
  const found = /^\/([a-z][a-z_]{0,30})(?:\s+([\s\S]*))?$/i.exec(text.trim());
  return found ? { name: (found[1] ?? '').toLowerCase(), args: (found[2] ?? '').trim() } : null;
}

export function lineHtml(line: JournalLine): string {
  const { who, text, at, answerId, question } = lineOf(line);
  const command = who === 'me' ? commandOf(text) : null;
  const begins = command?.name === 'new' && command.args === '';
  const kind = who === 'bot' ? 'bot' : begins ? 'me fence' : command ? 'me command' : 'me';
  const said = begins ? 'New conversation' : escapeHtml(text);
  const words = who === 'bot' ? `<div class="prose">${render(text)}</div>` : `<div class="words">${said}</div>`;
  const speaker = `<h2 class="unseen">${who === 'bot' ? 'Answer' : 'You'}</h2>`;
  const answer = answerId === undefined ? '' : ` data-answer="${escapeHtml(answerId)}"`;
  return (
    `<article class="line ${kind}" data-key="${escapeHtml(line.key)}" data-seq="${line.seq}" data-at="${at}"${answer}>` +
    `${speaker}${words}${question ? choicesHtml(refOf(line), question.buttons) : ''}` +
    `<footer>${timeHtml(at)}</footer></article>`
  );
}

/** The page sends `data-ref` and `data-press` back as they are. */
function choicesHtml(ref: string, rows: readonly Button[][]): string {
  if (rows.length === 0) return '';
  const button = ({ data, label, style }: Button) =>
    `<button type="button" class="choice ${style}" data-press="${escapeHtml(data)}">${escapeHtml(label)}</button>`;
  const lines = rows.map((row) => `<div class="row">${row.map(button).join('')}</div>`);
  return `<div class="choices" role="group" aria-label="Your decision" data-ref="${escapeHtml(ref)}">${lines.join('')}</div>`;
}

/** Others get their turn between two lines: two hundred long ones take half a second. */
export async function linesHtml(lines: readonly JournalLine[]): Promise<string[]> {
  const rendered: string[] = [];
  for (const line of lines) {
    rendered.push(lineHtml(line));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return rendered;
}

/** The page shows it in the reader's zone; without its script it is UTC. */
function timeHtml(at: number): string {
  const iso = new Date(at).toISOString();
  return `<time datetime="${iso}">${iso.slice(11, 16)} UTC</time>`;
}
