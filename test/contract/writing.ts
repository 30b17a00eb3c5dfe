/** How the model's Markdown looks to people. */
import assert from 'node:assert/strict';
import type { Case } from './adapter_suite.ts';
import type { Seen } from './driver.ts';
import { need, type Stage } from './stage.ts';

async function shown(stage: Stage, markdown: string): Promise<Seen> {
  const spot = stage.platform.direct(stage.platform.person('Alice'));
  await stage.send(spot, markdown);
  const seen = await stage.platform.seen(spot);
  assert.equal(seen.length, 1);
  return seen[0]!;
}

const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Contents of which as much is sent as `measure` lets through: the platform counts them in different ways. */
const contents = ['x', '😀', '&', '<', 'é', '**b** ', '`c` ', '[l](https://example.org/) ', 'line\n\n'];

export const writing = {
  'R84: bold, italics and strikethrough survive': {
    async run(stage) {
      const seen = await shown(stage, 'This is **very bold**, *in italics* and ~~not so~~ plain.');
      assert.equal(seen.text.trim(), 'This is very bold, in italics and not so plain.');
      assert.deepEqual([seen.bold, seen.italic, seen.strike], [['very bold'], ['in italics'], ['not so']]);
    },
  },

  'R84: words with marks in them are shown as they are': {
    async run(stage) {
      const words = 'a_b_c 2 * 3 * 4 <b>not bold</b> &amp; #1 snake_case_name (v1.2)!';
      assert.equal((await shown(stage, words.replace('&amp;', '&amp;amp;'))).text.trim(), words);
    },
  },

  'R84: code survives byte for byte': {
    async run(stage) {
      const block = 'if (a < b && c > d) {\n  return `*x*` + "_y_" + \'@all\';\n}\n\n  # not a heading &lt; \\n';
      const seen = await shown(stage, `Run \`rm -rf *_<x>\` or:\n\n\`\`\`js\n${block}\n\`\`\`\n\nThat is all.`);
      assert.deepEqual(seen.blocks, [block]);
      assert.deepEqual(seen.code, ['rm -rf *_<x>']);
      assert.deepEqual([seen.bold, seen.italic], [[], []]);
    },
  },

  'R84: tabs in code survive': {
    async run(stage) {
      assert.deepEqual((await shown(stage, '```make\nall:\n\tcc main.c\n```')).blocks, ['all:\n\tcc main.c']);
    },
  },

  'R84: links keep their words and where they lead': {
    async run(stage) {
      const seen = await shown(stage, 'See [the *docs*](https://docs.example.org/a_b?c=1&d=2) for more.');
      assert.deepEqual(seen.links, [{ label: 'the docs', url: 'https://docs.example.org/a_b?c=1&d=2' }]);
    },
  },

  'R37: a link that could run something is only words': {
    async run(stage) {
      const seen = await shown(stage, 'Do [click here](javascript:alert(1)) and [this](data:text/html,x).');
      assert.deepEqual(seen.links, []);
      assert.match(seen.text, /click here/);
    },
  },

  'R84: lists keep their items and order': {
    async run(stage) {
      const seen = await shown(stage, 'Do:\n\n1. first thing\n2. second thing\n   - detail\n3. third thing');
      const lines = linesOf(seen.text).filter((line) => /thing|detail/.test(line));
      assert.deepEqual(
        lines.map((line) => line.match(/(?:first|second|third) thing|detail/)?.[0]),
        ['first thing', 'second thing', 'detail', 'third thing'],
      );
    },
  },

  'R84: a table keeps its rows and cells': {
    async run(stage) {
      const seen = await shown(stage, '| City | People |\n|---|---:|\n| Oslo | 700,000 |\n| Rome | 2,800,000 |');
      const rows = linesOf(seen.text).filter((line) => /City|Oslo|Rome/.test(line));
      assert.equal(rows.length, 3);
      for (const [index, cells] of [/City.*People/, /Oslo.*700,000/, /Rome.*2,800,000/].entries())
        assert.match(rows[index]!, cells);
    },
  },

  'R37, R84: words ping nobody': {
    async run(stage) {
      const { platform } = stage;
      await stage.start();
      const [alice, bob] = [platform.person('Alice'), platform.person('Bob')];
      const spot = need(platform.group, 'group')([alice, bob]);
      await stage.send(
        spot,
        `Tell @bob, @everyone, @here, @channel, @all, <!channel>, <@${bob}>, [him](tg://user?id=${bob}).`,
      );
      const [seen] = await platform.seen(spot);
      assert.deepEqual(seen?.pings, []);
      assert.match(seen?.text ?? '', /bob.*everyone/);
    },
  },

  'measure is exact for plain words and nothing for nothing': {
    async run({ adapter }) {
      const { measure, textLength } = adapter.limits;
      assert.ok(textLength > 0);
      assert.equal(measure('x'.repeat(textLength)), textLength);
      assert.ok(measure('x'.repeat(textLength + 1)) > textLength);
      for (const nothing of ['', ' \n \n', '\n']) assert.equal(measure(nothing), 0);
    },
  },

  'R84: what measure lets through the platform shows whole': {
    async run(stage, t) {
      const { platform, adapter } = stage;
      const { measure, textLength } = adapter.limits;
      for (const content of contents) {
        const spot = platform.direct(platform.person('Alice'));
        const count = mostOf(content, measure, textLength);
        await stage.send(spot, content.repeat(count));
        const [seen] = await platform.seen(spot);
        const mark = [...content.replace(/^[*`[]+/, '')][0]!;
        assert.equal(seen?.text.split(mark).length, count + 1, `${count} times ${JSON.stringify(content)}`);
        const styled = [...seen.bold, ...seen.code, ...seen.links].length;
        if (/[*`[]/.test(content)) assert.equal(styled, count, `as often formatted: ${JSON.stringify(content)}`);
        t.diagnostic(`${count} × ${JSON.stringify(content)}`);
      }
    },
  },
} satisfies Record<string, Case>;

function mostOf(content: string, measure: (markdown: string) => number, max: number): number {
  let fits = 1;
  let tooMany = max * 2;
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (measure(content.repeat(middle)) <= max) fits = middle;
    else tooMany = middle;
  }
  return fits;
}
