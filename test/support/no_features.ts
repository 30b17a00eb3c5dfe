import type { Features } from '../../src/types/adapter.ts';

/** A platform that can do nothing but send: tests switch on what they need. */
export const noFeatures: Features = {
  buttons: false,
  edits: false,
  streaming: false,
  threads: false,
  typing: false,
  reactions: false,
  files: false,
  history: false,
  directory: false,
  ephemeral: false,
  deletions: false,
  reconcile: false,
};
