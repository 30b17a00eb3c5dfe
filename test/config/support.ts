import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { ConfigError } from '../../src/config/issue.ts';
import { type LoadedConfig, loadConfig } from '../../src/config/load.ts';
import { plugins } from '../../src/plugins.ts';

/** A folder with `config.yaml` (and other files) in it, gone after the test. */
export function folderWith(t: TestContext, yaml: string | Uint8Array, files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-config-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  writeFileSync(join(folder, 'config.yaml'), yaml);
  return folder;
}

export function load(t: TestContext, yaml: string | Uint8Array, env: NodeJS.ProcessEnv = {}): LoadedConfig {
  return loadConfig(join(folderWith(t, yaml), 'config.yaml'), env, plugins);
}

/** The lines of the error that loading this gives, or none. */
export function errorsOf(t: TestContext, yaml: string | Uint8Array, env: NodeJS.ProcessEnv = {}): string[] {
  try {
    load(t, yaml, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
}
