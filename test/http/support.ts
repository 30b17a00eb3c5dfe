/** The real server over a real SQLite file. */
import { mkdtempSync, rmSync } from 'node:fs';
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
import { noFeatures } from '../support/no_features.ts';
import { codeOf, cookieOf, redeem } from '../support/page_person.ts';
import { approvalParts } from './questions.ts';

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
    configFile: 'config.yaml',
    db,
    clock: { ...systemClock, now: () => systemClock.now() + passed },
    log: createLog({ level: 'debug', format: 'json', secrets: () => [], write: (line) => logged.push(line) }),
    channels: () => channels,
    readiness: () => readiness,
    metrics: async () => '# HELP gatehouse_up 1\n',
    onOwner: async (who) => void owners.push(who),
    approvals: approvalParts,
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

/** An adapter that is nothing but its HTTP side and keeps what it was asked. */
export function httpOnly(answer: (request: ChannelRequest) => Promise<Response>): Adapter & { seen: ChannelRequest[] } {
  const seen: ChannelRequest[] = [];
  return {
    seen,
    features: noFeatures,
    limits: {
      textLength: 1,
      measure: () => 0,
      directPerSecond: 1,
      groupPerMinute: 1,
      accountPerSecond: 1,
      buttonsPerMessage: 0,
      buttonsPerRow: 1,
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
