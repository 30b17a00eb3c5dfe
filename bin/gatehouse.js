#!/usr/bin/env node
// Starts the program on Node 24 or newer, whatever started this file: in this process when it is new enough, else
// with the binary of the npm package `node`, which is a dependency. Plain JavaScript that Node 20 runs.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const nodeMajorMin = 24;
// A server with a small live heap: V8 would otherwise let garbage grow to what the machine has. They must stand in the
// command that starts Node, here and in `npm start`: the semi-space is there before any code could set its size.
const memoryFlags = ['--heap-growing-percent=50', '--max-semi-space-size=16'];
const root = dirname(dirname(fileURLToPath(import.meta.url)));
// A checkout runs its TypeScript as it is; a published package has only the built files.
const source = join(root, 'src', 'main.ts');
const isCheckout = existsSync(source);

if (Number(process.versions.node.split('.')[0]) >= nodeMajorMin) await runHere();
else runOnOwnNode();

async function runHere() {
  if (process.env.NODE_COMPILE_CACHE === undefined && process.env.NODE_DISABLE_COMPILE_CACHE === undefined)
    // A folder of our own: the default one lies in the shared temporary folder, where others could prepare code.
    module.enableCompileCache?.(
      isCheckout
        ? join(root, 'node_modules', '.cache', 'gatehouse')
        : join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'gatehouse'),
    );
  await import(pathToFileURL(isCheckout ? source : join(root, 'dist', 'src', 'main.js')).href);
}

function runOnOwnNode() {
  const binary = ownNode();
  if (binary === null || process.env.GATEHOUSE_LAUNCHED === '1') {
    process.stderr.write(
      `gatehouse: this is Node.js ${process.versions.node}, and the Node.js ${nodeMajorMin} that comes with gatehouse is missing:\n` +
        'npm did not run the install script of the package "node". Run this where gatehouse is installed, then try again:\n\n' +
        '  npm rebuild node --ignore-scripts=false --foreground-scripts\n\n' +
        `or start gatehouse with Node.js ${nodeMajorMin} or newer.\n`,
    );
    process.exit(1);
  }
  const child = spawn(binary, [...memoryFlags, fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, GATEHOUSE_LAUNCHED: '1' },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both processes; a second one would mean "at once".
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  child.on('error', (error) => {
    process.stderr.write(`gatehouse: cannot start ${binary}: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** The binary of the package `node`, beside this package or hoisted above it; null when there is none. */
function ownNode() {
  try {
    const folder = dirname(createRequire(import.meta.url).resolve('node/package.json'));
    const binary = join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(binary) ? binary : null;
  } catch {
    return null;
  }
}
