/** The one HTTP port: pages, platform callbacks, health. Decides nothing about messages. */
import type { Server } from 'node:http';
import { networkInterfaces } from 'node:os';
import { createAdaptorServer } from '@hono/node-server';
import type { ApprovalParts } from '../approvals/parts.ts';
import type { Clock } from '../base/clock.ts';
import { GatehouseError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Db, Transaction } from '../store/db.ts';
import { mintLink, type SignedIn, type SignInLink } from '../store/sessions.ts';
import { bracketed, isWildcard, ownHosts } from './guard.ts';
import type { HttpPolicies } from './policies_api.ts';
import type { Readiness } from './readiness.ts';
import { createRoutes } from './routes.ts';
import type { HttpSkills } from './skills_api.ts';
import { createStreams } from './streams.ts';
import type { Channel } from './target.ts';

export interface HttpParts {
  /** Port 0 takes a free one. */
  listen: { host: string; port: number };
  publicUrl: string | null;
  /** Where gateway.listen stands, for messages. */
  configFile: string;
  db: Db;
  clock: Clock;
  log: Log;
  channels(): readonly Channel[];
  readiness(): Readiness | Promise<Readiness>;
  /** Prometheus text; empty when it is switched off. */
  metrics(): Promise<string>;
  onOwner(who: SignedIn, q: Transaction): Promise<void>;
  /** Without them there is no /api/v1/policies. */
  policies?: HttpPolicies;
  /** Without them there is no /v1/skills. */
  skills?: HttpSkills;
  approvals: ApprovalParts;
}

export interface Http {
  /** Throws GatehouseError('in_use' | 'config') when the address cannot be had. `url` names the real port. */
  start(): Promise<{ url: string }>;
  /** Ends event streams, lets open requests finish for a moment, closes the port. */
  stop(): Promise<void>;
  /** A link for one use within 15 minutes, at the gateway's own address. */
  signInLink(link: SignInLink): Promise<string>;
}

const serverLimits = {
  headerBytesMax: 16 * 1024,
  connectionsMax: 2_000,
  headersMs: 10_000,
  requestMs: 30_000,
} as const;
const stopMsMax = 5_000;
const idleSweepMs = 20;
const addressesMs = 5_000;

export function createHttp(parts: HttpParts): Http {
  const { clock, log, db } = parts;
  const listen = { ...parts.listen };
  const streams = createStreams(clock);
  let server: Server | null = null;
  let hosts = ownHosts(listen, []);
  let hostsAt = Number.NEGATIVE_INFINITY;

  /** Interfaces come and go: an unknown name is looked up again, but not at every knock. */
  function knownHosts(host: string | null): ReadonlySet<string> {
    if (isWildcard(listen.host) && host !== null && !hosts.has(host) && clock.now() - hostsAt > addressesMs) {
      hosts = ownHosts(listen, machineAddresses());
      hostsAt = clock.now();
    }
    return hosts;
  }

  const app = createRoutes({ ...parts, streams, hosts: knownHosts, port: () => listen.port });

  async function start(): Promise<{ url: string }> {
    const created = createAdaptorServer({
      fetch: (request, env) => app.fetch(request, env),
      overrideGlobalObjects: false,
      serverOptions: { maxHeaderSize: serverLimits.headerBytesMax },
    }) as Server;
    created.maxConnections = serverLimits.connectionsMax;
    created.headersTimeout = serverLimits.headersMs;
    created.requestTimeout = serverLimits.requestMs;
    await new Promise<void>((resolve, reject) => {
      created.once('error', (error) => reject(listenError(error, listen, parts.configFile)));
      created.listen(listen.port, listen.host, resolve);
    });
    server = created;
    const address = created.address();
    if (address !== null && typeof address === 'object') listen.port = address.port;
    hosts = ownHosts(listen, isWildcard(listen.host) ? machineAddresses() : []);
    log.info({ url: url() }, 'listening');
    return { url: url() };
  }

  function url(): string {
    return `http://${isWildcard(listen.host) ? '127.0.0.1' : bracketed(listen.host)}:${listen.port}`;
  }

  async function stop(): Promise<void> {
    const closing = server;
    if (!closing) return;
    server = null;
    const closed = new Promise<void>((resolve) => closing.close(() => resolve()));
    streams.end();
    const cancel = clock.after(stopMsMax, () => closing.closeAllConnections());
    let cancelSweep = () => {};
    // A kept-alive connection is idle only a moment after its last answer.
    const sweep = () => {
      closing.closeIdleConnections();
      cancelSweep = clock.after(idleSweepMs, sweep);
    };
    sweep();
    await closed;
    cancelSweep();
    cancel();
  }

  return {
    start,
    stop,
    async signInLink(link) {
      const code = await db.tx((q) => mintLink(q, link, clock.now()));
      return `${url()}/signin?code=${code}`;
    },
  };
}

function machineAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}

function listenError(
  cause: NodeJS.ErrnoException,
  { host, port }: { host: string; port: number },
  file: string,
): GatehouseError {
  const address = `${bracketed(host)}:${port}`;
  const free = `${bracketed(host)}:${port < 65_535 ? port + 1 : port - 1}`;
  const hint = `Stop the other program, or take another port in ${file}: gateway: { listen: "${free}" }`;
  if (cause.code === 'EADDRINUSE') {
    return new GatehouseError('in_use', `${address} (gateway.listen) is in use by another program`, { hint, cause });
  }
  const why = cause.code === 'EACCES' ? 'ports below 1024 need more rights' : (cause.code ?? 'unknown');
  return new GatehouseError('config', `cannot listen on ${address} (gateway.listen): ${why}`, {
    hint: `Set gateway.listen in ${file} to an address of this machine, such as "127.0.0.1:8484".`,
    cause,
  });
}
