import { randomBytes, randomInt, randomUUID } from 'node:crypto';

/** No 0, O, 1, I: read aloud and typed by people. */
const codeAlphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

let lastTime = 0;
let counter = 0;

/**
 * Sortable in the order of making: 9 characters of milliseconds and 4 of a counter within the millisecond in base 36,
 * then 48 random bits in hex. Within a process never out of order, also when the clock steps back.
 */
export function newId(now: number): string {
  counter = now > lastTime ? 0 : counter + 1;
  lastTime = Math.max(now, lastTime);
  return lastTime.toString(36).padStart(9, '0') + counter.toString(36).padStart(4, '0') + randomUUID().slice(24);
}

/** Every id made before this time is smaller: what a table keyed by ids is cut at. */
export function idsBefore(time: number): string {
  return Math.max(0, Math.floor(time)).toString(36).padStart(9, '0');
}

/** A short code for people; 5 bits a character. */
export function newCode(length: number): string {
  let code = '';
  for (let i = 0; i < length; i++) code += codeAlphabet[randomInt(codeAlphabet.length)];
  return code;
}

/** Whether the text has the form of a code as `newCode` makes it: which letters, how many. */
export function isCode(text: string, length: number): boolean {
  return text.length === length && [...text].every((character) => codeAlphabet.includes(character));
}

/** 128 bits or more for links and tokens. */
export function newToken(bytes = 24): string {
  return randomBytes(bytes).toString('base64url');
}
