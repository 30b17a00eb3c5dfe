/** What the checks of `check*.ts` share: the data they look at, and ways through it that nothing wrong can break. */
import { splitAccount } from '../base/account.ts';
import type { Json, JsonObject } from '../types/json.ts';
import { type Path, suggestion } from './issue.ts';
import { laterChannels } from './later.ts';
import type { Plugins } from './schema.ts';
import { isObject } from './schema_walk.ts';

export interface CheckContext {
  /** With defaults, without the values the schema refused; refused list items are null. */
  data: JsonObject;
  plugins: Plugins;
  /** Folder of the configuration file; relative paths begin here. */
  folder: string;
  writtenNumber(path: Path): string | undefined;
  /** Whether the file itself sets this. */
  written(path: Path): boolean;
  error(path: Path, message: string): void;
  warn(path: Path, message: string): void;
  /** The text of every agent's `instructions_file`, by agent; filled by the check. */
  instructions: Map<string, string>;
}

/** Entries of an object section that are objects. */
export function entries(value: Json | undefined): [string, JsonObject][] {
  return isObject(value) ? (Object.entries(value).filter(([, one]) => isObject(one)) as [string, JsonObject][]) : [];
}

/** Items of a list, without refused ones, with their places in the file. */
export function items(value: Json | undefined): [number, Json][] {
  return Array.isArray(value) ? [...value.entries()].filter(([, one]) => one !== null) : [];
}

export function keys(value: Json | undefined): string[] {
  return isObject(value) ? Object.keys(value) : [];
}

export function object(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** A name that must stand elsewhere in the file. */
export function checkName(context: CheckContext, path: Path, name: Json | undefined, section: string, known: string[]) {
  if (typeof name !== 'string' || known.includes(name)) return;
  context.error(path, `"${name}" is not under ${section}${suggestion(name, known, `names under ${section}`)}`);
}

/** An account, `<channel>:<platform user id>` (field reports 155 to 159: ids, never names). */
export function checkAccount(context: CheckContext, path: Path, account: string): void {
  const { channel, userId: id } = splitAccount(account);
  checkName(context, path, channel, 'channels', keys(context.data.channels));
  const type = object(object(context.data.channels)[channel]).type;
  const rule = context.plugins.adapters.find((adapter) => adapter.type === type)?.accountIds;
  if (/^[@#]/.test(id) || /\s/.test(id) || (rule !== undefined && !new RegExp(rule.pattern).test(id)))
    context.error(
      path,
      `"${id}" is not a user id${rule === undefined ? '' : ` (${rule.hint})`}; names can change hands, so write the ` +
        'id, which the person sees by sending "whoami" to the bot',
    );
}

/** What is known of a platform, built or not. */
export function platform(context: CheckContext, channel: Json | undefined) {
  const type = object(object(context.data.channels)[String(channel)]).type;
  return (
    context.plugins.adapters.find((adapter) => adapter.type === type) ?? laterChannels.find((one) => one.type === type)
  );
}
