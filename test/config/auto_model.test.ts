import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { chooseByKey, chooseByOllama, ollamaUrl } from '../../src/config/auto_model.ts';
import { formatIssue } from '../../src/config/issue.ts';
import { settleAuto } from '../../src/config/load.ts';
import { load } from './support.ts';

const yaml = `models:
  main: { provider: auto, max_output_tokens: 1000 }
  second: { provider: auto }
agents: { helper: { model: main, instructions: Help. } }
`;

/** A server that answers /api/tags; resolves with what OLLAMA_HOST would hold. */
async function ollama(t: TestContext, body: string, status = 200): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/api/tags' ? status : 404);
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('auto takes OpenAI before Anthropic, and an empty key is none', () => {
  assert.equal(chooseByKey({ OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b' })?.provider, 'openai');
  assert.equal(chooseByKey({ OPENAI_API_KEY: ' ', ANTHROPIC_API_KEY: 'b' })?.provider, 'anthropic');
  assert.equal(chooseByKey({}), null);
});

test('with a key, auto is settled when the file is loaded, and the key is a secret', (t) => {
  const loaded = load(t, yaml, { ANTHROPIC_API_KEY: 'sk-ant-1' });
  assert.deepEqual(loaded.undecided, []);
  assert.deepEqual(loaded.secretValues, ['sk-ant-1']);
  const { provider, model, apiKey, baseUrl, price, maxOutputTokens } = loaded.config.models.main!;
  assert.deepEqual(
    { provider, model, apiKey, baseUrl, price, maxOutputTokens },
    {
      provider: 'anthropic',
      model: 'claude-sonnet-5-5',
      apiKey: 'sk-ant-1',
      baseUrl: null,
      price: { input: 2, cachedInput: 0.2, output: 10 },
      maxOutputTokens: 1000,
    },
  );
  assert.equal(
    formatIssue(loaded.file, loaded.notices[0]!),
    'config.yaml:2 models.main: uses claude-sonnet-5-5, because ANTHROPIC_API_KEY is set',
  );
});

test('without a key, auto is the first model of Ollama that can chat', async (t) => {
  const host = await ollama(t, JSON.stringify({ models: [{ name: 'nomic-embed-text' }, { name: 'qwen3:8b' }] }));
  const loaded = load(t, yaml);
  assert.deepEqual(loaded.undecided, [
    { name: 'main', line: 2 },
    { name: 'second', line: 3 },
  ]);
  assert.equal(loaded.config.models.main?.provider, 'demo');
  const settled = await settleAuto(loaded, { OLLAMA_HOST: host });
  const { provider, model, baseUrl, apiKey, maxOutputTokens } = settled.config.models.main!;
  assert.deepEqual(
    { provider, model, baseUrl, apiKey, maxOutputTokens },
    {
      provider: 'openai_compatible',
      model: 'qwen3:8b',
      baseUrl: `http://${host}/v1`,
      apiKey: null,
      maxOutputTokens: 1000,
    },
  );
  assert.equal(settled.config.models.second?.model, 'qwen3:8b');
  assert.equal(
    formatIssue(settled.file, settled.notices[0]!),
    `config.yaml:2 models.main: uses qwen3:8b, because Ollama answers at http://${host}`,
  );
  assert.ok(Object.isFrozen(settled.config.models));
});

test('without a key and without Ollama, auto is demo and says why', async (t) => {
  const nobody = await ollama(t, 'gone', 500);
  const settled = await settleAuto(load(t, yaml), { OLLAMA_HOST: nobody });
  assert.equal(settled.config.models.main?.provider, 'demo');
  assert.equal(
    formatIssue(settled.file, settled.notices[0]!),
    'config.yaml:2 models.main: uses the offline demo model, because neither OPENAI_API_KEY nor ANTHROPIC_API_KEY is set and no Ollama answers',
  );
});

test('an Ollama that is empty, talks nonsense, or never ends is demo', { timeout: 10_000 }, async (t) => {
  const empty = await ollama(t, '{"models":[]}');
  assert.equal(
    (await chooseByOllama({ OLLAMA_HOST: empty })).because,
    `Ollama at http://${empty} has no model; run "ollama pull" first`,
  );
  assert.equal((await chooseByOllama({ OLLAMA_HOST: await ollama(t, '<html>') })).provider, 'demo');
  assert.equal((await chooseByOllama({ OLLAMA_HOST: await ollama(t, 'x'.repeat(2_000_000)) })).provider, 'demo');
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.after(() => silent.closeAllConnections());
  t.after(() => silent.close());
  const host = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  assert.equal((await chooseByOllama({ OLLAMA_HOST: host })).provider, 'demo');
});

test('OLLAMA_HOST is read as Ollama reads it', () => {
  assert.equal(ollamaUrl(undefined), 'http://127.0.0.1:11434');
  assert.equal(ollamaUrl('0.0.0.0'), 'http://127.0.0.1:11434');
  assert.equal(ollamaUrl('box.local'), 'http://box.local:11434');
  assert.equal(ollamaUrl('box.local:8080'), 'http://box.local:8080');
  assert.equal(ollamaUrl(':9999'), 'http://127.0.0.1:9999');
  assert.equal(ollamaUrl('https://ollama.example.com/base/'), 'https://ollama.example.com/base');
  assert.equal(ollamaUrl('not a host'), null);
});
