/** What the run stage is handed by the composition, and what stands around one run while it is worked on. */
import type { ApprovalParts } from '../approvals/parts.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Offer } from '../capability/attach.ts';
import type { Pace } from '../outbox/pace.ts';
import type { StatusLine } from '../outbox/status.ts';
import type { AnswerStream } from '../outbox/stream.ts';
import type { Conversation } from '../store/conversations.ts';
import type { Db } from '../store/db.ts';
import type { Run, StopKind } from '../store/runs.ts';
import type { Policies, PolicyRun } from '../tools/facts.ts';
import type { Adapter } from '../types/adapter.ts';
import type { CapabilityPlugin } from '../types/capability.ts';
import type { Model, Usage } from '../types/model.ts';
import type { StepBody } from '../types/run.ts';
import type { Settings } from '../types/settings.ts';
import type { AgentSpec, BindingSpec } from '../types/spec.ts';
import type { ToolContext, ValueStore } from '../types/tool.ts';
import type { Words } from '../words/index.ts';
import type { History } from './history.ts';

export interface RunParts {
  db: Db;
  clock: Clock;
  log: Log;
  /** This process, as leases name it. */
  owner: string;
  settings: () => Settings;
  /** Those of the program and, as they are now, the skills. */
  capabilities: () => readonly CapabilityPlugin[];
  policies: Policies;
  modelOf: (profile: string) => Model;
  adapterOf: (channel: string) => Adapter | undefined;
  paceOf: (channel: string) => Pace | undefined;
  valuesOf: (agent: string, owner: ToolContext['owner']) => ValueStore;
  approvals: ApprovalParts;
  /** Values that must not be shown to anybody. */
  secrets: () => readonly string[];
  uploadsFolder: string;
  count: (
    name:
      | 'runs_completed'
      | 'runs_failed'
      | 'runs_cancelled'
      | 'runs_over_budget'
      | 'tool_calls'
      | 'tool_calls_refused',
  ) => void;
}

/** One run at work in this process. */
export interface Work {
  parts: RunParts;
  run: Run;
  log: Log;
  conversation: Conversation;
  spec: AgentSpec;
  binding: BindingSpec | null;
  adapter: Adapter;
  offer: Offer;
  /** What of this run decides about its tool calls. */
  policyRun: PolicyRun;
  model: Model;
  history: History;
  words: Words;
  steps: StepBody[];
  /**
   * The first step is not written yet: it goes with whatever the run commits first. Until a model has answered it, the
   * messages in the inbox are all there is to keep.
   */
  openingUnwritten: boolean;
  stream: AnswerStream;
  status: StatusLine;
  signal: AbortSignal;
  toolContext: Omit<ToolContext, 'toolUseId' | 'progress'>;
  /** Spent by failed attempts and summaries, booked with the next step (M3). */
  unbooked: { profile: string; usage: Usage }[];
  /** Active milliseconds of this run so far. */
  activeMs: () => number;
  /** Asks the loop to leave the run as it is persisted, for another process or the next start. */
  draining: () => boolean;
}

/** Why a run's signal was aborted. */
export class StopRequested extends Error {
  readonly how: StopKind;
  constructor(how: StopKind) {
    super('stopped by a person');
    this.name = 'StopRequested';
    this.how = how;
  }
}
export class RunTimeout extends Error {
  constructor() {
    super('the run took too long');
    this.name = 'RunTimeout';
  }
}
export class Draining extends Error {
  constructor() {
    super('the gateway is stopping');
    this.name = 'Draining';
  }
}
