/** Tells the failures of providers apart: who can do something about it, and whether trying again helps. */
import { ModelError } from '../base/errors.ts';
import type { ModelProfile } from '../types/model.ts';
import { keyVariables } from './known.ts';

/** One attempt that failed. The message never holds the key, the prompt, or the provider's own error object. */
export class AttemptFailure extends Error {
  readonly profile: string;
  readonly kind: ModelError['kind'];
  readonly retryable: boolean;
  readonly status: number | undefined;
  /** The provider asked to wait this long. */
  readonly retryAfterMs: number | undefined;
  readonly hint: string | undefined;
  constructor(
    profile: string,
    message: string,
    options: {
      kind: ModelError['kind'];
      retryable?: boolean;
      status?: number | undefined;
      retryAfterMs?: number | undefined;
      hint?: string | undefined;
    },
  ) {
    super(message);
    this.profile = profile;
    this.kind = options.kind;
    this.retryable = options.retryable ?? false;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.hint = options.hint;
  }
}

const tooLong =
  /context.?(length|window)|maximum context|prompt is too long|input is too long|too many (input )?tokens|request_too_large|exceeds? the (maximum|limit).{0,40}token|input token count/i;
const noCredit = /insufficient_quota|credit balance is too low|billing_hard_limit|payment required/i;
const badKey = /api.?key not valid|api_key_invalid|invalid api.?key|incorrect api key/i;
const passing = /overload|rate.?limit|server_error|internal|unavailable|time.?out|try again|capacity/i;
const refusedRequest = /invalid_request|invalid_argument|not_found|permission|authentication/i;

/** What can be read off an error of the SDK without importing its classes. */
interface ProviderError {
  name?: string;
  message?: unknown;
  code?: unknown;
  type?: unknown;
  status?: unknown;
  statusCode?: unknown;
  responseBody?: unknown;
  responseHeaders?: Record<string, string>;
}

/** `now` in epoch milliseconds, for Retry-After as a date. `sent`: the request went out, so it was not refused by us. */
export function failureOf(error: unknown, profile: ModelProfile, now: number, sent: boolean): AttemptFailure {
  const own = causesOf(error).find((cause) => cause instanceof AttemptFailure);
  if (own) return own;
  const seen: ProviderError = error !== null && typeof error === 'object' ? error : { message: error };
  const status = typeof seen.statusCode === 'number' && seen.statusCode >= 300 ? seen.statusCode : undefined;
  const words = [seen.message, seen.code, seen.type, seen.status, seen.responseBody]
    .map((part) => String(part ?? ''))
    .join(' ');
  const said = excerpt(String(seen.message ?? ''), profile.apiKey);
  const fail = (message: string, options: Omit<ConstructorParameters<typeof AttemptFailure>[2], 'status'>) =>
    new AttemptFailure(profile.name, `${describe(profile)}: ${message}`, { ...options, status });

  if (status === 402 || noCredit.test(words))
    return fail('the account at the provider has no credit left', {
      kind: 'misconfigured',
      hint: `add credit or a payment method to the provider account behind models.${profile.name}`,
    });
  if (status === 401 || status === 403 || badKey.test(words))
    return fail(
      status === 403 ? 'the provider does not allow this key to use the model' : 'the provider refused its API key',
      { kind: 'misconfigured', hint: keyHint(profile) },
    );
  if (status === 413 || (tooLong.test(words) && [undefined, 400, 422].includes(status)))
    return fail('the conversation is longer than the model can read', {
      kind: 'too_long',
      hint: 'start a new conversation, or use a model with a larger context_window',
    });
  if (status === 404 || status === 405)
    return fail(`the provider does not know this model or address (${status}: ${said})`, {
      kind: 'misconfigured',
      hint: `check models.${profile.name}.model and base_url${profile.baseUrl ? '; a base_url usually ends in /v1' : ''}`,
    });
  if (status !== undefined && status >= 300 && status < 400)
    return fail(`the server answered with a redirect (${status})`, {
      kind: 'misconfigured',
      hint: `set models.${profile.name}.base_url to the final address`,
    });
  if (status !== undefined && status >= 400 && status < 500 && ![408, 409, 425, 429].includes(status))
    return fail(`the provider refused the request (${status}: ${said})`, { kind: 'refused' });
  if (status !== undefined && status >= 400)
    return fail(`the provider is busy or broken (${status}: ${said})`, {
      kind: 'unavailable',
      retryable: true,
      retryAfterMs: retryAfterOf(seen.responseHeaders ?? {}, now),
    });
  if (!sent) return fail(`the request could not be made (${said})`, { kind: 'refused' });
  if (refusedRequest.test(words) && !passing.test(words))
    return fail(`the provider refused the request (${said})`, { kind: 'refused' });
  const reason = passing.test(words) ? said : networkReason(error) || said;
  return fail(`the provider did not answer in full (${reason})`, {
    kind: 'unavailable',
    retryable: true,
    hint: profile.baseUrl ? `is the server at models.${profile.name}.base_url running?` : undefined,
  });
}

/** How messages name a profile. */
export function describe(profile: ModelProfile): string {
  return `model profile "${profile.name}" (${profile.provider} ${profile.model})`;
}

/** Waits the provider asked for, in milliseconds; `retry-after-ms` (OpenAI) before `Retry-After` (seconds or a date). */
export function retryAfterOf(headers: Record<string, string>, now: number): number | undefined {
  const ms = Number(headers['retry-after-ms']);
  if (headers['retry-after-ms'] !== undefined && Number.isFinite(ms) && ms >= 0) return ms;
  const after = headers['retry-after'];
  if (after === undefined) return undefined;
  const seconds = Number(after);
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : undefined;
  const date = Date.parse(after);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The first failure says what is wrong; the others say why the fallbacks did not help. */
export function modelErrorOf(failures: AttemptFailure[]): ModelError {
  const [first, ...others] = failures as [AttemptFailure, ...AttemptFailure[]];
  const also = others.map((failure) => `; fallback ${failure.message}`).join('');
  return new ModelError(first.kind, `${first.message}${also}`, first.hint === undefined ? {} : { hint: first.hint });
}

function keyHint(profile: ModelProfile): string {
  const variable = keyVariables[profile.provider];
  const setting = `models.${profile.name}.api_key`;
  return variable
    ? `check ${setting}, usually the variable ${variable}, and that the key may use ${profile.model}`
    : `check ${setting}`;
}

/** A connection's error has its code at the bottom of the chain (ECONNREFUSED under "fetch failed"). */
function networkReason(error: unknown): string {
  for (const cause of causesOf(error).reverse()) {
    const { code } = cause as { code?: unknown };
    if (typeof code === 'string') return code;
  }
  return '';
}

function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let current = error; current instanceof Error && causes.length < 8; current = current.cause)
    causes.push(current);
  return causes;
}

const excerptCharsMax = 300;

/** One line of the provider's words, without the key and without anything that looks like one. */
function excerpt(text: string, apiKey: string | null): string {
  const clean = (apiKey !== null && apiKey.length > 0 ? text.replaceAll(apiKey, '[key]') : text)
    .replace(/\b(sk|pk|key|AIza)[-_A-Za-z0-9*]{8,}/g, '[key]')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  return clean.length > excerptCharsMax ? `${clean.slice(0, excerptCharsMax)}…` : clean || 'no reason given';
}
