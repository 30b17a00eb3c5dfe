/** What deciding needs of the gateway, and what a question's cards look like on a platform. */
import type { Adapter, AdapterLimits, Features } from '../types/adapter.ts';
import type { Settings } from '../types/settings.ts';

export interface ApprovalParts {
  settings: () => Pick<Settings, 'language' | 'timezone' | 'admins' | 'channels'>;
  /** Undefined where no adapter is there: on the command line without a gateway, or after a reload. */
  adapterOf: (channel: string) => Pick<Adapter, 'features' | 'limits' | 'lookup'> | undefined;
  count: (name: 'approvals_asked' | 'approvals_decided' | 'approvals_expired' | 'approvals_withdrawn') => void;
}

export interface Surface {
  features: Pick<Features, 'buttons'>;
  limits: Pick<AdapterLimits, 'textLength' | 'measure' | 'buttonsPerMessage' | 'buttonsPerRow'>;
}

/** Fits every platform: what is shown where its adapter cannot be asked. */
const modest: Surface = {
  features: { buttons: true },
  limits: { textLength: 3_500, measure: (text) => text.length, buttonsPerMessage: 20, buttonsPerRow: 3 },
};

export function surfaceOf(parts: Pick<ApprovalParts, 'adapterOf'>, channel: string): Surface {
  return parts.adapterOf(channel) ?? modest;
}

/** A code is not used again in a chat for this long (rule 45). */
export const codeRestMs = 30 * 24 * 3_600_000;
/** Several questions of a step share a card, so many at most. */
export const questionsPerCardMax = 10;
/** Runs of one conversation that wait for people (rule 17). */
export const parkedRunsMax = 5;
/** What people may say with a decision. */
export const reasonCharsMax = 1_000;
export const answerCharsMax = 4_000;
/** A card that could not be delivered is sent again after this long (rule 51). */
export const cardAgainMs = 10 * 60_000;
