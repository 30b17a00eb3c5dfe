/** The buttons of a question as an inline keyboard. Pure. Source: Bot API, "InlineKeyboardMarkup". */
import type { InlineKeyboardButton, InlineKeyboardMarkup } from 'grammy/types';
import { DeliveryError } from '../../src/base/errors.ts';
import { cleanName } from '../../src/base/safe_text.ts';
import type { Button, Question } from '../../src/types/message.ts';

export const buttonsPerMessageMax = 100;
/** What clients show side by side. */
export const buttonsPerRowMax = 8;
export const buttonDataBytesMax = 64;

/** A label on a phone shows some 40 characters; where there are many buttons, less of each. */
const labelCharsSteps = [64, 32, 16, 8] as const;
/** The whole keyboard; Telegram says `reply markup is too long` beyond. */
const keyboardBytesMax = 10_000;

/** Servers before Bot API 9.4 ignore the style. */
const styles: Record<Button['style'], { style?: 'success' | 'danger' }> = {
  approve: { style: 'success' },
  deny: { style: 'danger' },
  plain: {},
};

/**
 * Rows that are too long go on in the next one, and labels are cut. What cannot be cut throws a permanent
 * DeliveryError that names the limit. A closed question gives an empty keyboard, which takes an earlier one away.
 */
export function keyboardOf({ buttons }: Question): InlineKeyboardMarkup {
  const count = buttons.reduce((sum, row) => sum + row.length, 0);
  if (count > buttonsPerMessageMax)
    throw refusal(`a message has at most ${buttonsPerMessageMax} buttons, this one has ${count}`);
  for (const { data } of buttons.flat()) {
    const bytes = Buffer.byteLength(data);
    if (bytes < 1 || bytes > buttonDataBytesMax)
      throw refusal(`the data of a button has 1 to ${buttonDataBytesMax} bytes, this one ${bytes}`);
  }
  const rows = buttons.flatMap(chunks);
  const fits = (keyboard: InlineKeyboardButton[][]) => Buffer.byteLength(JSON.stringify(keyboard)) <= keyboardBytesMax;
  let inline_keyboard: InlineKeyboardButton[][] = [];
  for (const labelCharsMax of labelCharsSteps) {
    inline_keyboard = rows.map((row) => row.map((button) => keyOf(button, labelCharsMax)));
    if (fits(inline_keyboard)) break;
  }
  return { inline_keyboard };
}

function keyOf({ data, label, style }: Button, labelCharsMax: number): InlineKeyboardButton {
  // Telegram refuses the whole message for one button without a visible label.
  return { text: cleanName(label, labelCharsMax) || '…', callback_data: data, ...styles[style] };
}

function chunks(row: Button[]): Button[][] {
  const parts: Button[][] = [];
  for (let at = 0; at < row.length; at += buttonsPerRowMax) parts.push(row.slice(at, at + buttonsPerRowMax));
  return parts;
}

function refusal(what: string): DeliveryError {
  return new DeliveryError(`Telegram: ${what}.`, { outcome: 'not_sent', permanent: true });
}
