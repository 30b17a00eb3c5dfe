import type { TestContext } from 'node:test';
import { runCli } from '../../src/cli/index.ts';
import type { Program } from '../../src/cli/program.ts';
import { plugins } from '../../src/plugins.ts';
import { folderWith } from '../config/support.ts';

export const valid = `models: { main: { provider: demo } }
channels: { page: { type: web } }
agents: { helper: { model: main, instructions: Help. } }
bindings:
  - { id: page, agent: helper, channel: page, where: { direct: true } }
`;

export interface Ran {
  code: number;
  out: string;
  err: string;
}

/** A folder with a configuration, and the command line run in it. */
export function cli(t: TestContext, yaml: string, parts: Partial<Program> = {}, env: NodeJS.ProcessEnv = {}) {
  let stdin: string | null = null;
  const folder = folderWith(t, yaml);
  const program: Program = {
    version: '9.8.7',
    plugins: async () => plugins,
    start: async () => 0,
    offline: async () => {
      throw new Error('this command was not expected to open the database');
    },
    ...parts,
  };
  const run = async (...argv: string[]): Promise<Ran> => {
    let out = '';
    let err = '';
    const terminal = {
      out: (text: string) => {
        out += text;
      },
      err: (text: string) => {
        err += text;
      },
      read: async () => stdin,
      env,
      cwd: folder,
    };
    const code = await runCli(argv, program, terminal);
    return { code, out, err };
  };
  /** What the next command finds on standard input; null is a terminal. */
  const give = (text: string | null) => {
    stdin = text;
  };
  return { folder, run, give };
}
