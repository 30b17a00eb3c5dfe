import { randomBytes, randomInt } from 'node:crypto';

/** No 0, O, 1, I: read aloud and typed by people. */
const codeAlphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

let lastTime = 0;
let counter = 0;

/**
 * Sortable in the order of making: 9 characters of milliseconds, 4 of a counter within the millisecond, 12 of
 * randomness, base 36. Within a process never out of order, also when the clock steps back.
 */
export function newId(now: number): string {
  counter = now > lastTime ? 0 : counter + 1;
  lastTime = Math.max(now, lastTime);
  const bytes = randomBytes(8);
  const random = base36(bytes.readUInt32LE(0)) + base36(bytes.readUInt32LE(4));
  return lastTime.toString(36).padStart(9, '0') + counter.toString(36).padStart(4, '0') + random;
}

/** Six characters: the upper tenth of a 32-bit number's seven is left out. */
const base36 = (number: number) => number.toString(36).padStart(7, '0').slice(-6);

/** A short code for people; 5 bits a character. */
export function newCode(length: number): string {
  let code = '';
  for (let i = 0; i < length; i++) code += codeAlphabet[randomInt(codeAlphabet.length)];
  return code;
}

/** 128 bits or more for links and tokens. */
export function newToken(bytes = 24): string {
  return randomBytes(bytes).toString('base64url');
}
