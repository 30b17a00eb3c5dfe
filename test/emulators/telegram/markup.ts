import { structure } from './arguments.ts';
import { type Arguments, type Button, badRequest, type Markup } from './wire.ts';

const buttonsMax = 100;
const dataBytesMax = 64;
const markupBytesMax = 10_000;
const styles = new Set(['danger', 'success', 'primary']);

/** The checked keyboard; undefined when none was sent. Only inline keyboards are looked into. */
export function readMarkup(args: Arguments): Markup | undefined {
  const markup = structure<Markup>(args, 'reply_markup', 'reply keyboard markup');
  if (!markup || !('inline_keyboard' in markup)) return markup;
  const rows = markup.inline_keyboard;
  if (!Array.isArray(rows))
    throw badRequest('can\'t parse inline keyboard: Field "inline_keyboard" must be of type Array');
  let count = 0;
  for (const row of rows) {
    if (!Array.isArray(row)) throw badRequest("can't parse inline keyboard: Inline keyboard row must be an Array");
    for (const button of row) {
      checkButton(button);
      count += 1;
    }
  }
  if (count > buttonsMax) throw badRequest('reply markup is too long');
  if (Buffer.byteLength(JSON.stringify(rows)) > markupBytesMax) throw badRequest('reply markup is too long');
  return { inline_keyboard: rows.filter((row) => row.length > 0) };
}

function checkButton(button: Button): void {
  if (typeof button !== 'object' || button === null)
    throw badRequest("can't parse inline keyboard button: InlineKeyboardButton must be an Object");
  if (typeof button.text !== 'string')
    throw badRequest('can\'t parse inline keyboard button: Can\'t find field "text"');
  if (button.text.trim() === '')
    throw badRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard");
  const data = button.callback_data;
  if (data !== undefined) {
    const bytes = Buffer.byteLength(String(data));
    if (bytes < 1 || bytes > dataBytesMax) throw badRequest('BUTTON_DATA_INVALID');
  } else if (button.url !== undefined) {
    if (!/^(https?|tg):\/\/\S+$/i.test(button.url))
      throw badRequest(`inline keyboard button URL '${button.url}' is invalid: Wrong HTTP URL`);
  } else if (Object.keys(button).every((field) => field === 'text' || field === 'style')) {
    throw badRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard");
  }
  const style = button.style;
  if (style !== undefined && !styles.has(String(style))) throw badRequest('BUTTON_STYLE_INVALID');
}

export function sameMarkup(a: Markup | undefined, b: Markup | undefined): boolean {
  return JSON.stringify(rowsOf(a)) === JSON.stringify(rowsOf(b));
}

export function rowsOf(markup: Markup | undefined): Button[][] {
  return markup?.inline_keyboard ?? [];
}
