/** Checks of sections that later versions build: a file is right or wrong whether or not they are there yet. */

import { capabilityIds, checkTool, toolIds } from './check_agents.ts';
import { type CheckContext, checkName, entries, items, keys, object } from './check_context.ts';
import { suggestion } from './issue.ts';

export function checkLater(context: CheckContext): void {
  checkPolicies(context);
  const { data } = context;
  for (const [name, server] of entries(data.mcp_servers)) {
    const path = ['mcp_servers', name];
    if (server.url === undefined && server.command === undefined)
      context.error(path, 'needs url (streamable HTTP) or command (stdio)');
    if (server.url !== undefined && server.command !== undefined)
      context.error([...path, 'command'], 'there is also url; keep one of the two');
  }
  const seen = new Set<string>();
  for (const [index, file] of items(data.context_files)) {
    const id = object(file).id;
    if (typeof id !== 'string') continue;
    if (seen.has(id)) context.error(['context_files', index, 'id'], `"${id}" is there twice; ids are unique`);
    seen.add(id);
  }
  for (const [index, item] of items(object(data.events).subscriptions)) {
    const path = ['events', 'subscriptions', index];
    const one = object(item);
    checkName(context, [...path, 'agent'], one.agent, 'agents', keys(data.agents));
    if (typeof one.deliver_to === 'string')
      checkName(context, [...path, 'deliver_to'], one.deliver_to.split(':')[0], 'channels', keys(data.channels));
    if (one.agent === undefined && one.webhook === undefined) context.error(path, 'needs agent or webhook');
    if (one.agent !== undefined && one.deliver_to === undefined)
      context.error([...path, 'deliver_to'], 'is missing: the chat where the agent answers, <channel>:<platform id>');
  }
}

function checkPolicies(context: CheckContext): void {
  const known = ['__builtin__', 'channel_tools', ...capabilityIds(context.plugins)];
  for (const [id, rules] of entries(context.data.policies)) {
    const path = ['policies', id];
    const match = /^(container|skill|mcp):(.+)$/.exec(id);
    if (match === null && !known.includes(id)) {
      context.error(path, `"${id}" is not a capability${suggestion(id, known, 'capabilities')}`);
      continue;
    }
    if (match?.[1] === 'mcp') checkName(context, path, match[2], 'mcp_servers', keys(context.data.mcp_servers));
    const tools = toolIds(context.plugins, id);
    for (const tool of Object.keys(rules)) checkTool(context, [...path, tool], tool, tools, id);
  }
}
