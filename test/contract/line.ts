/** The line to a platform: a TCP relay that can be cut, and taken down and up again at the same address. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface Line {
  url: string;
  /** Connections are refused from now on; resolves when one has been. */
  down(): Promise<void>;
  up(): Promise<void>;
  /** Ends every open connection in the middle. */
  cut(): void;
  close(): Promise<void>;
}

/** Below what systems give to outgoing connections, so that `up` finds its port free. */
const ports = { first: 19_000, count: 10_000, triesMax: 200 };

/** `losing`: every request gets through, and the connection ends before a byte of the answer does. */
export async function createLine(target: string, { losing = false } = {}): Promise<Line> {
  const port = Number(new URL(target).port);
  const open = new Set<Socket>();
  const relay = (near: Socket) => {
    const far = connect(port, '127.0.0.1');
    if (losing) far.once('data', () => near.resetAndDestroy());
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  };
  const cut = () => {
    for (const socket of open) socket.resetAndDestroy();
  };
  let { server, port: own } = await listenSomewhere(relay);

  async function down(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    cut();
    await closed;
    await new Promise<void>((resolve, reject) => {
      const probe = connect(own, '127.0.0.1');
      probe.on('connect', () => reject(new Error('the line is still up')));
      probe.on('error', () => resolve());
    });
  }

  return {
    url: `http://127.0.0.1:${own}`,
    cut,
    down,
    async up() {
      server = await listen(own, relay);
    },
    async close() {
      if (server.listening) await down();
    },
  };
}

async function listenSomewhere(relay: (near: Socket) => void): Promise<{ server: Server; port: number }> {
  for (let tries = 0; tries < ports.triesMax; tries++) {
    const port = ports.first + ((process.pid * 31 + tries * 7) % ports.count);
    const server = await listen(port, relay).catch(() => null);
    if (server) return { server, port };
  }
  throw new Error('there is no free port for a line');
}

function listen(port: number, relay: (near: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer(relay);
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
