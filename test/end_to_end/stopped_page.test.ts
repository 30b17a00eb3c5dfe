import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signIn } from '../support/page_person.ts';
import { bounded, startWorld } from './world.ts';

test('R75: after a stop the page does not show the half answer as one that is being written', bounded, async (t) => {
  const { world, model } = await startWorld(t);
  const { url } = world.gateway;
  const person = await signIn(url, await world.gateway.signInLink(null));
  const end = new AbortController();
  t.after(() => end.abort());
  const watch = async () => {
    const { body } = await fetch(`${url}/chat/api/events?after=0`, {
      headers: { cookie: person.cookie },
      signal: end.signal,
    });
    assert.ok(body);
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let seen = '';
    return async (words: string) => {
      while (!seen.includes(words)) seen += (await reader.read()).value ?? assert.fail('the page lost its events');
      return seen;
    };
  };
  model.script({ pieces: ['half ', 'an ', 'answer ', 'more'], hangAfter: 3 }, { text: 'done' });
  await person.post({ id: 'aaaaaaaa1', text: 'go' });
  await (await watch())('half an answer');
  await person.post({ id: 'aaaaaaaa2', text: '/stop' });
  assert.equal(await (await model.request(1)).ended, 'client');
  while ((await world.gateway.db.all(`select id from runs where state = 'cancelled'`)).length === 0)
    await new Promise((resolve) => setImmediate(resolve));
  const until = await watch();
  await until('Stopping.');
  await person.post({ id: 'aaaaaaaa3', text: 'again' });
  assert.doesNotMatch(await until('done'), /half/);
});
