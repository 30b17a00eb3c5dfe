/** Random Markdown from a seed: sources full of marks, and trees in normal form. */
import type { Block, HeadingLevel, Inline, ListItem, TableAlign } from '../../src/base/markdown.ts';
import { normalizeInlines, normalizeLine } from '../../src/base/markdown_normal.ts';
import type { Random } from '../support/random.ts';

/** Set GATEHOUSE_SEED to run one failing case again. */
export function seedsFrom(count: number): number[] {
  const given = process.env.GATEHOUSE_SEED;
  return given === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(given)];
}

const marks = [
  '*',
  '**',
  '_',
  '__',
  '~',
  '~~',
  '`',
  '``',
  '[',
  ']',
  '(',
  ')',
  '![',
  '](http://h/a_b)',
  '<',
  '>',
  '<b>',
  '</b>',
  '<http://h/x>',
  'http://h.i/(a)',
  'www.h.i',
  'a@b.co',
  '&amp;',
  '&#42;',
  '&',
  ';',
  '\\',
  '\\*',
  '|',
  '!',
  '#',
  ':',
  ' ',
  ' ',
  ' ',
  '  ',
  '\t',
  '\n',
  '\n',
  '\n\n',
  '  \n',
  '\\\n',
  'a',
  'b',
  'word',
  'wh',
  '.',
  ',',
  '"',
  '1.',
  '2)',
  '-',
  '+',
  '- ',
  '1. ',
  '> ',
  '# ',
  '===',
  '---',
  '***',
  '| - |',
  '|a|b|\n|-|-|\n|c|',
  '```',
  '~~~',
  '```js\n',
  '    ',
  '[a]: http://h\n',
  '[a]',
  '[x] ',
  'é',
  '中文',
  '。',
  '👍🏽',
  '\u00a0',
  '\u200b',
  '\u202e',
  '\0',
  '\ud800',
];

export function randomSource(random: Random, most: number): string {
  return random.times(most, () => random.pick(marks)).join('');
}

const words = [
  'a',
  'word',
  'snake_case_name',
  '2 * 3',
  '**',
  '_x_',
  '~',
  '`',
  '[x]',
  '](',
  '!',
  '<b>',
  '&amp;',
  '&lt',
  '\\',
  '\\*',
  '#',
  '# ',
  '1. ',
  '12) ',
  '- ',
  '+ ',
  '> ',
  '>',
  '===',
  '---',
  '--',
  '|',
  '| - |',
  ':-',
  '```',
  '~~~',
  'http://h.i',
  'www.h.i',
  'a@b.co',
  '@user',
  '.',
  ',',
  '"q"',
  '(',
  ')',
  ' ',
  ' ',
  ' ',
  '\n',
  '\n',
  '\t',
  'é',
  '中文',
  '。',
  '👍🏽',
  '😀',
  '[a]: http://h',
  '[ ] ',
  '$',
  '100%',
  "'",
  '*',
  '\u200b',
];
const codes = ['x', '`', '``', ' ', '  ', 'a\\', '*b*', '<i>', '&amp;', '#', '👍🏽', '\t'];
const lines = [
  'x = 1;',
  '',
  '',
  '  indented',
  '\ttab',
  '```',
  '~~~~',
  '````',
  '> q',
  '- l',
  '# h',
  '   ',
  '\\',
  'a  ',
  '|',
];
const hrefs = ['http://h/', 'https://h.i/a_b*c(d)?e=f&copy;=1#g', 'mailto:a@b.co', 'tel:+491234', 'http://h/[x]'];

function randomText(random: Random): string {
  return random.times(6, () => random.pick(words)).join('');
}

function randomInlines(random: Random, depth: number): Inline[] {
  return random.times(4, (): Inline => {
    const kind = random.below(depth > 0 ? 12 : 6);
    if (kind < 4) return { type: 'text', text: randomText(random) };
    if (kind === 4) return { type: 'code', text: random.times(3, () => random.pick(codes)).join('') };
    if (kind === 5) return { type: 'break' };
    if (kind === 6) return { type: 'image', href: random.pick(hrefs), alt: random.pick(['', 'alt', 'a]b', '*']) };
    const children = randomInlines(random, depth - 1);
    if (kind < 8) return { type: 'link', href: random.pick(hrefs), children };
    return { type: random.pick(['strong', 'strong', 'emphasis', 'strike']), children };
  });
}

function randomLine(random: Random): Inline[] {
  const line = normalizeLine(randomInlines(random, 2));
  return line.length > 0 ? line : [{ type: 'text', text: 'x' }];
}

function randomItem(random: Random, depth: number): ListItem {
  const children = random.below(8) === 0 ? [] : randomBlocks(random, depth - 1);
  const task = children[0]?.type === 'paragraph' && random.below(4) === 0;
  return { checked: task ? random.below(2) === 0 : null, children };
}

export function randomBlocks(random: Random, depth: number): Block[] {
  return random.times(4, (): Block => {
    switch (random.below(depth > 0 ? 10 : 6)) {
      case 0:
        return { type: 'heading', level: (1 + random.below(6)) as HeadingLevel, children: randomLine(random) };
      case 1: {
        const text = random.times(6, () => random.pick(lines)).join('\n');
        return { type: 'code', language: random.pick([null, 'js', 'c++', 'x_y']), text };
      }
      case 2:
        return { type: 'rule' };
      case 3: {
        const columns = 1 + random.below(3);
        const row = () => Array.from({ length: columns }, () => (random.below(4) === 0 ? [] : randomLine(random)));
        const align = Array.from({ length: columns }, () => random.pick<TableAlign>(['left', 'right', 'center', null]));
        return { type: 'table', header: row(), align, rows: random.times(3, row) };
      }
      case 6:
      case 7:
        return { type: 'quote', children: randomBlocks(random, depth - 1) };
      case 8:
      case 9: {
        const ordered = random.below(2) === 0;
        const items = random.times(3, () => randomItem(random, depth));
        return { type: 'list', ordered, start: ordered ? random.pick([0, 1, 1, 7, 99]) : 1, items };
      }
      default: {
        const children = normalizeInlines(randomInlines(random, 3));
        return { type: 'paragraph', children: children.length > 0 ? children : [{ type: 'text', text: 'x' }] };
      }
    }
  });
}
