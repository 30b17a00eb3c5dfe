/** Random Markdown from a seed, with what must survive of it. */
import type { Random } from '../../support/random.ts';

export interface Document {
  markdown: string;
  /** Words in their order. */
  words: string[];
  /** Contents of code blocks, byte for byte. */
  code: string[];
}

export function randomDocument(random: Random): Document {
  let serial = 0;
  const words: string[] = [];
  const code: string[] = [];

  const word = () => {
    serial += 1;
    const made = `${random.pick(['w', 'é', '日本', '😀', '👩‍🚀', 'ß'])}${serial}`;
    words.push(made);
    return made;
  };
  /** Four tildes at the beginning of a line would open a code block: strikes do not nest. */
  let inStrike = false;
  const strike = (depth: number): string => {
    if (inStrike) return word();
    inStrike = true;
    const made = `~~${inlines(depth)}~~`;
    inStrike = false;
    return made;
  };
  const inline = (depth: number): string => {
    const kind = depth > 2 ? 0 : random.below(9);
    if (kind === 1) return `**${inlines(depth + 1)}**`;
    if (kind === 2) return `*${inlines(depth + 1)}*`;
    if (kind === 3) return strike(depth + 1);
    if (kind === 4) return `\`${word()} @ping_${serial}\``;
    if (kind === 5) return `[${inlines(depth + 1)}](https://example.org/${serial})`;
    if (kind === 6) return `![${word()}](https://example.org/${serial}.png)`;
    if (kind === 7) return `@ping_${serial} ${word()}`;
    if (kind === 8) return `[${word()}](${random.pick(['http://localhost/', 'mailto:a@example.org', 'http://a.b'])})`;
    return word();
  };
  const inlines = (depth: number): string =>
    Array.from({ length: 1 + random.below(3) }, () => inline(depth)).join(random.pick([' ', ' ', '  \n', '']));
  const block = (depth: number): string => {
    const kind = random.below(depth > 1 ? 4 : 9);
    if (kind === 1) return `${'#'.repeat(1 + random.below(3))} ${inlines(1).replaceAll('\n', ' ')}`;
    if (kind === 2) {
      const lines = Array.from(
        { length: random.below(4) },
        () => `${random.pick(['', '  ', '\t'])}x @ping_${serial} ${++serial}`,
      );
      code.push(lines.join('\n'));
      return ['```', random.pick(['', 'js', 'c++']), '\n', ...lines.map((line) => `${line}\n`), '```'].join('');
    }
    if (kind === 3) return '---';
    if (kind === 4 || kind === 5) {
      const bullet = kind === 4 ? '- ' : '1. ';
      return Array.from({ length: 1 + random.below(3) }, () =>
        prefixed(blocks(depth + 1), bullet, ' '.repeat(bullet.length)),
      ).join('\n');
    }
    if (kind === 6) return prefixed(blocks(depth + 1), '> ', '> ');
    if (kind === 7) return `| ${word()} | ${word()} |\n|---|---|\n| ${word()} | ${word()} |`;
    return inlines(0);
  };
  const blocks = (depth: number): string =>
    Array.from({ length: 1 + random.below(3) }, () => block(depth)).join('\n\n');

  const markdown = blocks(0);
  return { markdown, words, code };
}

function prefixed(text: string, first: string, others: string): string {
  return text
    .split('\n')
    .map((line, index) => (index === 0 ? first : others) + line)
    .join('\n');
}

/** Markup characters in any order: nothing has to survive, but nothing may break. */
export function randomNoise(random: Random): string {
  const pieces = [
    '*',
    '**',
    '_',
    '`',
    '```',
    '~~',
    '[',
    ']',
    '(',
    ')',
    '<',
    '>',
    '#',
    '-',
    '|',
    '@',
    '\\',
    '\n',
    ' ',
    'ab1',
    '😀',
    '\ud83d',
    'é',
    'https://a.example/',
    '&lt;',
    '1.',
  ];
  return Array.from({ length: random.below(60) }, () => random.pick(pieces)).join('');
}
