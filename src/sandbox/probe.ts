/** What the self test runs inside of the sandbox: tries everything that must fail. */

export interface ProbeInput {
  /** A folder that only the gateway may see. */
  secretFolder: string;
  /** A port of the gateway on loopback. */
  port: number;
}

/** A check's name, and null or what went wrong. */
export type ProbeOutput = Record<string, string | null>;

/** Its text is handed to Node in the sandbox, so it may use nothing from around it. Answers on stdout. */
export async function probe(): Promise<void> {
  const fs = process.getBuiltinModule('node:fs');
  const net = process.getBuiltinModule('node:net');
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const input = JSON.parse(fs.readFileSync(0, 'utf8')) as ProbeInput;
  const output: ProbeOutput = {};
  const mustFail = (name: string, what: string, action: () => unknown) => {
    try {
      action();
      output[name] = `${what} worked`;
    } catch {
      output[name] ??= null;
    }
  };
  mustFail('system files', 'reading /etc/passwd', () => fs.readFileSync('/etc/passwd'));
  mustFail('data folder', "listing the gateway's data folder", () => fs.readdirSync(input.secretFolder));
  for (const folder of ['/', '/usr', '/etc', '/dev', '/opt', '/var/tmp', '/home'])
    mustFail('writing', `writing to ${folder}`, () => {
      fs.writeFileSync(`${folder}/gatehouse-probe`, 'x');
      fs.rmSync(`${folder}/gatehouse-probe`);
    });
  try {
    fs.writeFileSync('/tmp/probe', 'x');
  } catch (error) {
    output.writing = `writing to /tmp failed: ${String(error)}`;
  }
  const others = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  output['other processes'] = others.length > 6 ? `${others.length} processes can be seen` : null;
  const names = Object.keys(process.env);
  output.environment = names.length > 0 ? `${names.join(', ')} can be read` : null;
  const status = fs.readFileSync('/proc/self/status', 'utf8');
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1];
  const rights = [field('Uid') === '65534', /^0+$/.test(field('CapEff') ?? ''), field('NoNewPrivs') === '1'];
  output.rights = rights.every(Boolean) && field('Seccomp') === '2' ? null : 'rights were not given up';
  const namespace = spawnSync('/usr/bin/unshare', ['--user', '/usr/bin/true']);
  output.namespaces = namespace.status === 0 ? 'a new namespace could be made' : null;
  output.network = await new Promise((resolve) => {
    const socket = net.connect(input.port, '127.0.0.1');
    socket.once('connect', () => resolve("connecting to the gateway's own machine worked"));
    socket.once('error', () => resolve(null));
    socket.setTimeout(2_000, () => resolve(null));
  });
  process.stdout.write(JSON.stringify(output), () => process.exit(0));
}
