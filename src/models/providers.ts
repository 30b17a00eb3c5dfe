/** Opens the provider of a profile; each SDK package is loaded when the first profile needs it. */
import type { OpenAIProvider } from '@ai-sdk/openai';
import { limits } from '../base/limits.ts';
import type { ModelProfile } from '../types/model.ts';
import { AttemptFailure, describe } from './failure.ts';
import { createFetch } from './transport.ts';

/** The SDK's language model, taken from a provider so that nothing but providers is imported. */
export type LanguageModel = ReturnType<OpenAIProvider['responses']>;
export type CallOptions = Parameters<LanguageModel['doStream']>[0];
export type PromptMessage = CallOptions['prompt'][number];
export type StreamPart =
  Awaited<ReturnType<LanguageModel['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;

/** `responses` and `chat` are the two wires of OpenAI. */
export type Wire = 'responses' | 'chat' | 'anthropic' | 'google';

/** A profile with its provider loaded. The SDK compiles schemas per model object, so one object serves all requests. */
export interface OpenProfile {
  profile: ModelProfile;
  /** A server behind `base_url` that does not know /responses is spoken to in chat completions from then on. */
  wire: Wire;
  /** A server that refused our replay of its own reasoning once is not sent any again. */
  refusesNative: boolean;
  model(wire: Wire): Promise<LanguageModel>;
}

const opened = new WeakMap<ModelProfile, OpenProfile>();

export function openProfile(profile: ModelProfile): OpenProfile {
  const existing = opened.get(profile);
  if (existing) return existing;
  const models = new Map<Wire, Promise<LanguageModel>>();
  const open: OpenProfile = {
    profile,
    wire: wireOf(profile),
    refusesNative: false,
    model(wire) {
      let model = models.get(wire);
      if (!model) {
        model = load(profile, wire);
        model.catch(() => models.delete(wire));
        models.set(wire, model);
      }
      return model;
    },
  };
  opened.set(profile, open);
  return open;
}

function wireOf(profile: ModelProfile): Wire {
  if (profile.provider === 'anthropic' || profile.provider === 'google') return profile.provider;
  return profile.provider === 'openai' ? 'responses' : 'chat';
}

/** Always an explicit address: the SDKs would else take one from variables such as OPENAI_BASE_URL. */
async function load(profile: ModelProfile, wire: Wire): Promise<LanguageModel> {
  const fetch = fetchOf(profile);
  const apiKey = profile.apiKey ?? 'none';
  if (wire === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    const baseURL = rooted(profile.baseUrl ?? 'https://api.anthropic.com', '/v1');
    return createAnthropic({ apiKey, baseURL, fetch })(profile.model);
  }
  if (wire === 'google') {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
    const baseURL = rooted(profile.baseUrl ?? 'https://generativelanguage.googleapis.com', '/v1beta');
    return createGoogleGenerativeAI({ apiKey, baseURL, fetch })(profile.model);
  }
  if (wire === 'responses') {
    const { createOpenAI } = await import('@ai-sdk/openai');
    const baseURL = rooted(profile.baseUrl ?? 'https://api.openai.com', '/v1');
    return createOpenAI({ apiKey, baseURL, fetch }).responses(profile.model);
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const baseURL = profile.provider === 'openai' ? rooted(profile.baseUrl ?? '', '/v1') : (profile.baseUrl ?? '');
  return createOpenAICompatible({ name: 'compatible', apiKey, baseURL, fetch, includeUsage: true }).chatModel(
    profile.model,
  );
}

/** An address without a path gets the one every server of that kind has. */
function rooted(address: string, path: string): string {
  const url = new URL(address);
  return url.pathname === '/' ? `${url.origin}${path}` : address;
}

const keyHeaders = ['authorization', 'x-api-key', 'x-goog-api-key'];

/** No key header if there is no key, and an answer that is bounded while it arrives. */
function fetchOf(profile: ModelProfile): typeof globalThis.fetch {
  return createFetch({
    headersLeftOut: profile.apiKey === null ? keyHeaders : [],
    answerBytesMax: limits.modelResponseBytesMax,
    tooLarge: () =>
      new AttemptFailure(
        profile.name,
        `${describe(profile)}: the answer is larger than ${limits.modelResponseBytesMax} bytes`,
        { kind: 'refused' },
      ),
  });
}
