import assert from 'node:assert/strict';
import { test } from 'node:test';
import { de } from '../../src/words/de.ts';
import { en } from '../../src/words/en.ts';
import { wordsFor } from '../../src/words/index.ts';
import { pt } from '../../src/words/pt.ts';
import { eachDatabase } from '../support/databases.ts';
import { createInboxWorld, sender } from '../support/inbox_world.ts';

test('every language says everything, and none repeats the English words', () => {
  for (const [name, words] of Object.entries({ de, pt })) {
    assert.deepEqual(Object.keys(words).sort(), Object.keys(en).sort(), name);
    for (const key of Object.keys(en) as (keyof typeof en)[])
      if (typeof en[key] === 'string') assert.notEqual(words[key], en[key], `${name}.${key}`);
  }
});

test('a person is spoken to in their language if we have it, else in the gateway’s', () => {
  assert.equal(wordsFor('de-AT', 'en'), de);
  assert.equal(wordsFor('pt-BR', 'en'), pt);
  assert.equal(wordsFor('fr', 'de'), de);
  assert.equal(wordsFor(null, 'xx'), en);
});

eachDatabase('notices come in the language of the person', async (_t, open) => {
  const world = createInboxWorld(await open());
  await world.say('ana', '/stop', { command: { name: 'stop', args: '' }, sender: sender('ana', { language: 'de' }) });
  await world.say('bob', '/stop', { command: { name: 'stop', args: '' } });
  assert.deepEqual(
    (await world.outbox()).map((line) => line.markdown),
    ['Hier läuft gerade nichts.', 'Nothing is running here.'],
  );
});
