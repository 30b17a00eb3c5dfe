/** Gathers what stands around a run before its first request, and its opening step. */
import { join } from 'node:path';
import { GatehouseError } from '../base/errors.ts';
import { attachCapabilities, gateOffer } from '../capability/attach.ts';
import type { Dispatched } from '../inbox/dispatch.ts';
import { showStatus } from '../outbox/status.ts';
import { openStream } from '../outbox/stream.ts';
import { findAccount } from '../store/accounts.ts';
import { readVersion } from '../store/agents.ts';
import { type Approval, pendingOfConversation } from '../store/approvals.ts';
import { readConversation } from '../store/conversations.ts';
import { type InboxRow, messagesOfRun } from '../store/inbox.ts';
import { settleLost } from '../store/ledger.ts';
import { findFirstPiece } from '../store/outbox.ts';
import { type Run, readSteps } from '../store/runs.ts';
import type { Said, StepBody } from '../types/run.ts';
import type { ToolContext } from '../types/tool.ts';
import { wordsFor } from '../words/index.ts';
import { readFiles } from './files.ts';
import type { RunParts, Work } from './parts.ts';

/** What a person said in one message. */
export function said(row: InboxRow, group: boolean): Said {
  return { speaker: group ? (row.payload?.speaker ?? null) : null, text: row.payload?.text ?? '', files: [] };
}

export async function openWork(
  parts: RunParts,
  run: Run,
  signal: AbortSignal,
  asked: Pick<Work, 'activeMs' | 'draining'>,
  known?: Dispatched,
): Promise<Work> {
  const { db, clock } = parts;
  const settings = parts.settings();
  const log = parts.log.child({ run: run.id, conversation: run.conversationId, channel: run.place.channel });
  const adapter = parts.adapterOf(run.place.channel);
  if (!adapter) throw new GatehouseError('unavailable', `channel ${run.place.channel} is not configured any more`);
  const current = settings.agents.get(run.agent);
  const spec =
    current?.version === run.agentVersion ? current.spec : await readVersion(db, run.agent, run.agentVersion);
  if (!spec) throw new GatehouseError('not_found', `agent ${run.agent} version ${run.agentVersion} is not stored`);
  const [conversation, account] = await Promise.all([
    known?.conversation ?? readConversation(db, run.conversationId),
    findAccount(db, run.place.channel, run.userId),
  ]);
  const words = wordsFor(account?.language, settings.language);
  const direct = conversation.audience === 'direct';
  const person = account && { id: account.personId, name: account.name };
  const facts = {
    audience: conversation.audience,
    person,
    timezone: settings.timezone,
    now: () => clock.now(),
  };
  const binding = settings.bindings.find((candidate) => candidate.id === run.binding) ?? null;
  const { audience, mode } = conversation;
  const offer = attachCapabilities(parts.capabilities(), spec, facts);
  gateOffer(offer, await parts.policies.stable({ spec, binding, audience, mode }, offer.tools));
  const again = run.claims > 1;
  const firstPiece = again ? ((await findFirstPiece(db, run.id))?.id ?? null) : null;
  if (again) await db.tx((q) => settleLost(q, run.id));
  const model = parts.modelOf(spec.model);
  const status = showStatus({ clock, log, adapter, place: run.place }, words.thinking);
  const stream = openStream({
    db,
    clock,
    log,
    adapter,
    enabled: binding?.stream !== false,
    pace: parts.paceOf(run.place.channel),
    runId: run.id,
    owner: parts.owner,
    place: run.place,
    direct,
    replyTo: run.replyTo,
    firstPiece,
  });
  // P1: whose store this run reaches follows from who hears the answer, never from an argument.
  const owner: ToolContext['owner'] = direct
    ? person && { kind: 'person', id: person.id }
    : { kind: 'chat', id: `${run.place.channel}:${run.place.chat}` };
  const work: Work = {
    parts,
    run,
    log,
    conversation,
    spec,
    binding,
    adapter,
    offer,
    policyRun: {
      spec,
      binding,
      audience,
      conversation: conversation.id,
      requester: person && { channel: run.place.channel, userId: run.userId, personId: person.id },
    },
    model,
    history: { summary: null, turns: [] },
    words,
    steps: again ? await readSteps(db, run.id) : [],
    openingUnwritten: false,
    stream,
    status,
    signal,
    toolContext: {
      agent: run.agent,
      owner,
      person,
      audience: conversation.audience,
      conversation: conversation.id,
      signal,
      log,
      now: () => clock.now(),
      values: parts.valuesOf(run.agent, owner),
    },
    unbooked: [],
    ...asked,
  };
  if (work.steps.length === 0)
    await gatherOpening(work, conversation.parked, known?.messages).catch((error) => {
      status.end();
      throw error;
    });
  return work;
}

/** One line for each request of this conversation that waits: its own transcript is the parked run's (DESIGN, Run). */
function parkedNotes(pending: readonly Approval[]): string[] {
  return pending.map(
    ({ tool, code }) =>
      `An earlier request here waits for a person to decide about ${tool} (${code}). It is not done, and not yours to repeat.`,
  );
}

async function gatherOpening(work: Work, parked: number, known?: readonly InboxRow[]): Promise<void> {
  const { parts, run } = work;
  const rows = known ?? (await messagesOfRun(parts.db, run.id));
  const group = work.conversation.audience !== 'direct';
  const messages: Said[] = [];
  const unread: string[] = [];
  for (const row of rows) {
    const message = said(row, group);
    const incoming = row.payload?.files ?? [];
    if (incoming.length > 0) {
      const folder = join(parts.uploadsFolder, run.id, row.id);
      const read = await readFiles(
        { adapter: work.adapter, log: work.log, words: work.words, folder, signal: work.signal },
        incoming,
      );
      message.files = read.files;
      unread.push(...read.unread);
    }
    messages.push(message);
  }
  const reminders = work.offer.reminders.map((reminder) => reminder().trim()).filter((text) => text !== '');
  if (parked > 0) reminders.push(...parkedNotes(await pendingOfConversation(parts.db, work.conversation.id)));
  const body: StepBody = {
    kind: 'user',
    reminder: reminders.length > 0 ? reminders.join('\n') : null,
    messages,
    unread,
  };
  work.openingUnwritten = true;
  work.steps.push(body);
}
