import { randomBytes, randomInt } from 'node:crypto';

/** No 0, O, 1, I: read aloud and typed by people. */
const codeAlphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** Sortable by time of making: 9 characters of milliseconds, 16 of randomness, base 36. */
export function newId(now: number): string {
  return (
    now.toString(36).padStart(9, '0') +
    BigInt(`0x${randomBytes(10).toString('hex')}`)
      .toString(36)
      .padStart(16, '0')
  );
}

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
