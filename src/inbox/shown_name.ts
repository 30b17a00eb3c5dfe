import { cleanName, literal } from '../base/safe_text.ts';

/** A person as they may stand in our Markdown: by name, else by id. */
export function shownName({ id, name }: { id: string; name: string }): string {
  return literal(cleanName(name, 80) || id);
}
