import { limits } from '../base/limits.ts';

/** Cookies do not know ports: two gateways on one host would sign each other out without the port in the name. */
const cookieName = (port: number): string => `gatehouse_session_${port}`;

export function readToken(header: string | null, port: number): string | null {
  const name = cookieName(port);
  for (const pair of header?.split(';') ?? []) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name && value && /^[A-Za-z0-9_-]{20,100}$/.test(value)) return value;
  }
  return null;
}

/** The header without any session of ours: adapters have no use for it. */
export function withoutToken(header: string): string {
  const others = header.split(';').filter((pair) => !pair.trim().startsWith('gatehouse_session_'));
  return others.map((pair) => pair.trim()).join('; ');
}

/** `token` null signs out. */
export function sessionCookie(token: string | null, port: number, secure: boolean): string {
  const ageS = token === null ? 0 : limits.sessionMs / 1000;
  const flags = `Path=/; Max-Age=${ageS}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return `${cookieName(port)}=${token ?? ''}; ${flags}`;
}
