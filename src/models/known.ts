/** The variable that usually holds the key of a provider; those without one need no key. */
export const keyVariables: Record<string, string> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
};

/** Context windows as the providers publish them; a profile's `context_window` wins. */
const known: [RegExp, number][] = [
  [/^gpt-5/, 400_000],
  [/^gpt-4\.1/, 1_000_000],
  [/^o[134](-|$)/, 200_000],
  [/^gemini-/, 1_000_000],
  [/claude-/, 200_000],
  [/^mistral-(large|medium)/, 128_000],
  [/^(llama3|llama-3|qwen)/, 128_000],
];

const contextWindowDefault = 128_000;

/** Tokens of prompt and answer together. Takes the provider's model name, also behind a router's prefix ("openai/gpt-5"). */
export function contextWindowOf(model: string): number {
  const name = model.slice(model.lastIndexOf('/') + 1);
  return known.find(([pattern]) => pattern.test(name))?.[1] ?? contextWindowDefault;
}
