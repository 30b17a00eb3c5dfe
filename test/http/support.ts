/** The real server over a real SQLite file, and a client that can say anything in its headers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import type { Readiness } from '../../src/http/readiness.ts';
import { createHttp, type Http, type HttpParts } from '../../src/http/server.ts';
import type { Channel } from '../../src/http/target.ts';
import type { Db } from '../../src/store/db.ts';
import { openStore } from '../../src/store/open.ts';
import type { SignedIn } from '../../src/store/sessions.ts';
import type { Adapter, ChannelRequest } from '../../src/types/adapter.ts';

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

export function ask(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body } = options;
    const sent = request(url, { method, headers, timeout: 5_000, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer within 5 s')));
    sent.on('error', reject);
    sent.end(body);
  });
}

export interface Gateway {
  url: string;
  http: Http;
  db: Db;
  /** Moves the gateway's clock forward. */
  pass(ms: number): void;
  owners: SignedIn[];
  logged: string[];
  readiness: Readiness;
  channels: Channel[];
  /** Follows a new link and returns the Cookie header of the session. */
  signIn(userId: string, options?: { owner?: boolean; channel?: string; name?: string }): Promise<string>;
}

export async function startGateway(
  t: TestContext,
  options: Partial<HttpParts> & { clock?: Clock } = {},
): Promise<Gateway> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-http-'));
  const db = await openStore(`sqlite:${join(folder, 'gatehouse.db')}`);
  let passed = 0;
  const logged: string[] = [];
  const owners: SignedIn[] = [];
  const readiness: Readiness = { store: { ok: true }, channels: [] };
  const channels: Channel[] = [];
  const http = createHttp({
    listen: { host: '127.0.0.1', port: 0 },
    publicUrl: null,
    db,
    clock: { ...systemClock, now: () => systemClock.now() + passed },
    log: createLog({ level: 'debug', format: 'json', secrets: () => [], write: (line) => logged.push(line) }),
    channels: () => channels,
    readiness: () => readiness,
    metrics: async () => '# HELP gatehouse_up 1\n',
    onOwner: async (who) => void owners.push(who),
    ...options,
  });
  const { url } = await http.start();
  t.after(async () => {
    await http.stop();
    await db.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    url,
    http,
    db,
    owners,
    logged,
    readiness,
    channels,
    pass(ms) {
      passed += ms;
    },
    async signIn(userId, { owner = false, channel = 'web', name = userId } = {}) {
      const link = await http.signInLink({ channel, userId, name, owner });
      const answer = await redeem(url, codeOf(link));
      return cookieOf(answer);
    },
  };
}

export const codeOf = (link: string): string => new URL(link).searchParams.get('code') ?? '';

export function redeem(url: string, code: string, headers: Record<string, string> = {}): Promise<Answer> {
  return ask(`${url}/signin`, {
    method: 'POST',
    headers: { origin: url, 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: `code=${encodeURIComponent(code)}`,
  });
}

export function cookieOf(answer: Answer): string {
  const [cookie = ''] = answer.headers['set-cookie'] ?? [];
  return cookie.split(';')[0] ?? '';
}

/** An adapter that is nothing but its HTTP side and keeps what it was asked. */
export function httpOnly(answer: (request: ChannelRequest) => Promise<Response>): Adapter & { seen: ChannelRequest[] } {
  const seen: ChannelRequest[] = [];
  return {
    seen,
    features: {
      buttons: false,
      edits: false,
      streaming: false,
      threads: false,
      typing: false,
      reactions: false,
      files: false,
      history: false,
      directory: false,
      ephemeral: false,
      deletions: false,
      reconcile: false,
    },
    limits: {
      textLength: 1,
      measure: () => 0,
      directPerSecond: 1,
      groupPerMinute: 1,
      accountPerSecond: 1,
      buttonsPerMessage: 0,
      buttonDataBytes: 0,
      fileBytesMax: 0,
    },
    start: async () => {},
    stop: async () => {},
    send: async () => ({ ref: '1' }),
    http(request) {
      seen.push(request);
      return answer(request);
    },
  };
}
