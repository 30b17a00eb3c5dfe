/** The style of the house as tests (STYLE 15 to 17). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { filesIn, findings, type SourceFile, withoutComments, withoutStrings } from './source_files.ts';

const linesMax = 400;
/** Longer files, each with its reason. */
const longFiles: Record<string, string> = {};

const written = ['src', 'adapters', 'capabilities', 'scripts', 'bin'];
const product = filesIn(['src', 'adapters', 'capabilities'], ['.ts', '.js', '.css', '.html']);
const everything = filesIn(
  [...written, 'test', 'migrations', 'docs', '.ci', 'README.md', 'CHANGELOG.md', 'config.yaml', 'package.json'],
  ['.ts', '.js', '.css', '.html', '.md', '.yaml', '.yml', '.json', '.sql', '.sh', 'run'],
);
const code = filesIn(written, ['.ts']).map((file) => ({
  ...file,
  text: withoutStrings(withoutComments(file.text)),
}));

const names = (files: readonly SourceFile[]) => files.map(({ path }) => path);

describe('house style', () => {
  it('reads files at all', () => {
    assert.ok(product.length > 50, `${product.length} files`);
    assert.ok(everything.length > product.length);
  });

  it('nothing is left for later', () => {
    // Written apart, so that this line is not one of its findings.
    const later = new RegExp(
      `\\b(?:${['TO', 'FIX'].map((word) => `${word}${word === 'TO' ? 'DO' : 'ME'}`).join('|')}|XXX|HACK)\\b|\\bstub(?:s|bed)?\\b|not implemented`,
    );
    assert.deepEqual(findings([...filesIn(written, ['.ts', '.js', '.css', '.sql'])], later), []);
  });

  it(`STYLE 17: no file is longer than ${linesMax} lines`, () => {
    const long = product.filter(({ text }) => text.split('\n').length - 1 > linesMax);
    assert.deepEqual(
      names(long).filter((path) => !(path in longFiles)),
      [],
    );
    assert.deepEqual(
      Object.keys(longFiles).filter((path) => !names(long).includes(path)),
      [],
      'no longer needed',
    );
  });

  it('STYLE 17: no any, no enum, no namespace', () => {
    const loose =
      /(?:[:<|&,]\s*|\bas\s+|=>\s*)any\b(?!\s*[:(])|\bany\[\]|^\s*(?:export\s+)?(?:const\s+)?enum\s|^\s*(?:export\s+)?namespace\s/;
    assert.match('const a = b as any;', loose);
    assert.match('function f(a: any) {', loose);
    assert.doesNotMatch(withoutStrings("pick(': any')"), loose);
    assert.deepEqual(findings(code, loose), []);
  });

  it('STYLE 15: files and folders are snake_case', () => {
    const paths = names(
      filesIn([...written, 'test', 'migrations'], ['.ts', '.js', '.css', '.html', '.sql', '.py', '.sh']),
    );
    const wrong = paths.filter((path) => !path.split('/').every((part) => /^[a-z0-9_]+(?:\.[a-z0-9_]+)*$/.test(part)));
    assert.deepEqual(wrong, []);
  });

  it('STYLE 15: no file is named for holding things', () => {
    const vague = /(?:^|[/_])(?:utils?|helpers?|manager|misc|common|data)(?:[/_.]|$)/;
    assert.match('src/base/string_utils.ts', vague);
    assert.deepEqual(
      names(product).filter((path) => vague.test(path)),
      [],
    );
  });

  it('no file knows the machine it was written on', () => {
    const machine = /(?<![\w.\-/])\/(?:work|root|home)\/\w/;
    assert.match(`cd ${'/wo'}rk/main`, machine);
    assert.doesNotMatch('https://h/home/x', machine);
    assert.deepEqual(findings(everything, machine), []);
  });

  it('text files end with one line end and have none of another system', () => {
    const wrong = everything.filter(
      ({ text }) => text.includes('\r\n') || !text.endsWith('\n') || text.endsWith('\n\n'),
    );
    assert.deepEqual(
      names(wrong).filter((path) => !path.startsWith('test/fixtures/')),
      [],
    );
  });
});
