import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { messageOf } from '../base/errors.ts';
import { contextWindowOf } from '../models/known.ts';
import type { Json, JsonObject, JsonSchema } from '../types/json.ts';
import { chooseByOllama } from './auto_model.ts';
import { checkTogether } from './check.ts';
import { type CheckContext, entries, items, object } from './check_context.ts';
import type { Config } from './config.ts';
import { type ConfigDocument, readDocument } from './document.ts';
import { ConfigError, type ConfigIssue, formatPath, type Path } from './issue.ts';
import { laterCapabilities } from './later.ts';
import { findNotYet } from './not_yet.ts';
import { freeze, type Resolved, resolveConfig } from './resolve.ts';
import { createConfigSchema, type Plugins } from './schema.ts';
import { eachSecret, fillDefaults, isObject } from './schema_walk.ts';
import { validate, withoutWrong } from './validate.ts';

export interface LoadedConfig {
  config: Config;
  /** The file's name, as it stands in front of the lines below. */
  file: string;
  /** Where its relative paths begin; to be given again when the file is read again. */
  folder: string;
  /** Keys that the file sets and whose feature this version does not have. */
  notYet: ConfigIssue[];
  warnings: ConfigIssue[];
  /** What was decided by the environment: channels left out, what `provider: auto` became. */
  notices: ConfigIssue[];
  /** Values to mask wherever they would be shown. */
  secretValues: string[];
  /** Profiles with `provider: auto` for which no key was found: `settleAuto` asks Ollama. */
  undecided: { name: string; line?: number }[];
}

/**
 * Reads, checks and resolves a file. Touches nothing but that file and the instruction files it names. Relative paths
 * in it begin at `folder`, by default its own.
 * @throws ConfigError with every problem at once.
 */
export function loadConfig(path: string, env: NodeJS.ProcessEnv, plugins: Plugins, folder?: string): LoadedConfig {
  const full = resolve(path);
  const file = basename(full);
  const document = readDocument(readFile(full, file), env);
  if (document.issues.length > 0 && Object.keys(document.data).length === 0)
    throw new ConfigError(file, document.issues);

  const schema = schemaOf(plugins);
  const errors: ConfigIssue[] = [...document.issues];
  const warnings: ConfigIssue[] = [];
  const notices: ConfigIssue[] = [];
  const lined = (at: Path) => {
    const line = document.lineOf(at);
    return line === undefined ? {} : { line };
  };
  const issue = (at: Path, message: string): ConfigIssue => ({ path: formatPath(at), ...lined(at), message });

  const written = document.data;
  const leftOut = leaveOut(document, schema, notices, issue);
  const hidden = (at: Path) => document.variables.some((one) => formatPath(one.path) === formatPath(at));
  // What `${NAME}` could not fill is reported already; that it is empty is not news.
  const reported = new Set(document.issues.map((one) => one.path));
  const problems = validate(schema, written, hidden).filter(
    (one) => !reported.has(formatPath(one.path)) && !isTokenOf(leftOut, one.path),
  );
  errors.push(...problems.map((one) => issue(one.path, one.message)));

  const data = withoutWrong(written, problems);
  writeOutCapabilities(data, plugins);
  fillDefaults(schema, data);
  const context: CheckContext = {
    data,
    plugins,
    folder: folder ?? dirname(full),
    writtenNumber: document.writtenNumber,
    written: (at) => valueAt(written, at) !== undefined,
    error(at, message) {
      if (!problems.some((one) => isInside(one.path, at)) && !reported.has(formatPath(at)))
        errors.push(issue(at, message));
    },
    warn: (at, message) => void warnings.push(issue(at, message)),
    instructions: new Map(),
  };
  checkTogether(context);
  if (errors.length > 0) throw new ConfigError(file, inOrder(errors));

  const substituted = document.variables.flatMap(({ names }) => names);
  const resolved = resolveConfig(context, full, env, { leftOut: new Set(leftOut.keys()), substituted });
  return {
    config: resolved.config,
    file,
    folder: context.folder,
    notYet: findNotYet(written, document, plugins),
    warnings: inOrder(warnings),
    notices: [...notices, ...chosen(resolved, issue)],
    secretValues: secretsOf(schema, data, document, resolved),
    undecided: Object.keys(resolved.auto)
      .filter((name) => resolved.auto[name] === null)
      .map((name) => ({ name, ...lined(['models', name]) })),
  };
}

/** Asks Ollama where `provider: auto` found no key, once for all profiles. For the start, not for `check`. */
export async function settleAuto(loaded: LoadedConfig, env: NodeJS.ProcessEnv): Promise<LoadedConfig> {
  if (loaded.undecided.length === 0) return loaded;
  const choice = await chooseByOllama(env);
  const models = { ...loaded.config.models };
  for (const { name } of loaded.undecided) {
    const { provider, model, apiKey, baseUrl, price } = choice;
    // The price of a model on one's own machine is nothing to the provider's bill.
    models[name] = { ...models[name]!, provider, model, apiKey, baseUrl, price, contextWindow: contextWindowOf(model) };
  }
  const notices = loaded.undecided.map(({ name, ...line }) => ({
    path: formatPath(['models', name]),
    ...line,
    message: `uses ${choice.provider === 'demo' ? 'the offline demo model' : choice.model}, because ${choice.because}`,
  }));
  return {
    ...loaded,
    config: freeze({ ...loaded.config, models }),
    notices: [...loaded.notices, ...notices],
    undecided: [],
  };
}

