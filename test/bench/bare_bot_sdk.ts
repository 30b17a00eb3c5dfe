/**
 * The second baseline: the bare bot, asking the model through the provider package that the gateway uses, as most bots
 * are written. It stores nothing either.
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Bot } from 'grammy';

const [token, apiRoot, baseURL] = process.argv.slice(2) as [string, string, string];
const bot = new Bot(token, { client: { apiRoot } });
const model = createOpenAICompatible({ name: 'bare', apiKey: 'key', baseURL, includeUsage: true }).chatModel('test');

bot.on('message:text', (context) => {
  // Not awaited: grammY would otherwise answer one message after another.
  void answer(context.message.text).then((text) => context.reply(text));
});

async function answer(text: string): Promise<string> {
  const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text }] }] });
  let whole = '';
  for await (const part of stream) if (part.type === 'text-delta') whole += part.delta;
  return whole;
}

process.on('disconnect', () => process.exit());
void bot.start({
  onStart: () => {
    process.send?.({ ready: true });
  },
});
