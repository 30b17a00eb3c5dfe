import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { GatehouseError, messageOf } from '../base/errors.ts';
import { commandName } from '../base/program.ts';
import { controlPath } from './path.ts';
import { type ControlAnswer, type ControlArgs, type ControlRequest, readLine, requestBytesMax } from './wire.ts';

/** A connection must have sent its request by then. */
const requestMs = 5_000;
const connectionsMax = 32;

export type ControlHandler = (args: ControlArgs) => Promise<unknown>;

export interface Control {
  path: string;
  close(): Promise<void>;
}

/**
 * Listens on the control socket of the data folder (0600): whoever may open the data may command the gateway (rule
 * 94). What a handler throws as GatehouseError reaches the caller with code and hint, anything else as its message.
 * @throws GatehouseError `in_use` when another gateway answers there; a socket nobody answers on is replaced.
 */
export async function startControl(dataDir: string, handlers: Record<string, ControlHandler>): Promise<Control> {
  const path = controlPath(dataDir);
  if (await answers(path))
    throw new GatehouseError('in_use', `another gateway is running on ${dataDir}`, {
      hint: `stop it with "${commandName()} stop", or give this one a gateway.data_dir of its own`,
    });
  rmSync(path, { force: true });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    void serve(socket, handlers);
  });
  server.maxConnections = connectionsMax;
  await listen(server, path);
  return {
    path,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Answers that are being written may finish; who only waits is let go.
        for (const socket of sockets) socket.end(() => socket.destroy());
      }),
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // The socket is made inside this call, so that nobody can connect before its rights are set.
    const umask = process.umask(0o177);
    try {
      server.listen(path, () => {
        server.off('error', reject);
        resolve();
      });
    } finally {
      process.umask(umask);
    }
  }).then(() => chmodSync(path, 0o600));
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

async function serve(socket: Socket, handlers: Record<string, ControlHandler>): Promise<void> {
  socket.setTimeout(requestMs, () => socket.destroy());
  const line = await readLine(socket, requestBytesMax).catch(() => null);
  if (line === null) {
    socket.destroy();
    return;
  }
  socket.setTimeout(0);
  let answer: ControlAnswer;
  try {
    const { command, args } = JSON.parse(line) as ControlRequest;
    const handler = Object.hasOwn(handlers, command) ? handlers[command] : undefined;
    if (handler === undefined)
      throw new GatehouseError('not_found', `the running gateway does not know the command ${command}`, {
        hint: 'it may be an older version; restart it',
      });
    answer = { ok: true, result: (await handler(args ?? {})) ?? null };
  } catch (error) {
    const known = error instanceof GatehouseError;
    answer = {
      ok: false,
      error: {
        code: known ? error.code : 'invalid',
        message: messageOf(error),
        ...(known && error.hint !== undefined ? { hint: error.hint } : {}),
      },
    };
  }
  if (!socket.destroyed) socket.end(`${JSON.stringify(answer)}\n`);
}
