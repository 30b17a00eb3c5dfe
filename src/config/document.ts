/**
 * A YAML file as plain data that remembers where each key stood. YAML is read as people mean it: one document, no
 * key twice, no tags, no merge keys, aliases only within a bound.
 */
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments } from 'yaml';
import type { Json, JsonObject } from '../types/json.ts';
import { substitute, type VariableUse } from './environment.ts';
import { type ConfigIssue, formatPath, type Path } from './issue.ts';

const documentBytesMax = 1024 * 1024;
/** After aliases are followed: a few lines of nested aliases can otherwise fill the memory. */
const documentNodesMax = 20_000;
const documentDepthMax = 40;

export interface ConfigDocument {
  data: JsonObject;
  issues: ConfigIssue[];
  /** Line of the key or list item, or of the nearest one around it. */
  lineOf(path: Path): number | undefined;
  /** A number as it was written: ids longer than a number can hold keep every digit. */
  writtenNumber(path: Path): string | undefined;
  /** Variables a value took from the environment, and whether it took all of them. */
  variables: { path: Path; names: string[]; values: string[]; leftEmpty: string | null }[];
}

export function readDocument(bytes: Uint8Array, env: NodeJS.ProcessEnv): ConfigDocument {
  const lines = new Map<string, number>();
  const numbers = new Map<string, string>();
  const out: ConfigDocument = {
    data: {},
    issues: [],
    variables: [],
    lineOf(path) {
      for (let length = path.length; length > 0; length--) {
        const line = lines.get(JSON.stringify(path.slice(0, length)));
        if (line !== undefined) return line;
      }
      return undefined;
    },
    writtenNumber: (path) => numbers.get(JSON.stringify(path)),
  };
  const refuse = (message: string, line?: number, path: Path = []) => {
    const issue: ConfigIssue = { path: formatPath(path), message };
    if (line !== undefined) issue.line = line;
    out.issues.push(issue);
  };

  if (bytes.length > documentBytesMax) {
    refuse('the file is larger than 1 MiB; is this the right file?');
    return out;
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    refuse('the file is not UTF-8 text; save it as UTF-8');
    return out;
  }

  const counter = new LineCounter();
  const documents = parseAllDocuments(text, {
    lineCounter: counter,
    prettyErrors: false,
    uniqueKeys: false,
    merge: false,
  });
  const document = 'empty' in documents ? undefined : (documents[0] as Document.Parsed | undefined);
  if (document === undefined) {
    refuse('the file has no settings; see docs/configuration.md for a first one');
    return out;
  }
  for (const { errors, warnings } of documents as Document.Parsed[])
    for (const error of [...errors, ...warnings])
      refuse(`not valid YAML: ${plainWords(error.code, error.message)}`, counter.linePos(error.pos[0]).line);
  if ((documents as Document.Parsed[]).length > 1)
    refuse(
      'the file holds several YAML documents; keep one and remove the "---" before the others',
      counter.linePos((documents as Document.Parsed[])[1]!.range[0]).line,
    );
  if (document.directives?.yaml.explicit === true && document.directives.yaml.version !== '1.2')
    refuse('only YAML 1.2 is read; remove the %YAML line', 1);
  if (out.issues.length > 0) return out;

  let nodes = 0;
  let tooLarge = false;
  const lineAt = (node: Node | null | undefined) => (node?.range ? counter.linePos(node.range[0]).line : undefined);

  const convert = (node: unknown, path: Path): Json => {
    if (tooLarge) return null;
    if (++nodes > documentNodesMax || path.length > documentDepthMax) {
      tooLarge = true;
      refuse('the file is too large once its aliases (*name) are followed; write the values out instead');
      return null;
    }
    if (isAlias(node)) {
      const target = node.resolve(document);
      if (target === undefined) refuse(`*${node.source} has no anchor &${node.source} before it`, lineAt(node), path);
      return target === undefined ? null : convert(target, path);
    }
    if (isMap(node)) return convertMap(node.items, path);
    if (isSeq(node))
      return node.items.map((item, index) => {
        const at = [...path, index];
        const line = lineAt(item as Node | null);
        if (line !== undefined) lines.set(JSON.stringify(at), line);
        return convert(item, at);
      });
    return isScalar(node) ? convertScalar(node.value, node.source, path) : null;
  };

  const convertMap = (items: readonly { key: unknown; value: unknown }[], path: Path): JsonObject => {
    const object: JsonObject = {};
    for (const { key, value } of items) {
      const line = lineAt(key as Node | null);
      if (!isScalar(key) || key.value === null || typeof key.value === 'object') {
        refuse('a key must be a word; quote it if it is one', line, path);
        continue;
      }
      const name = typeof key.value === 'number' && key.source !== undefined ? key.source : String(key.value);
      const at = [...path, name];
      const known = lines.get(JSON.stringify(at));
      if (name === '<<') refuse('merge keys (<<) are not read; write the values out', line, path);
      else if (name === '__proto__') refuse('this name cannot be used', line, at);
      else if (Object.hasOwn(object, name)) refuse(`is written twice, first in line ${known}; remove one`, line, at);
      else {
        if (line !== undefined) lines.set(JSON.stringify(at), line);
        object[name] = convert(value, at);
      }
    }
    return object;
  };

  const convertScalar = (value: unknown, source: string | undefined, path: Path): Json => {
    if (typeof value === 'number' || typeof value === 'bigint') {
      if (source !== undefined) numbers.set(JSON.stringify(path), source);
      return Number(value);
    }
    if (typeof value !== 'string') return typeof value === 'boolean' ? value : null;
    const result = substitute(value, env, useOf(path));
    for (const problem of result.problems) refuse(problem, out.lineOf(path), path);
    if (result.names.length > 0)
      out.variables.push({ path, names: result.names, values: result.values, leftEmpty: result.leftEmpty });
    return result.text;
  };

  const root = convert(document.contents, []);
  if (tooLarge) return out;
  if (root === null || typeof root !== 'object' || Array.isArray(root))
    refuse(
      root === null
        ? 'the file has no settings; see docs/configuration.md for a first one'
        : 'the file must be a list of "key: value" settings',
    );
  else out.data = root;
  return out;
}

function useOf(path: Path): VariableUse {
  if (path.at(-1) === 'api_key') return 'model_key';
  return path[0] === 'channels' ? 'channel' : 'other';
}

function plainWords(code: string, message: string): string {
  if (code === 'TAB_AS_INDENT' || /tab/i.test(message)) return 'a tab cannot indent; use spaces';
  if (code === 'TAG_RESOLVE_FAILED') return 'tags (!name) are not read; remove it, or quote the value if it is text';
  if (code === 'BAD_ALIAS' || code === 'MULTIPLE_ANCHORS') return message.toLowerCase();
  const bracket = /^Flow (map|sequence) .*end with a/.exec(message)?.[1];
  if (bracket !== undefined) return `a \`${bracket === 'map' ? '{' : '['}\` is not closed before this`;
  if (code === 'MISSING_CHAR') return `${message}; is a quote or a bracket left open?`;
  return message;
}
