/** Text of others made safe to show, to name things with, and to store. */

/**
 * Controls, direction marks, zero-width and other characters without a shape of their own; tab and newline are kept
 * apart. Joiners and variation selectors inside emoji are among them: where this is used, seeing comes before beauty.
 */
const invisible = /\p{Cc}|\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/gu;

/**
 * Shows what cannot be seen as escapes such as `\u202e`, so that nobody is shown other words than those that count.
 * `keep` leaves tabs and newlines as they are, for multi-line arguments on cards.
 */
export function visibleText(text: string, options: { keep?: 'lines' } = {}): string {
  return text.replace(invisible, (character) => {
    if (options.keep === 'lines' && (character === '\n' || character === '\t')) return character;
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** A lone surrogate or a NUL becomes U+FFFD: any store, any JSON and any platform takes the rest. */
export function wellFormed(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/**
 * A display name on one line without invisible characters, of at most `maxCharacters` characters as people count them;
 * the last one is `…` where it was cut. Empty when nothing visible is left.
 */
export function cleanName(name: string, maxCharacters: number): string {
  // Bounds the work on a name of any length: a character as people see it has rarely more than 16 code units.
  const bounded = name.slice(0, maxCharacters * 16);
  const visible = bounded.replace(/\s+/g, ' ').replace(invisible, '').trim();
  // No character is shorter than one code unit.
  if (visible.length <= maxCharacters) return visible;
  const characters = [...new Intl.Segmenter().segment(visible)].map(({ segment }) => segment);
  if (characters.length <= maxCharacters) return visible;
  return `${characters
    .slice(0, maxCharacters - 1)
    .join('')
    .trimEnd()}…`;
}

/**
 * Text of others inside our Markdown: on one line, and every mark in it the character it is. For text outside of code;
 * what stands between backticks is `inCode`.
 */
export function literal(text: string): string {
  return oneLine(text).replace(/[!-/:-@[-`{-~]/g, '\\$&');
}

/** Text of others between the backticks of our Markdown, which it cannot end. */
export function inCode(text: string): string {
  return oneLine(text).replaceAll('`', "'");
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(invisible, '').trim();
}

const reservedNames = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;
const fileNameBytesMax = 200;

/**
 * A file name without folders that every file system takes: `../../etc/passwd` gives `etc_passwd`. Keeps the extension
 * of a name that has to be cut; `file` when nothing is left.
 */
export function cleanFileName(name: string): string {
  const parts = name
    .slice(0, 4_096)
    .replace(invisible, '')
    .split(/[/\\]+/)
    .map((part) =>
      part
        .replace(/[<>:"|?*]/g, '_')
        .trim()
        .replace(/^\.+/, ''),
    )
    .filter((part) => part !== '');
  const joined = trimDots(parts.join('_'));
  if (joined === '') return 'file';
  return cutFileName(reservedNames.test(joined) ? `_${joined}` : joined);
}

/** Windows drops dots and spaces at the end of a name, so they must not make two names differ. */
function trimDots(name: string): string {
  let end = name.length;
  while (end > 0 && (name[end - 1] === '.' || name[end - 1] === ' ')) end--;
  return name.slice(0, end);
}

function cutFileName(name: string): string {
  if (Buffer.byteLength(name) <= fileNameBytesMax) return name;
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? '';
  let stem = '';
  let bytes = extension.length;
  for (const { segment } of new Intl.Segmenter().segment(name.slice(0, name.length - extension.length))) {
    bytes += Buffer.byteLength(segment);
    if (bytes > fileNameBytesMax) break;
    stem += segment;
  }
  return trimDots(stem) + extension;
}
