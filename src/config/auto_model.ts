/**
 * `provider: auto`: the model the environment has. Keys are looked at when the file is loaded; Ollama is asked only
 * at start, since it takes a request.
 */
import type { ModelProfile } from '../types/model.ts';

export interface AutoChoice {
  provider: ModelProfile['provider'];
  model: string;
  apiKey: string | null;
  baseUrl: string | null;
  price: ModelProfile['price'];
  /** Why this one, for the line at start. */
  because: string;
}

const demo: AutoChoice = {
  provider: 'demo',
  model: 'demo',
  apiKey: null,
  baseUrl: null,
  price: { input: 0, cachedInput: 0, output: 0 },
  because: 'neither OPENAI_API_KEY nor ANTHROPIC_API_KEY is set and no Ollama answers',
};

/** Prices as published by the providers. */
const keyed: (Omit<AutoChoice, 'apiKey' | 'because'> & { variable: string })[] = [
  {
    variable: 'OPENAI_API_KEY',
    provider: 'openai',
    model: 'gpt-5.4',
    baseUrl: null,
    price: { input: 2.5, cachedInput: 0.25, output: 15 },
  },
  {
    variable: 'ANTHROPIC_API_KEY',
    provider: 'anthropic',
    model: 'claude-sonnet-5-5',
    baseUrl: null,
    price: { input: 2, cachedInput: 0.2, output: 10 },
  },
];

/** The choice by keys alone; null = only Ollama can tell. */
export function chooseByKey(env: NodeJS.ProcessEnv): AutoChoice | null {
  for (const { variable, ...choice } of keyed) {
    const apiKey = env[variable]?.trim();
    if (apiKey) return { ...choice, apiKey, because: `${variable} is set` };
  }
  return null;
}

const probeMs = 700;
const probeBytesMax = 1024 * 1024;

/** Asks Ollama for its models; demo when it does not answer within 0.7 s or has none. Never rejects. */
export async function chooseByOllama(env: NodeJS.ProcessEnv): Promise<AutoChoice> {
  const root = ollamaUrl(env.OLLAMA_HOST);
  if (root === null) return { ...demo, because: 'OLLAMA_HOST is not a host and port' };
  try {
    const response = await fetch(`${root}/api/tags`, { signal: AbortSignal.timeout(probeMs), redirect: 'error' });
    if (!response.ok) return demo;
    const listed = JSON.parse(await bounded(response)) as { models?: { name?: unknown }[] };
    const names = (listed.models ?? []).map((one) => one.name).filter((name) => typeof name === 'string');
    const model = names.find((name) => !/embed/i.test(name));
    if (model === undefined) return { ...demo, because: `Ollama at ${root} has no model; run "ollama pull" first` };
    return {
      ...demo,
      provider: 'openai_compatible',
      model,
      baseUrl: `${root}/v1`,
      because: `Ollama answers at ${root}`,
    };
  } catch {
    return demo;
  }
}

async function bounded(response: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > probeBytesMax) throw new Error('too long');
  }
  return text;
}

/** OLLAMA_HOST as Ollama reads it: a host, a port, both, or a URL; 0.0.0.0 means this machine. */
export function ollamaUrl(host: string | undefined): string | null {
  const value = host?.trim() || '127.0.0.1:11434';
  const withScheme = /^https?:\/\//.test(value)
    ? value
    : `http://${value.startsWith(':') ? `127.0.0.1${value}` : value}`;
  if (!URL.canParse(withScheme)) return null;
  const url = new URL(withScheme);
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  const named = /^https?:\/\//.test(value);
  if (url.port === '' && !named) url.port = '11434';
  return `${url.protocol}//${url.host}${url.pathname.replace(/\/$/, '')}`;
}
