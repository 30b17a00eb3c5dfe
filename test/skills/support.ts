import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { loadSkills } from '../../src/skills/load.ts';
import type { JsonObject } from '../../src/types/json.ts';
import type { ToolContext } from '../../src/types/tool.ts';
import { quietLog } from '../support/sandbox_world.ts';

export const valid = { name: 'disk_cleaner', description: 'Frees disk space.', entry: 'run.sh' };
export const program = '#!/bin/sh\necho \'{"ok":true}\'\n';

/** An allow-list root and a store, both empty. */
export function createFolders(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-skills-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [root, store] = [join(folder, 'root'), join(folder, 'data', 'skills')];
  mkdirSync(root);
  chmodSync(folder, 0o755);
  return {
    folder,
    root,
    store,
    /** Files by path below the root; objects are written as JSON, what begins with #! can be executed. */
    write(files: Record<string, string | JsonObject>) {
      for (const [path, content] of Object.entries(files)) {
        const text = typeof content === 'string' ? content : JSON.stringify(content);
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
      }
    },
    load: (more: { roots?: string[]; taken?: ReadonlySet<string> } = {}) =>
      loadSkills({ roots: [root], store, log: quietLog, ...more }),
  };
}

export function contextWith(progress: string[], signal = new AbortController().signal): ToolContext {
  return {
    toolUseId: 'call',
    agent: 'helper',
    owner: null,
    person: null,
    audience: 'direct',
    conversation: 'c',
    signal,
    log: quietLog,
    now: () => 0,
    progress: (text) => void progress.push(text),
    values: {
      get: async () => null,
      set: async () => {},
      delete: async () => false,
      list: async () => ({}),
    },
  };
}
