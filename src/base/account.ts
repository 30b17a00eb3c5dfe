/** An account as it is written in configuration, rows and commands: `<channel>:<user id>`. No channel's name has a colon. */
export interface AccountKey {
  channel: string;
  userId: string;
}

export function accountName({ channel, userId }: AccountKey): string {
  return `${channel}:${userId}`;
}

/** The channel is empty where no colon stands, as in `cli`. */
export function splitAccount(account: string): AccountKey {
  const colon = account.indexOf(':');
  return { channel: account.slice(0, Math.max(colon, 0)), userId: account.slice(colon + 1) };
}
