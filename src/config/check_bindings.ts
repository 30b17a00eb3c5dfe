import type { Json, JsonObject } from '../types/json.ts';
import { checkTool, usesOf, visibleNames } from './check_agents.ts';
import { type CheckContext, checkAccount, checkName, items, keys, object, platform } from './check_context.ts';
import type { Path } from './issue.ts';
import { channelToolIds } from './later.ts';

export function checkBindings(context: CheckContext): void {
  const { data } = context;
  const ids = new Map<string, number>();
  const bindings = items(data.bindings).map(([index, binding]) => ({ index, binding: object(binding) }));
  for (const { index, binding } of bindings) {
    const path = ['bindings', index];
    const id = binding.id;
    if (typeof id === 'string') {
      if (ids.has(id))
        context.error([...path, 'id'], `"${id}" is also the id of bindings[${ids.get(id)}]; ids are unique`);
      else ids.set(id, index);
    }
    checkName(context, [...path, 'agent'], binding.agent, 'agents', keys(data.agents));
    checkName(context, [...path, 'channel'], binding.channel, 'channels', keys(data.channels));
    checkWhere(context, path, binding);
    checkAccess(context, path, binding);
    checkChannelTools(context, path, binding);
    for (const [at, account] of items(object(binding.approvals).approvers))
      checkAccount(context, [...path, 'approvals', 'approvers', at], String(account));
  }
  checkOverlaps(context, bindings);
}

/** Platform ids as text; a number keeps the digits it was written with. */
export function chatIds(context: Pick<CheckContext, 'writtenNumber'>, path: Path, chats: Json | undefined): string[] {
  return items(chats).map(([index, chat]) =>
    typeof chat === 'number' ? (context.writtenNumber([...path, index]) ?? String(chat)) : String(chat),
  );
}

function checkWhere(context: CheckContext, path: Path, binding: JsonObject): void {
  if (binding.where === undefined) return;
  const where = object(binding.where);
  if (where.chats !== 'any' && items(where.chats).length === 0 && where.direct !== true)
    context.error([...path, 'where'], 'names no place; set chats (ids, or any), or direct: true');
  for (const [index, chat] of items(where.chats))
    if (typeof chat === 'string' && /^[@#]/.test(chat))
      context.error(
        [...path, 'where', 'chats', index],
        `"${chat}" is a name, and names can change hands; write the id the platform gives the chat, such as C0123456789 ` +
          'or -1001234567890',
      );
}

function checkAccess(context: CheckContext, path: Path, binding: JsonObject): void {
  const access = object(binding.access);
  const kind = platform(context, binding.channel);
  if (object(binding.where).chats === 'any' && access.group === 'open' && kind?.groupsNeedAdmission === true)
    context.error(
      [...path, 'access', 'group'],
      `open with chats: any would let anybody use this bot, since anybody can add it to a group on ${kind.type}; ` +
        'list the chats, or remove this line',
    );
  for (const [index, account] of items(access.allow))
    checkAccount(context, [...path, 'access', 'allow', index], String(account));
}

function checkChannelTools(context: CheckContext, path: Path, binding: JsonObject): void {
  const grants = object(binding.channel_tools);
  for (const key of ['tool_approval', 'tool_overrides'])
    for (const tool of keys(grants[key]))
      checkTool(context, [...path, 'channel_tools', key, tool], tool, channelToolIds, 'channel_tools');
  if (keys(grants.tool_overrides).length === 0) return;
  const agent = object(object(context.data.agents)[String(binding.agent)]);
  const names = visibleNames(context, '__builtin__', {}, new Map(), null);
  for (const use of usesOf(String(binding.agent), agent))
    if (use.entry.enabled !== false) visibleNames(context, use.id, use.entry, names, null);
  visibleNames(context, 'channel_tools', grants, names, [...path, 'channel_tools']);
}

/**
 * Rule 12: the most specific `where` wins, in the order a listed chat, any chat; a direct chat is either listed or
 * `direct`. Two bindings of equal rank that meet one chat are an error.
 */
function checkOverlaps(context: CheckContext, bindings: { index: number; binding: JsonObject }[]): void {
  const places = new Map<string, number>();
  const claim = (place: string, index: number, path: Path, what: string) => {
    const other = places.get(place);
    if (other === undefined) places.set(place, index);
    else if (other !== index)
      context.error(
        path,
        `${what} is also taken by bindings[${other}] on the same channel; one of the two must let go`,
      );
  };
  for (const { index, binding } of bindings) {
    if (typeof binding.channel !== 'string') continue;
    const where = object(binding.where);
    const path = ['bindings', index, 'where'];
    if (where.direct === true) claim(`${binding.channel} direct`, index, [...path, 'direct'], 'direct');
    if (where.chats === 'any') claim(`${binding.channel} any`, index, [...path, 'chats'], 'any');
    for (const chat of new Set(chatIds(context, [...path, 'chats'], where.chats)))
      claim(`${binding.channel} chat ${chat}`, index, [...path, 'chats'], `chat ${chat}`);
  }
}
