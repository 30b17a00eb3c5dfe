/** Who a name on the chat page is. Two names are two people, however alike they look as ids. */
import { sha256 } from '../base/digest.ts';
import { GatehouseError } from '../base/errors.ts';

/** Whose links only the owner gets; everybody else is told apart from it. */
const ownerId = 'owner';
const nameCharsMax = 80;
const readableCharsMax = 48;
const hashChars = 8;

/**
 * The account of a person by name, or of the owner (null). The id is the name itself when that is readable as one;
 * otherwise what is readable of it and a hash of the whole name (NFC, trimmed, upper and lower case differ). Throws
 * `invalid`.
 */
export function pageAccountOf(name: string | null): { userId: string; name: string } {
  if (name === null) return { userId: ownerId, name: 'Owner' };
  const exact = name.normalize('NFC').trim();
  if (!/[\p{L}\p{N}]/u.test(exact))
    throw new GatehouseError('invalid', `"${exact}" has no letter or digit to make an account of`, {
      hint: 'give the name of a person',
    });
  if (exact.length > nameCharsMax)
    throw new GatehouseError('invalid', `the name has ${exact.length} characters and may have ${nameCharsMax}`);
  if (exact.toLowerCase() === ownerId)
    throw new GatehouseError('invalid', `"${exact}" is the account of the owner and no name for anybody else`, {
      hint: 'leave the name out for a link of the owner, or give another name',
    });
  const readable = exact.toLowerCase().replaceAll(/[^\p{L}\p{M}\p{N}_-]+/gu, '-');
  // A name that ends like a hash could be the id of somebody else.
  const isId = readable === exact && exact.length <= readableCharsMax && !/-[0-9a-f]{8}$/.test(exact);
  if (isId) return { userId: exact, name: exact };
  const short = [...readable].slice(0, readableCharsMax).join('').replace(/-+$/, '');
  return { userId: `${short}-${sha256(exact).slice(0, hashChars)}`, name: exact };
}
