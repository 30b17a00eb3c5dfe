/**
 * Markdown to HTML that is safe by construction (rules 37, 84): tags are literals of this file, every word of the
 * source passes through `escapeHtml`, links have one of four schemes, images become plain links. Pure.
 */
import { type Block, type Inline, parseMarkdown, type Table } from '../../src/base/markdown.ts';

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Of all pages together: some hundred long answers. */
const keptCharsMax = 8_000_000;

/** For text and for quoted attribute values. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

export function renderMarkdown(markdown: string): string {
  return renderBlocks(parseMarkdown(markdown));
}

/**
 * Renders what stays as it is only once: a page of long answers is otherwise parsed again with every load. What was not
 * asked for longest goes first when markdown and HTML together pass the bound.
 */
export function createRendering(charsMax: number = keptCharsMax): {
  render(markdown: string): string;
  chars(): number;
} {
  const kept = new Map<string, string>();
  let chars = 0;
  return {
    render(markdown) {
      const known = kept.get(markdown);
      const html = known ?? renderMarkdown(markdown);
      const size = markdown.length + html.length;
      if (known !== undefined) kept.delete(markdown);
      else if (size > charsMax) return html;
      else chars += size;
      kept.set(markdown, html);
      for (const [oldest, its] of kept) {
        if (chars <= charsMax) break;
        kept.delete(oldest);
        chars -= oldest.length + its.length;
      }
      return html;
    },
    chars: () => chars,
  };
}

export function renderBlocks(blocks: readonly Block[]): string {
  return blocks.map(renderBlock).join('');
}

function renderBlock(block: Block): string {
  switch (block.type) {
    case 'paragraph':
      return `<p>${renderInlines(block.children)}</p>`;
    case 'heading': {
      // The page has headings of its own above these.
      const level = Math.min(block.level + 2, 6);
      return `<h${level}>${renderInlines(block.children)}</h${level}>`;
    }
    case 'code':
      return renderCode(block.language, block.text);
    case 'quote':
      return `<blockquote>${renderBlocks(block.children)}</blockquote>`;
    case 'list': {
      const items = block.items.map(({ checked, children }) => `<li>${checkMark(checked)}${renderItem(children)}</li>`);
      const start = block.ordered && block.start !== 1 ? ` start="${Math.trunc(block.start)}"` : '';
      return block.ordered ? `<ol${start}>${items.join('')}</ol>` : `<ul>${items.join('')}</ul>`;
    }
    case 'table':
      return renderTable(block);
    case 'rule':
      return '<hr>';
  }
}

/** An item of one paragraph is a line and not a paragraph with its margins. */
function renderItem(children: readonly Block[]): string {
  const [first, ...rest] = children;
  if (first?.type !== 'paragraph') return renderBlocks(children);
  return renderInlines(first.children) + renderBlocks(rest);
}

function checkMark(checked: boolean | null): string {
  if (checked === null) return '';
  return checked
    ? '<span class="check" role="img" aria-label="done">☑</span> '
    : '<span class="check" role="img" aria-label="open">☐</span> ';
}

function renderCode(language: string | null, text: string): string {
  const label = language ? `<span class="language">${escapeHtml(language.slice(0, 40))}</span>` : '<span></span>';
  return (
    `<figure class="code"><figcaption>${label}<button type="button" class="copy">Copy</button></figcaption>` +
    `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre></figure>`
  );
}

function renderTable({ header, align, rows }: Table): string {
  const cells = (tag: 'th' | 'td', row: readonly Inline[][]) =>
    row.map((cell, i) => `<${tag}${alignClass(align[i])}>${renderInlines(cell)}</${tag}>`).join('');
  const body = rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('');
  return `<div class="table" tabindex="0"><table><thead><tr>${cells('th', header)}</tr></thead><tbody>${body}</tbody></table></div>`;
}

function alignClass(align: Table['align'][number] | undefined): string {
  if (align === 'right') return ' class="right"';
  return align === 'center' ? ' class="center"' : '';
}

function renderInlines(inlines: readonly Inline[]): string {
  return inlines.map(renderInline).join('');
}

function renderInline(inline: Inline): string {
  switch (inline.type) {
    case 'text':
      return escapeHtml(inline.text);
    case 'strong':
      return `<strong>${renderInlines(inline.children)}</strong>`;
    case 'emphasis':
      return `<em>${renderInlines(inline.children)}</em>`;
    case 'strike':
      return `<del>${renderInlines(inline.children)}</del>`;
    case 'code':
      return `<code>${escapeHtml(inline.text)}</code>`;
    case 'link':
      return renderLink(inline.href, renderInlines(inline.children));
    case 'image':
      return renderLink(inline.href, escapeHtml(inline.alt || inline.href));
    case 'break':
      return '<br>';
  }
}

/** The parser lets only these schemes through; this is the second lock on the same door. */
function renderLink(href: string, label: string): string {
  if (!/^(https?:\/\/|mailto:|tel:)/i.test(href)) return label;
  return `<a href="${escapeHtml(href)}" target="_blank" rel="noopener noreferrer">${label}</a>`;
}
