import { createServer } from 'node:net';

/** Below what systems give to outgoing connections, so that a restart finds its port free. */
const ports = { first: 18_000, count: 10_000 };
let portsTried = 0;

/** A port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = ports.first + ((process.pid * 7 + portsTried++) % ports.count);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!free) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
