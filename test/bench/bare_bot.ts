/** The baseline: a grammY bot that asks the same model for every message and stores nothing. */
import { Bot } from 'grammy';

const [token, apiRoot, model] = process.argv.slice(2) as [string, string, string];
const bot = new Bot(token, { client: { apiRoot } });

bot.on('message:text', (context) => {
  // Not awaited: grammY would otherwise answer one message after another.
  void answer(context.message.text).then((text) => context.reply(text));
});

async function answer(text: string): Promise<string> {
  const response = await fetch(`${model}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer key' },
    body: JSON.stringify({ model: 'test', stream: true, messages: [{ role: 'user', content: text }] }),
  });
  let whole = '';
  for (const line of (await response.text()).split('\n')) {
    if (!line.startsWith('data: {')) continue;
    whole += JSON.parse(line.slice(6)).choices?.[0]?.delta?.content ?? '';
  }
  return whole;
}

process.on('disconnect', () => process.exit());
void bot.start({
  onStart: () => {
    process.send?.({ ready: true });
  },
});