const schemas = new WeakMap<Plugins, JsonSchema>();
function schemaOf(plugins: Plugins): JsonSchema {
  let schema = schemas.get(plugins);
  if (schema === undefined) {
    schema = createConfigSchema(plugins);
    schemas.set(plugins, schema);
  }
  return schema;
}

function readFile(path: string, file: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const message = missing
      ? `there is no file ${path}; name one with --config FILE`
      : `cannot read ${path}: ${messageOf(error)}`;
    throw new ConfigError(file, [{ path: '', message }]);
  }
}

/**
 * `${NAME:-}` without a value counts as a line that is not there. Where a channel cannot do without it the channel is
 * left out. Returns the left out channels with the key that is missing.
 */
function leaveOut(
  document: ConfigDocument,
  schema: JsonSchema,
  notices: ConfigIssue[],
  issue: (path: Path, message: string) => ConfigIssue,
): Map<string, string> {
  const leftOut = new Map<string, string>();
  for (const { path, leftEmpty } of document.variables) {
    if (leftEmpty === null || valueAt(document.data, path) !== '') continue;
    const parent = valueAt(document.data, path.slice(0, -1));
    const key = String(path.at(-1));
    if (path[0] === 'channels' && path.length === 3 && isObject(parent) && isRequired(schema, parent, key)) {
      leftOut.set(String(path[1]), key);
      notices.push(issue(path.slice(0, 2), `left out, because ${leftEmpty} is not set`));
    } else if (isObject(parent)) delete parent[key];
  }
  return leftOut;
}

function isRequired(schema: JsonSchema, channel: JsonObject, key: string): boolean {
  const sections = schema.properties as Record<string, JsonSchema>;
  const branches = (sections.channels!.additionalProperties as JsonSchema).oneOf as JsonSchema[];
  const branch = branches.find((one) => (one.properties as Record<string, JsonSchema>).type!.const === channel.type);
  return ((branch?.required as string[] | undefined) ?? []).includes(key);
}

function isTokenOf(leftOut: Map<string, string>, path: Path): boolean {
  return path[0] === 'channels' && path.length === 3 && leftOut.get(String(path[1])) === path[2];
}

/** The short form `clock` as `{ id: clock }`, so that the defaults of its settings are filled in too. */
function writeOutCapabilities(data: JsonObject, plugins: Plugins): void {
  const known = new Set([...plugins.capabilities.map((one) => one.id), ...Object.keys(laterCapabilities)]);
  for (const [, agent] of entries(data.agents)) {
    const list = agent.capabilities;
    if (!Array.isArray(list)) continue;
    for (const [index, item] of items(list))
      if (typeof item === 'string' && known.has(item)) list[index] = { id: item };
  }
}

function valueAt(data: Json, path: Path): Json | undefined {
  let at: Json | undefined = data;
  for (const part of path) at = Array.isArray(at) ? at[Number(part)] : isObject(at) ? at[String(part)] : undefined;
  return at;
}

/** Whether `inner` is `outer` or below it. */
function isInside(inner: Path, outer: Path): boolean {
  return inner.length >= outer.length && outer.every((part, index) => part === inner[index]);
}

function inOrder(issues: ConfigIssue[]): ConfigIssue[] {
  return [...issues].sort((left, right) => (left.line ?? 0) - (right.line ?? 0));
}

function chosen(resolved: Resolved, issue: (path: Path, message: string) => ConfigIssue): ConfigIssue[] {
  return Object.entries(resolved.auto).flatMap(([name, choice]) =>
    choice === null ? [] : [issue(['models', name], `uses ${choice.model}, because ${choice.because}`)],
  );
}

/** Every secret of the file: the whole value, what variables put into it, and the password of the storage URL. */
function secretsOf(schema: JsonSchema, data: JsonObject, document: ConfigDocument, resolved: Resolved): string[] {
  const found = new Set<string>();
  eachSecret(schema, data, (path, secret) => {
    found.add(secret);
    for (const one of document.variables)
      if (formatPath(one.path) === formatPath(path)) for (const value of one.values) found.add(value);
  });
  const url = object(data.storage).url;
  if (typeof url === 'string') {
    found.delete(url);
    if (URL.canParse(url) && new URL(url).password !== '') {
      found.add(new URL(url).password);
      found.add(decodeURIComponent(new URL(url).password));
    }
  }
  for (const choice of Object.values(resolved.auto)) if (choice?.apiKey) found.add(choice.apiKey);
  return [...found];
}
