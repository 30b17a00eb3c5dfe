import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place, startChat } from './support.ts';
import { connected, openTab, options, watch } from './tab.ts';

test('R93, R85: sign in by the link, write, watch the answer grow, read it whole', options, async (t) => {
  const chat = await startChat(t);
  const tab = await openTab(t, chat);
  await tab.page.getByText('What can I do for you?').waitFor();

  const arrived = chat.nextMessage();
  await tab.write('How are **you**?');
  assert.equal((await arrived).text, 'How are **you**?');
  await tab.sees('How are **you**?');
  await chat.adapter.setStatus?.(place('ada'), { text: 'Looking it up' });
  await tab.page.getByText('Looking it up').waitFor();
  assert.equal(await tab.page.getByText('What can I do for you?').isVisible(), false);

  for (const piece of ['I am', 'I am **well**', 'I am **well**, and']) {
    await chat.adapter.preview?.(place('ada'), 'run1', piece);
    await tab.page.locator('.live', { hasText: piece.replaceAll('*', '') }).waitFor();
  }
  await chat.adapter.setStatus?.(place('ada'), null);
  await chat.answer('ada', 'out1', 'I am **well**, and you?', 'run1');
  await tab.sees('I am well, and you?');
  assert.deepEqual(await tab.words(), ['How are **you**?', 'I am well, and you?']);
  await tab.page.locator('#status').waitFor({ state: 'hidden' });
  await tab.page.locator('#stop').waitFor({ state: 'hidden' });
  assert.equal(await tab.page.inputValue('#words'), '');
  assert.deepEqual(tab.troubles, []);
});

test('R85: the final line takes the place of the growing one without a gap or a double', options, async (t) => {
  const chat = await startChat(t);
  const tab = await openTab(t, chat);
  await chat.adapter.preview?.(place('ada'), 'run1', 'Once');
  await tab.page.locator('.live').waitFor();
  await tab.evaluate(`window.counts = []; new MutationObserver(() =>
    window.counts.push(document.querySelectorAll('.line.bot').length)).observe(document.getElementById('log'), { childList: true })`);
  await chat.adapter.preview?.(place('ada'), 'run1', 'Once upon');
  await chat.answer('ada', 'out1', 'Once upon a time', 'run1');
  await tab.page.locator('.line.bot:not(.live)').waitFor();
  await chat.answer('ada', 'out2', 'next');
  await tab.sees('next');
  assert.deepEqual(await tab.evaluate('window.counts'), [1, 2]);
});

test('R75: the stop button and Esc ask to stop', options, async (t) => {
  const chat = await startChat(t);
  const tab = await openTab(t, chat);
  await chat.adapter.preview?.(place('ada'), 'run1', 'A very long');
  await tab.page.locator('.live').waitFor();
  const clicked = chat.nextMessage();
  await tab.page.click('#stop');
  assert.deepEqual((await clicked).command, { name: 'stop', args: '' });
  const pressed = chat.nextMessage();
  await tab.page.keyboard.press('Escape');
  assert.deepEqual((await pressed).command, { name: 'stop', args: '' });
});

test('keys: Shift+Enter breaks the line, / goes to the box, a prompt is sent, New is a command', options, async (t) => {
  const chat = await startChat(t);
  const tab = await openTab(t, chat);
  const lines = chat.nextMessage();
  await tab.page.click('#words');
  await tab.page.keyboard.type('one');
  await tab.page.keyboard.press('Shift+Enter');
  await tab.page.keyboard.type('two');
  await tab.page.keyboard.press('Enter');
  assert.equal((await lines).text, 'one\ntwo');

  await tab.evaluate('document.activeElement.blur()');
  await tab.page.keyboard.press('/');
  assert.equal(await tab.evaluate('document.activeElement.id'), 'words');
  assert.equal(await tab.page.inputValue('#words'), '');

  const renewed = chat.nextMessage();
  await tab.page.click('#new');
  assert.deepEqual((await renewed).command, { name: 'new', args: '' });

  const fresh = await startChat(t);
  const other = await openTab(t, fresh);
  const prompt = fresh.nextMessage();
  await other.page.getByRole('button', { name: 'What can you do?' }).click();
  assert.equal((await prompt).text, 'What can you do?');
});

