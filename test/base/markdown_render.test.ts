import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseMarkdown } from '../../src/base/markdown.ts';
import { renderMarkdown } from '../../src/base/markdown_render.ts';
import { createRandom } from '../support/random.ts';
import { randomBlocks, randomSource, seedsFrom } from './markdown_random.ts';

describe('renderMarkdown', () => {
  const cases: [name: string, source: string, markdown: string][] = [
    ['plain words as they are', 'Hello, world! It costs 5 $ (or 4.50 €).', 'Hello, world! It costs 5 $ (or 4.50 €).'],
    ['names with underscores as they are', 'snake_case_name', 'snake_case_name'],
    ['marks of text escaped', '\\*a\\* 1\\. \\[x\\](y) \\<b>', '\\*a\\* 1. \\[x](y) \\<b>'],
    ['what would begin a block escaped', 'a\n\\- b\n1\\. c\n\\# d\n\\> e\n\\=', 'a\n\\- b\n1\\. c\n\\# d\n\\> e\n\\='],
    ['addresses that are text as text', '\\https\\://h.i www\\.h.i a\\@b.co', '\\\\https\\://h.i www\\.h.i a\\@b.co'],
    ['fences longer than what is inside', '~~~~js\n```\n~~~~', '````js\n```\n````'],
    ['emphasis beside letters so that it stays', 'un*believ*able **a!**&#98;', 'u&#110;_believ_&#97;ble **a!**&#98;'],
    ['lists side by side apart', '- a\n\n* b\n\n+ c', '- a\n\n* b\n\n- c'],
    ['tables with pipes in cells', '|a|\n|-|\n|`x\\|y` \\| z|', '| a |\n| --- |\n| `x\\|y` \\| z |'],
  ];
  for (const [name, source, markdown] of cases) {
    it(`writes ${name}`, () => assert.equal(renderMarkdown(parseMarkdown(source)), markdown));
  }

  it('R84: what it writes reads as the same tree, for trees of every kind', () => {
    for (const seed of seedsFrom(600)) {
      const blocks = randomBlocks(createRandom(seed), seed % 4);
      const markdown = renderMarkdown(blocks);
      assert.deepEqual(parseMarkdown(markdown), blocks, `GATEHOUSE_SEED=${seed}\n${markdown}`);
    }
  });

  it('R84: what it writes reads as the same tree, for sources full of marks', () => {
    for (const seed of seedsFrom(2_000)) {
      const source = randomSource(createRandom(seed), 40);
      const blocks = parseMarkdown(source);
      const markdown = renderMarkdown(blocks);
      assert.deepEqual(parseMarkdown(markdown), blocks, `GATEHOUSE_SEED=${seed}\n${source}\n---\n${markdown}`);
    }
  });
});
