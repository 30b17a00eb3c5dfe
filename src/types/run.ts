/** The durable run: its states and what its transcript is made of. */
import type { ModelMessage } from './model.ts';

/**
 * queued             its lane is reserved for it, nobody works on it
 * running            a process holds its lease
 * awaiting_approval  parked; its lane is free
 * completed          answered
 * failed             ended by an error that people were told about
 * cancelled          stopped by somebody, or its message was deleted
 * budget_exceeded    a cap would be passed
 * guardrail_blocked  a guard refused it
 */
export type RunState =
  | 'queued'
  | 'running'
  | 'awaiting_approval'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'budget_exceeded'
  | 'guardrail_blocked';

/** requested: decided, not begun. started: the effect may have happened. finished: it has a result. */
export type ToolCallState = 'requested' | 'started' | 'finished';

/** One step of the transcript, persisted before the next begins. */
export type StepBody =
  /** What people said: the opening messages (with what stands between the stable prefix and them), or a steered one. */
  | { kind: 'user'; reminder: string | null; messages: Said[]; unread: string[] }
  | {
      kind: 'assistant';
      message: Extract<ModelMessage, { role: 'assistant' }>;
      finish: string;
    }
  | { kind: 'results'; message: Extract<ModelMessage, { role: 'tool' }> };

export interface Said {
  /** The name to put before the words; null in direct chats. */
  speaker: string | null;
  text: string;
  /** Files the model can see: text is in the prompt, images are read from the uploads folder by this path. */
  files: { name: string; mime: string; text?: string; image?: string }[];
}
