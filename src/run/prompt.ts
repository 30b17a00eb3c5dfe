/**
 * Makes the model request of a run. The stable prefix is instructions, tools and earlier turns; what changes from run
 * to run comes after it and is persisted with the run, so that it is the same bytes in every request (M1).
 */
import { readFile } from 'node:fs/promises';
import type { Offer } from '../capability/attach.ts';
import type { Turn } from '../store/conversations.ts';
import { withApprovalMessage } from '../tools/approval_message.ts';
import type { ModelMessage, ModelRequest } from '../types/model.ts';
import type { Said, StepBody } from '../types/run.ts';
import type { AgentSpec, BindingSpec } from '../types/spec.ts';
import type { Work } from './parts.ts';

export function instructionsOf(spec: AgentSpec, binding: BindingSpec | null, offer: Offer): string {
  return [spec.instructions, binding?.prompt ?? '', ...offer.instructions]
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join('\n\n');
}

export type RequestParts = Pick<Work, 'spec' | 'binding' | 'offer' | 'history' | 'steps' | 'conversation'>;

export async function requestOf(parts: RequestParts): Promise<ModelRequest> {
  const stable: ModelMessage[] = [];
  if (parts.history.summary !== null)
    stable.push({ role: 'user', content: `[Summary of the earlier conversation]\n${parts.history.summary}` });
  for (const turn of parts.history.turns) stable.push(messageOfTurn(turn));
  const own: ModelMessage[] = [];
  for (const step of parts.steps) own.push(...(await messagesOfStep(step)));
  return {
    instructions: instructionsOf(parts.spec, parts.binding, parts.offer),
    tools: parts.offer.tools.map(({ tool, asks }) => ({
      name: tool.name,
      description: `${tool.description}\nReturns: ${tool.returns}`,
      inputSchema: asks ? withApprovalMessage(tool.inputSchema) : tool.inputSchema,
    })),
    messages: [...stable, ...own],
    stableMessages: stable.length,
    cacheKey: parts.conversation.id,
  };
}

export function messageOfTurn(turn: Turn): ModelMessage {
  return turn.role === 'user'
    ? { role: 'user', content: turn.text }
    : { role: 'assistant', text: turn.text, calls: [] };
}

async function messagesOfStep(step: StepBody): Promise<ModelMessage[]> {
  if (step.kind !== 'user') return [step.message];
  const messages: ModelMessage[] = [];
  if (step.reminder !== null) messages.push({ role: 'user', content: `[Context]\n${step.reminder}` });
  const images = (await Promise.all(step.messages.flatMap((said) => said.files).map(readImage))).flat();
  messages.push({
    role: 'user',
    content: wordsOfStep(step),
    ...(images.length > 0 ? { images } : {}),
  });
  return messages;
}

async function readImage(file: Said['files'][number]): Promise<{ mime: string; base64: string }[]> {
  if (file.image === undefined) return [];
  try {
    return [{ mime: file.mime, base64: (await readFile(file.image)).toString('base64') }];
  } catch {
    // Removed by retention: the words remain.
    return [];
  }
}

/** What people said in one step, as the model reads it. */
export function wordsOfStep(step: Extract<StepBody, { kind: 'user' }>): string {
  const parts: string[] = [];
  for (const said of step.messages) {
    if (said.text !== '') parts.push(withSpeaker(said.speaker, said.text));
    for (const file of said.files)
      parts.push(file.text === undefined ? `[image ${file.name}]` : `[file ${file.name}]\n${file.text}`);
  }
  for (const line of step.unread) parts.push(`[${line}]`);
  return parts.join('\n\n');
}

const withSpeaker = (speaker: string | null, text: string) => (speaker === null ? text : `${speaker}: ${text}`);
