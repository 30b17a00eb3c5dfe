/** Random Markdown from a seed, with what must survive of it. */

export interface Document {
  markdown: string;
  /** Words in their order. */
  words: string[];
  /** Contents of code blocks, byte for byte. */
  code: string[];
}

export interface Random {
  /** 0 to `below` - 1. */
  pick(below: number): number;
  of<T>(items: readonly T[]): T;
}

/** mulberry32: small, and the same everywhere. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const pick = (below: number) => Math.floor(next() * below);
  return { pick, of: (items) => items[pick(items.length)]! };
}

export function randomDocument(random: Random): Document {
  let serial = 0;
  const words: string[] = [];
  const code: string[] = [];

  const word = () => {
    serial += 1;
    const made = `${random.of(['w', 'é', '日本', '😀', '👩‍🚀', 'ß'])}${serial}`;
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
    const kind = depth > 2 ? 0 : random.pick(9);
    if (kind === 1) return `**${inlines(depth + 1)}**`;
    if (kind === 2) return `*${inlines(depth + 1)}*`;
    if (kind === 3) return strike(depth + 1);
    if (kind === 4) return `\`${word()} @ping_${serial}\``;
    if (kind === 5) return `[${inlines(depth + 1)}](https://example.org/${serial})`;
    if (kind === 6) return `![${word()}](https://example.org/${serial}.png)`;
    if (kind === 7) return `@ping_${serial} ${word()}`;
    if (kind === 8) return `[${word()}](${random.of(['http://localhost/', 'mailto:a@example.org', 'http://a.b'])})`;
    return word();
  };
  const inlines = (depth: number): string =>
    Array.from({ length: 1 + random.pick(3) }, () => inline(depth)).join(random.of([' ', ' ', '  \n', '']));
  const block = (depth: number): string => {
    const kind = random.pick(depth > 1 ? 4 : 9);
    if (kind === 1) return `${'#'.repeat(1 + random.pick(3))} ${inlines(1).replaceAll('\n', ' ')}`;
    if (kind === 2) {
      const lines = Array.from(
        { length: random.pick(4) },
        () => `${random.of(['', '  ', '\t'])}x @ping_${serial} ${++serial}`,
      );
      code.push(lines.join('\n'));
      return ['```', random.of(['', 'js', 'c++']), '\n', ...lines.map((line) => `${line}\n`), '```'].join('');
    }
    if (kind === 3) return '---';
    if (kind === 4 || kind === 5) {
      const bullet = kind === 4 ? '- ' : '1. ';
      return Array.from({ length: 1 + random.pick(3) }, () =>
        prefixed(blocks(depth + 1), bullet, ' '.repeat(bullet.length)),
      ).join('\n');
    }
    if (kind === 6) return prefixed(blocks(depth + 1), '> ', '> ');
    if (kind === 7) return `| ${word()} | ${word()} |\n|---|---|\n| ${word()} | ${word()} |`;
    return inlines(0);
  };
  const blocks = (depth: number): string => Array.from({ length: 1 + random.pick(3) }, () => block(depth)).join('\n\n');

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
  return Array.from({ length: random.pick(60) }, () => random.of(pieces)).join('');
}
