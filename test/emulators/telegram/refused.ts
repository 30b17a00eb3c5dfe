import assert from 'node:assert/strict';
import { GrammyError } from 'grammy';

/** Asserts that a call of the official client is refused with exactly this code and text. */
export async function refused(call: Promise<unknown>, code: number, description: string): Promise<GrammyError> {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof GrammyError, String(error));
    assert.deepEqual([error.error_code, error.description], [code, description]);
    return error;
  }
  assert.fail(`expected ${code} ${description}`);
}