test('New draws a line, live and after a reload, and the page begins empty below it', options, async (t) => {
  const chat = await startChat(t);
  const tab = await openTab(t, chat);
  for (const text of ['one', 'two', 'three']) {
    const arrived = chat.nextMessage();
    await tab.write(text);
    await arrived;
  }
  await tab.page.click('#new');
  await tab.sees('New conversation');
  const fromTop = `document.querySelector('.line.fence').getBoundingClientRect().top -
    document.querySelector('#scroll').getBoundingClientRect().top`;
  const top = await tab.evaluate<number>(fromTop);
  assert.ok(top >= -20 && top <= 20, `${top} px from the top`);
  assert.deepEqual(await tab.words(), ['one', 'two', 'three', 'New conversation']);

  await tab.page.reload();
  await connected(tab.page);
  assert.deepEqual(await tab.words(), ['one', 'two', 'three', 'New conversation']);
  const again = await tab.evaluate<number>(fromTop);
  assert.ok(again >= -20 && again <= 20, `${again} px from the top after a reload`);
});

test('R37: what others wrote runs nothing and loads nothing', options, async (t) => {
  const chat = await startChat(t);
  const tab = await openTab(t, chat);
  const requests: string[] = [];
  tab.page.on('request', (request) => requests.push(request.url()));
  const attack =
    '<img src=x onerror="window.hit=1"><script>window.hit=1</script> [a](javascript:window.hit=1) ![p](https://evil.example/pixel.png) <svg onload=window.hit=1>';
  await tab.write(attack);
  await tab.sees('onerror');
  await chat.adapter.preview?.(place('ada'), 'run1', attack);
  await tab.page.locator('.live').waitFor();
  await chat.answer('ada', 'out1', `${attack}\n\n\`\`\`"><script>window.hit=1</script>\n<b>\n\`\`\``, 'run1');
  await tab.page.locator('.line.bot:not(.live)').waitFor();
  for (const link of await tab.page.locator('#log a').all()) {
    assert.match((await link.getAttribute('href')) ?? '', /^https:\/\/evil\.example\/pixel\.png$/);
    assert.equal(await link.getAttribute('rel'), 'noopener noreferrer');
  }
  await tab.page.reload();
  await connected(tab.page);
  assert.equal(await tab.evaluate('window.hit ?? null'), null);
  assert.equal(await tab.page.locator('#log :is(img, script, svg, iframe, b)').count(), 0);
  assert.deepEqual(
    requests.filter((url) => !url.startsWith(chat.url)),
    [],
  );
  assert.deepEqual(tab.troubles, []);
});

test('D3: after a lost connection the page catches up, each line once', options, async (t) => {
  const chat = await startChat(t);
  const tab = await openTab(t, chat);
  await chat.answer('ada', 'out1', 'before');
  await tab.sees('before');
  await tab.page.context().setOffline(true);
  await chat.adapter.close?.();
  await tab.page.waitForSelector('#link[data-state=down]');
  await chat.answer('ada', 'out2', 'meanwhile one');
  await chat.answer('ada', 'out3', 'meanwhile two');
  await tab.page.context().setOffline(false);
  await tab.sees('meanwhile two');
  await chat.adapter.close?.();
  await chat.answer('ada', 'out4', 'after');
  await tab.sees('after');
  await connected(tab.page);
  assert.deepEqual(await tab.words(), ['before', 'meanwhile one', 'meanwhile two', 'after']);
});

test('D1: a message whose sending or whose receipt is lost arrives once, also over a reload', options, async (t) => {
  const chat = await startChat(t);
  const tab = await openTab(t, chat);
  let posts = 0;
  const lost = new Promise<void>((resolve) => {
    void tab.page.route('**/chat/api/messages', async (route) => {
      posts++;
      if (posts === 1) return route.abort();
      if (posts === 2) {
        // The gateway has it, the page does not know.
        await route.fetch();
        await route.abort();
        return resolve();
      }
      await route.continue();
    });
  });
  const acknowledged = tab.page.waitForResponse((response) => response.status() === 202);
  await tab.write('only once');
  await lost;
  assert.equal(chat.kept().length, 1);
  await acknowledged;

  chat.broken = true;
  await tab.write('kept in the tab');
  await tab.page.locator('.line[data-seq]', { hasText: 'kept in the tab' }).waitFor();
  await tab.page.reload();
  chat.broken = false;
  await connected(tab.page);
  await chat.answer('ada', 'out1', 'the end');
  await tab.sees('the end');
  while (chat.kept().length < 2) await chat.nextMessage();
  assert.deepEqual(
    chat.kept().map(({ text }) => text),
    ['only once', 'kept in the tab'],
  );
  assert.deepEqual((await tab.words()).sort(), ['kept in the tab', 'only once', 'the end']);
});

test('a message that is refused goes back into the box with the reason', options, async (t) => {
  const chat = await startChat(t);
  const tab = await openTab(t, chat);
  const long = 'x'.repeat(64_001);
  await tab.write(long);
  await tab.page.locator('.toast', { hasText: '64,000 fit' }).waitFor();
  assert.equal((await tab.page.inputValue('#words')).length, 64_001);
  assert.deepEqual(await tab.words(), []);
  assert.deepEqual(chat.arrived, []);
});

