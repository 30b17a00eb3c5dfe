/** Which file may see which (STYLE 2, 3): imports go down, and some packages and powers have one home. */
import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { describe, it } from 'node:test';
import { filesIn, findings, type SourceFile, withoutComments } from './source_files.ts';

/** Folders of src, lowest first. Those of one row do not see each other. */
const rows = [
  ['types'],
  ['base'],
  ['words'],
  ['store', 'policy'],
  ['queue', 'models', 'sandbox'],
  ['outbox', 'people'],
  ['capability'],
  ['tools'],
  ['approvals'],
  ['skills'],
  ['inbox'],
  ['run'],
  ['http'],
  ['config', 'control'],
  ['cli'],
  ['gateway'],
];
/** Files that put everything together. */
const composition = ['src/main.ts', 'src/plugins.ts'];

/** Reasons stand beside the exceptions; one that is no longer needed fails. */
const exceptions = {
  clock: {
    'src/base/clock.ts': 'the clock',
  },
  randomness: {
    'src/base/ids.ts': 'ids, codes, tokens',
    'src/models/create_model.ts': 'jitter between retries; tests hand in their own',
  },
  sql: {},
} satisfies Record<string, Record<string, string>>;

const core = filesIn(['src'], ['.ts']).map(code);
const plugins = filesIn(['adapters', 'capabilities'], ['.ts', '.js']).map(code);

function code(file: SourceFile): SourceFile {
  return { ...file, text: withoutComments(file.text) };
}

interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
  /** Loaded where it is needed, by `import()`. */
  lazy: boolean;
}

