/** The control commands about tokens and the audit; all of them need only the database. */
import { accountName, splitAccount } from '../base/account.ts';
import { GatehouseError } from '../base/errors.ts';
import { commandName } from '../base/program.ts';
import type { AuditResult, TokenListResult, TokenResult, TokenRevokeResult } from '../control/results.ts';
import type { ControlHandler } from '../control/server.ts';
import { createToken, revokeToken } from '../people/tokens.ts';
import { listAudit } from '../store/audit.ts';
import type { Db } from '../store/db.ts';
import { listTokens, type PersonToken } from '../store/tokens.ts';

const listed = ({ channel, userId, ...token }: PersonToken) => ({
  ...token,
  account: accountName({ channel, userId }),
});

export function accessHandlers({ db, now }: { db: Db; now: () => number }): Record<string, ControlHandler> {
  return {
    async token(args): Promise<TokenResult | TokenListResult | TokenRevokeResult> {
      if (args.action === 'list') return { tokens: (await listTokens(db)).map(listed) };
      if (args.action === 'revoke') {
        const id = String(args.id);
        const revoked = await db.tx((q) => revokeToken(q, id, 'cli', now()));
        if (!revoked)
          throw new GatehouseError('not_found', `there is no token with the id ${id}`, {
            hint: `"${commandName()} token list" shows them`,
          });
        return { id, account: accountName(revoked) };
      }
      const order = {
        ...splitAccount(String(args.account)),
        label: String(args.label ?? ''),
        lifeMs: typeof args.lifeMs === 'number' ? args.lifeMs : null,
      };
      const { token, ...made } = await db.tx((q) => createToken(q, order, 'cli', now()));
      return { ...listed(made), token };
    },
    async audit(args): Promise<AuditResult> {
      return { entries: await listAudit(db, Number(args.limit ?? 50)) };
    },
  };
}