test('two tabs of one person show the same', options, async (t) => {
  const chat = await startChat(t);
  const tab = await openTab(t, chat);
  const other = watch(await tab.page.context().newPage());
  await other.page.goto(`${chat.url}/chat`);
  await connected(other.page);
  await tab.write('from the first');
  await other.sees('from the first');
  await other.write('from the second');
  await tab.sees('from the second');
  await chat.answer('ada', 'out1', 'to both');
  await Promise.all([tab.sees('to both'), other.sees('to both')]);
  const expected = ['from the first', 'from the second', 'to both'];
  assert.deepEqual(await tab.words(), expected);
  assert.deepEqual(await other.words(), expected);
});

const paper = 'getComputedStyle(document.body).backgroundColor';

test('light and dark: the system first, the button over it, also after a reload', options, async (t) => {
  const chat = await startChat(t);
  const tab = await openTab(t, chat, { colorScheme: 'dark' });
  assert.equal(await tab.evaluate(paper), 'rgb(22, 24, 27)');
  await tab.page.click('#theme');
  assert.equal(await tab.evaluate(paper), 'rgb(251, 250, 248)');
  await tab.page.reload();
  assert.equal(await tab.evaluate(paper), 'rgb(251, 250, 248)');
  await tab.page.click('#theme');
  assert.equal(await tab.evaluate(paper), 'rgb(22, 24, 27)');
  await tab.page.reload();
  await tab.page.emulateMedia({ colorScheme: 'light' });
  assert.equal(await tab.evaluate(paper), 'rgb(251, 250, 248)');
});

const wide = `A word: ${'long'.repeat(60)}

\`\`\`
${'code '.repeat(60)}
\`\`\`

| ${'column | '.repeat(12)}
|${'--|'.repeat(12)}
| ${'value | '.repeat(12)}

https://example.com/${'path/'.repeat(40)}`;

test('on a phone nothing scrolls sideways', options, async (t) => {
  const chat = await startChat(t);
  const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };
  const tab = await openTab(t, chat, phone);
  await tab.write(`mine ${'wide'.repeat(60)}`);
  await chat.answer('ada', 'out1', wide);
  await tab.page.locator('.line.bot').waitFor();
  const widths = await tab.evaluate(`[innerWidth, document.documentElement.scrollWidth,
    document.getElementById('scroll').scrollWidth, ...[...document.querySelectorAll('.bar, .dock, .line')].map((e) => Math.ceil(e.getBoundingClientRect().right))]`);
  for (const width of widths as number[]) assert.ok(width <= 360, JSON.stringify(widths));
  const shot = await tab.page.screenshot();
  assert.equal(shot.readUInt32BE(16), 360);
});

test('reading above stays where it is; the button leads to the newest', options, async (t) => {
  const chat = await startChat(t);
  for (let n = 0; n < 40; n++) await chat.answer('ada', `old${n}`, `old line ${n}`);
  const tab = await openTab(t, chat);
  const top = () => tab.evaluate<number>("document.getElementById('scroll').scrollTop");
  const atEnd =
    "(() => { const s = document.getElementById('scroll'); return s.scrollHeight - s.scrollTop - s.clientHeight < 2 })()";
  assert.equal(await tab.evaluate(atEnd), true);
  await tab.evaluate("document.getElementById('scroll').scrollTop = 100");
  await tab.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  await chat.answer('ada', 'new1', 'news');
  await tab.page.locator('#jump').waitFor();
  assert.equal(await top(), 100);
  await tab.page.click('#jump');
  assert.equal(await tab.evaluate(atEnd), true);
  await tab.page.locator('#jump').waitFor({ state: 'hidden' });
});

test('code is copied byte for byte', options, async (t) => {
  const chat = await startChat(t);
  const tab = await openTab(t, chat, { permissions: ['clipboard-read', 'clipboard-write'] });
  await chat.answer('ada', 'out1', '```js\nconst a = "<b>";\t// &amp;\n```');
  await tab.page.click('.copy');
  await tab.page.locator('.copy', { hasText: 'Copied' }).waitFor();
  assert.equal(await tab.evaluate('navigator.clipboard.readText()'), 'const a = "<b>";\t// &amp;');
});

test('R93: signing out ends it here and in the other tab', options, async (t) => {
  const chat = await startChat(t);
  const tab = await openTab(t, chat);
  const other = watch(await tab.page.context().newPage());
  await other.page.goto(`${chat.url}/chat`);
  await connected(other.page);
  await tab.page.click('#leave');
  await tab.page.getByText('npm run gatehouse -- link').waitFor();
  await other.page.waitForSelector('#link[data-state=out]');
  await tab.page.goto(`${chat.url}/chat`);
  await tab.page.getByText('Please sign in').waitFor();
});