/** Imports and re-exports, static and dynamic; relative ones as paths from the root. */
function importsOf(file: SourceFile): Import[] {
  const pattern = /\b(import|export)\s+(type\s)?[^'"`;()]*?\bfrom\s*'([^']+)'|\bimport\s*\(?\s*'([^']+)'/g;
  return [...file.text.matchAll(pattern)].map((match) => {
    const target = match[3] ?? match[4] ?? '';
    const to = target.startsWith('.') ? posix.join(posix.dirname(file.path), target) : target;
    return { from: file.path, to, typeOnly: match[2] !== undefined, lazy: match[0].includes('(') };
  });
}

function rowOf(path: string): number {
  const folder = path.split('/')[1] ?? '';
  return rows.findIndex((row) => row.includes(folder));
}

function againstTheArrow({ from, to, typeOnly }: Import): boolean {
  if (!to.startsWith('src/') || composition.includes(from)) return false;
  if (composition.includes(to)) return true;
  if (posix.dirname(from) === posix.dirname(to)) return false;
  // The words of adapters and tools name the clock and the log; as types they cost nothing.
  if (from.startsWith('src/types/') && to.startsWith('src/base/')) return !typeOnly;
  return from.split('/')[1] !== to.split('/')[1] && rowOf(to) >= rowOf(from);
}

/** The AI SDK stays behind src/models, and only the profile that needs a provider loads it. */
function againstTheSdk({ from, to, typeOnly, lazy }: Import): boolean {
  if (!/^(?:ai|@ai-sdk\/.*)$/.test(to)) return false;
  return !from.startsWith('src/models/') || !(typeOnly || lazy);
}

const shown = (imports: readonly Import[]) => imports.map(({ from, to }) => `${from} imports ${to}`);

describe('imports', () => {
  const ofCore = core.flatMap(importsOf);
  const ofPlugins = plugins.flatMap(importsOf);

  it('finds imports of every form', () => {
    const text = [
      "import a, { type B } from './a.ts';",
      "import type { C } from '../base/c.ts';",
      "import {\n  d,\n  e,\n} from '../store/d.ts';",
      "export { f } from 'f';",
      "import 'g';",
      "const { h } = await import('./h.ts');",
    ].join('\n');
    assert.deepEqual(
      importsOf({ path: 'src/run/x.ts', text }).map(
        ({ to, typeOnly, lazy }) => `${to}${typeOnly ? ' type' : ''}${lazy ? ' lazy' : ''}`,
      ),
      ['src/run/a.ts', 'src/base/c.ts type', 'src/store/d.ts', 'f', 'g', 'src/run/h.ts lazy'],
    );
    assert.ok(ofCore.length > 100, `${ofCore.length} imports in src`);
    assert.ok(againstTheArrow({ from: 'src/store/a.ts', to: 'src/run/b.ts', typeOnly: true, lazy: false }));
    assert.ok(againstTheArrow({ from: 'src/models/a.ts', to: 'src/queue/b.ts', typeOnly: false, lazy: false }));
    assert.ok(!againstTheArrow({ from: 'src/run/a.ts', to: 'src/store/b.ts', typeOnly: false, lazy: false }));
  });

  it('STYLE 3: every folder of src has its place in the order', () => {
    const unknown = core.filter(({ path }) => !composition.includes(path) && rowOf(path) === -1);
    assert.deepEqual(
      unknown.map(({ path }) => path),
      [],
      'add the folder to the rows above and to src/README.md',
    );
  });

  it('STYLE 3: imports of src go down', () => assert.deepEqual(shown(ofCore.filter(againstTheArrow)), []));

  it('STYLE 1: src/README.md lists the folders in this order', () => {
    const [readme] = filesIn(['src/README.md'], ['.md']);
    const listed = [...(readme?.text ?? '').matchAll(/^\| `([a-z_]+)\/` \|/gm)].map((match) => match[1]);
    const there = rows.flat().filter((folder) => core.some(({ path }) => path.startsWith(`src/${folder}/`)));
    assert.deepEqual(listed, there);
  });

  it('STYLE 2: adapters and capabilities see src/types, src/base and their own folder', () => {
    const wrong = ofPlugins.filter(({ from, to }) => {
      const own = from.split('/').slice(0, 2).join('/');
      return (
        /^(?:src|adapters|capabilities|test|scripts)\//.test(to) &&
        !/^src\/(?:types|base)\//.test(to) &&
        !to.startsWith(`${own}/`)
      );
    });
    assert.deepEqual(shown(wrong), []);
  });

  it('STYLE 2: only src/plugins.ts names adapters and capabilities', () => {
    const wrong = ofCore.filter(({ from, to }) => /^(?:adapters|capabilities)\//.test(to) && from !== 'src/plugins.ts');
    assert.deepEqual(shown(wrong), []);
  });

  it('only src/models knows the AI SDK, and it loads it lazily', () => {
    const used = ofCore.filter(({ to }) => to.startsWith('@ai-sdk/'));
    assert.ok(used.length > 0, 'nothing imports the SDK');
    assert.deepEqual(shown([...ofCore, ...ofPlugins].filter(againstTheSdk)), []);
    const plain = { from: 'src/models/a.ts', to: '@ai-sdk/openai', typeOnly: false, lazy: false };
    assert.ok(againstTheSdk(plain));
    assert.ok(!againstTheSdk({ ...plain, lazy: true }));
    assert.ok(againstTheSdk({ ...plain, lazy: true, from: 'src/run/a.ts' }));
  });

  it('only src/store knows the databases', () => {
    const wrong = [...ofCore, ...ofPlugins].filter(
      ({ from, to }) => /^(?:better-sqlite3|pg)$/.test(to) && !from.startsWith('src/store/'),
    );
    assert.deepEqual(shown(wrong), []);
  });
});

describe('powers', () => {
  const sql = /\b(?:select\s[^`']*\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from|create\s+table)\s/i;
  const clock = /(?<![.\w])(?:Date\.now\(|setTimeout\(|setInterval\(|new Date\(\))/;
  const randomness = /\bMath\.random\b|\b(?:randomBytes|randomInt|randomUUID|getRandomValues)\(/;
  const outsideStore = [...core, ...plugins].filter(({ path }) => !path.startsWith('src/store/'));

  it('only src/store speaks SQL', () => {
    const files = outsideStore.map((file) => ({ ...file, text: templatesOf(file.text) }));
    assert.deepEqual(findings(files, sql, exceptions.sql), []);
  });

  it('STYLE 17: only src/base/clock.ts has the time', () => {
    const server = [...core, ...plugins.filter(({ path }) => path.endsWith('.ts'))];
    assert.deepEqual(findings(server, clock, exceptions.clock), []);
  });

  it('STYLE 17: only src/base has randomness', () => {
    const server = [...core, ...plugins.filter(({ path }) => path.endsWith('.ts'))];
    assert.deepEqual(findings(server, randomness, exceptions.randomness), []);
  });

  it('finds each of them', () => {
    assert.match('select a\nfrom b '.replace('\n', ' '), sql);
    assert.match('insert into runs (id)', sql);
    assert.doesNotMatch('Pick one from the menu ', sql);
    assert.match('const t = Date.now();', clock);
    assert.match(' setTimeout(f, 1)', clock);
    assert.doesNotMatch('socket.setTimeout(1)', clock);
    assert.match('randomInt(4)', randomness);
  });

  it('needs every exception', () => {
    const needless = (list: Record<string, string>, pattern: RegExp) =>
      Object.keys(list).filter(
        (path) =>
          findings(
            core.filter((file) => file.path === path),
            pattern,
          ).length === 0,
      );
    assert.deepEqual(needless(exceptions.clock, clock), []);
    assert.deepEqual(needless(exceptions.randomness, randomness), []);
    assert.deepEqual(needless(exceptions.sql, sql), []);
  });
});

/** Template literals, each on one line; everything else is left out. */
function templatesOf(text: string): string {
  return [...text.matchAll(/`(?:[^`\\]|\\[\s\S])*`/g)].map((match) => match[0].replaceAll('\n', ' ')).join('\n');
}
