/** Money of model requests (rule 73), in USD. Null means the price is unknown and the sum is only "at least". */
import type { ModelProfile, ModelRequest, Usage } from '../types/model.ts';

/** No tokenizer of the supported providers makes more tokens of a text than this, apart from adversarial input. */
const bytesPerTokenMin = 3;

/** What the largest picture a provider accepts is charged as, in tokens, rounded up. */
const imageTokensMax = 5_000;

/** Anthropic charges input that it writes to its cache 1.25 times (docs.anthropic.com, prompt caching). */
const cacheWriteFactor = 1.25;

/** What a request cost. Cached input is priced apart; writing a cache is counted as plain input. */
export function costOf(profile: ModelProfile, usage: Usage): number | null {
  if (profile.price === null) return null;
  const cached = Math.min(usage.cachedInput, usage.input);
  const { price } = profile;
  return ((usage.input - cached) * price.input + cached * price.cachedInput + usage.output * price.output) / 1_000_000;
}

/** The most one attempt of this request can cost, to be reserved before it is made; `bytes` as of `requestBytes`. */
export function mostCost(profile: ModelProfile, bytes: number): number | null {
  if (profile.price === null) return null;
  const factor = profile.provider === 'anthropic' ? cacheWriteFactor : 1;
  const input = Math.min(Math.ceil(bytes / bytesPerTokenMin), profile.contextWindow);
  return (input * profile.price.input * factor + profile.maxOutputTokens * profile.price.output) / 1_000_000;
}

/** UTF-8 bytes of what the model will read, pictures counted by what they cost rather than by their size. */
export function requestBytes(request: ModelRequest): number {
  let bytes = Buffer.byteLength(request.instructions) + Buffer.byteLength(JSON.stringify(request.tools));
  for (const message of request.messages) {
    if (message.role === 'user') {
      bytes += Buffer.byteLength(message.content) + (message.images?.length ?? 0) * imageTokensMax * bytesPerTokenMin;
    } else if (message.role === 'tool') {
      for (const result of message.results) bytes += Buffer.byteLength(result.content) + result.name.length;
    } else {
      const { native, ...rest } = message;
      bytes += Buffer.byteLength(JSON.stringify(native ?? rest));
    }
  }
  return bytes;
}
