import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { messageOf } from '../../src/base/errors.ts';
import { formatIssue } from '../../src/config/issue.ts';
import { loadConfig } from '../../src/config/load.ts';
import { plugins } from '../../src/plugins.ts';
import { errorsOf, folderWith, load } from './support.ts';

/** A valid file to which a test adds what is wrong: lines of an agent, of a binding, or of the file. */
function file({ models = '', channels = '', agent = '', binding = '', more = '' }): string {
  return `models:
  main: { provider: demo }
${models}channels:
  page: { type: web }
  tg: { type: telegram, token: "1:abc" }
  slack: { type: slack, bot_token: xoxb-1, app_token: xapp-1 }
${channels}agents:
  helper:
    model: main
    instructions: Help.
${agent}bindings:
  - id: page
    agent: helper
    channel: page
    where: { direct: true }
${binding}${more}`;
}

/** Errors without file and line, which other tests prove. */
const messages = (t: Parameters<typeof errorsOf>[0], yaml: string) =>
  errorsOf(t, yaml).map((line) => line.replace(/^config\.yaml(:\d+)? /, ''));

test('the file these tests change is valid', (t) => {
  assert.deepEqual(errorsOf(t, file({})), []);
});

test('models: what a provider needs', (t) => {
  const yaml = file({
    models: `  a: { provider: openai }
  b: { provider: openai_compatible, model: x }
  c: { provider: auto, model: gpt-x }
  d: { provider: anthropic, model: claude-x, base_url: "http://127.0.0.1:1/v1" }
`,
  });
  assert.deepEqual(messages(t, yaml), [
    'models.a.model: is missing: the name openai gives the model',
    `models.a.api_key: is missing; write api_key: \${OPENAI_API_KEY}`,
    'models.b.base_url: is missing: the URL of the server, such as http://127.0.0.1:8000/v1',
    'models.c.model: provider auto chooses this itself; write the provider (such as openai) to set model',
  ]);
});

test('models: fallbacks exist and do not go round', (t) => {
  const yaml = file({
    models: `  a: { provider: demo, fallbacks: [b, mian] }
  b: { provider: demo, fallbacks: [c] }
  c: { provider: demo, fallbacks: [a] }
  d: { provider: demo, fallbacks: [d] }
`,
  });
  assert.deepEqual(messages(t, yaml), [
    'models.a.fallbacks[1]: "mian" is not under models, did you mean "main"?',
    'models.c.fallbacks[0]: goes round in a circle: a → b → c → a; remove one',
    'models.d.fallbacks[0]: goes round in a circle: d → d; remove one',
  ]);
});

test('bindings: ids are unique, agent and channel exist', (t) => {
  const yaml = file({ binding: '  - { id: page, agent: helpr, channel: pages, where: { direct: true } }\n' });
  assert.deepEqual(messages(t, yaml), [
    'bindings[1].id: "page" is also the id of bindings[0]; ids are unique',
    'bindings[1].agent: "helpr" is not under agents, did you mean "helper"?',
    'bindings[1].channel: "pages" is not under channels, did you mean "page"?',
  ]);
});

test('R12: overlapping bindings of equal rank on one channel are an error', (t) => {
  const yaml = file({
    binding: `  - { id: a, agent: helper, channel: slack, where: { chats: [C1, C2], direct: true } }
  - { id: b, agent: helper, channel: slack, where: { chats: [C3, C2] } }
  - { id: c, agent: helper, channel: slack, where: { chats: any } }
  - { id: d, agent: helper, channel: slack, where: { chats: any, direct: true } }
`,
  });
  assert.deepEqual(messages(t, yaml), [
    'bindings[2].where.chats: chat C2 is also taken by bindings[1] on the same channel; one of the two must let go',
    'bindings[4].where.direct: direct is also taken by bindings[1] on the same channel; one of the two must let go',
    'bindings[4].where.chats: any is also taken by bindings[3] on the same channel; one of the two must let go',
  ]);
});

test('R12: a listed chat beside any chat, and equal places on two channels, are fine', (t) => {
  const yaml = file({
    binding: `  - { id: a, agent: helper, channel: slack, where: { chats: [C1], direct: true } }
  - { id: b, agent: helper, channel: slack, where: { chats: any } }
  - { id: c, agent: helper, channel: tg, where: { chats: [C1], direct: true } }
`,
  });
  assert.deepEqual(messages(t, yaml), []);
});

test('R13: any chat with open groups is refused where anybody can add the bot', (t) => {
  const binding = (channel: string) =>
    file({
      channels: '  imsg: { type: imessage, url: "http://mac:1234", password: x }\n',
      binding: `  - { id: b, agent: helper, channel: ${channel}, where: { chats: any }, access: { group: open } }\n`,
    });
  assert.deepEqual(messages(t, binding('tg')), [
    'bindings[1].access.group: open with chats: any would let anybody use this bot, since anybody can add it to a group on telegram; list the chats, or remove this line',
  ]);
  assert.match(messages(t, binding('imsg'))[0]!, /^bindings\[1\]\.access\.group: open with chats: any .* on imessage;/);
  assert.deepEqual(messages(t, binding('slack')), []);
});

test('R13: open groups are fine on Telegram when the chats are listed', (t) => {
  const yaml = file({
    binding: '  - { id: b, agent: helper, channel: tg, where: { chats: [-100] }, access: { group: open } }\n',
  });
  assert.deepEqual(messages(t, yaml), []);
});

test('R35: channel_tools in an agent is refused with a pointer to bindings', (t) => {
  const hint = 'belongs to a binding, not to an agent: grant the tools under bindings[].channel_tools';
  const section = messages(t, file({ agent: '    channel_tools: { tools: [get_channel_info] }\n' }));
  assert.equal(section.length, 1);
  assert.ok(section[0]!.startsWith(`agents.helper.channel_tools: ${hint}`), section[0]);
  assert.deepEqual(messages(t, file({ agent: '    capabilities: [channel_tools]\n' })), [
    'agents.helper.capabilities[0]: channel_tools is granted per binding, not per agent; move it to bindings[].channel_tools',
  ]);
});

test('capabilities: known, listed once, not built in, and MCP servers exist', (t) => {
  const yaml = file({
    agent: '    capabilities: [clok, clock, { id: clock }, __builtin__, "mcp:githb", "container:any", "skill:any"]\n',
    more: 'mcp_servers: { github: { url: "https://x.example/" } }\n',
  });
  const found = messages(t, yaml);
  assert.deepEqual(found, [
    'agents.helper.capabilities[0]: "clok" is not a capability, did you mean "clock"?',
    'agents.helper.capabilities[2].id: clock is listed twice; keep one',
    'agents.helper.capabilities[3]: its tools are offered to every agent without being listed; remove it',
    'agents.helper.capabilities[4]: "githb" is not under mcp_servers, did you mean "github"?',
  ]);
});

test('R41: overrides of unknown tools, with impossible names, or with names already taken are refused', (t) => {
  const yaml = file({
    agent: `    capabilities:
      - id: memory_files
        tool_overrides:
          read_memry: { name: recall }
          read_memory: { name: "recall note" }
          list_memory: { name: store_get }
          edit_memory: { name: write_memory }
          delete_memory: { name: forget }
        tool_approval: { remove_memory: required }
        tools: [read_memory, write_memory, list_memory, edit_memory, delete_memory, remember]
`,
  });
  assert.deepEqual(messages(t, yaml), [
    'agents.helper.capabilities[0].tool_overrides.read_memry: "read_memry" is not a tool of memory_files, did you mean "read_memory"?',
    'agents.helper.capabilities[0].tool_overrides.read_memory.name: must be a name a model can call: letters, digits, _ and -, at most 64',
    'agents.helper.capabilities[0].tool_overrides.list_memory.name: "store_get" is already the name of store_get of __builtin__; choose another',
    'agents.helper.capabilities[0].tool_overrides.edit_memory.name: "write_memory" is already the name of write_memory of memory_files; choose another',
    'agents.helper.capabilities[0].tool_approval.remove_memory: "remove_memory" is not a tool of memory_files; the tools of memory_files are list_memory, read_memory, write_memory, edit_memory, delete_memory',
    'agents.helper.capabilities[0].tools[5]: "remember" is not a tool of memory_files; the tools of memory_files are list_memory, read_memory, write_memory, edit_memory, delete_memory',
  ]);
});

test('R41: a name is free again when its tool got another one, and across agents', (t) => {
  const yaml = file({
    agent: `    capabilities:
      - id: memory_files
        tool_overrides: { read_memory: { name: write_memory }, write_memory: { name: read_memory } }
`,
  });
  assert.deepEqual(messages(t, yaml), []);
});

test('R41: overrides of channel tools may not take a name of the agent', (t) => {
  const yaml = file({
    binding: `  - id: b
    agent: helper
    channel: slack
    where: { direct: true }
    channel_tools: { tools: [get_channel_info], tool_overrides: { get_channel_info: { name: store_set }, nope: {} } }
`,
  });
  assert.deepEqual(messages(t, yaml), [
    'bindings[1].channel_tools.tool_overrides.nope: "nope" is not a tool of channel_tools; the tools of channel_tools are get_channel_info, list_channel_members, search_channels, read_channel_history',
    'bindings[1].channel_tools.tool_overrides.get_channel_info.name: "store_set" is already the name of store_set of __builtin__; choose another',
  ]);
});

test('R13: accounts are ids on a known channel, never names (reports 155 to 159)', (t) => {
  const how = 'names can change hands, so write the id, which the person sees by sending "whoami" to the bot';
  const yaml = file({
    more: `admins: ["slack:@ann", "tg:ann", "tg:123", "slak:U1", nobody, "slack:U123", "slack:Ann Lee"]\n`,
  });
  assert.deepEqual(messages(t, yaml), [
    'admins[4]: must be an account, <channel>:<platform user id>',
    `admins[0]: "@ann" is not a user id; ${how}`,
    `admins[1]: "ann" is not a user id (on Telegram a number); ${how}`,
    'admins[3]: "slak" is not under channels, did you mean "slack"?',
    `admins[6]: "Ann Lee" is not a user id; ${how}`,
  ]);
});

test('R13: the accounts of a binding are checked like those of admins', (t) => {
  const yaml = file({
    binding: `  - id: b
    agent: helper
    channel: tg
    where: { chats: ["@ourgroup", "#general"], direct: true }
    access: { direct: allowlist, allow: ["tg:@ann"] }
    approvals: { approvers: ["tg:@bob"] }
`,
  });
  assert.deepEqual(
    messages(t, yaml).map((line) => line.split(' is ')[0]),
    [
      'bindings[1].where.chats[0]: "@ourgroup"',
      'bindings[1].where.chats[1]: "#general"',
      'bindings[1].access.allow[0]: "@ann"',
      'bindings[1].approvals.approvers[0]: "@bob"',
    ],
  );
});

test('webhook mode needs a public URL', (t) => {
  const channels = '  hook: { type: telegram, token: "1:abc", mode: webhook }\n';
  assert.deepEqual(messages(t, file({ channels })), [
    'channels.hook.mode: webhook needs gateway.public_url, the address at which the platform reaches this gateway',
  ]);
  assert.deepEqual(messages(t, file({ channels, more: 'gateway: { public_url: "https://g.example" }\n' })), []);
});

test('instructions: exactly one of text and file, and the file is there', (t) => {
  assert.deepEqual(messages(t, file({ agent: '    instructions_file: ./a.md\n' })), [
    'agents.helper.instructions_file: there is also instructions; keep one of the two',
  ]);
  const missing = messages(t, file({}).replace('instructions: Help.', 'instructions_file: ./a.md'));
  assert.match(
    missing[0]!,
    /^agents\.helper\.instructions_file: \/.*\/a\.md cannot be read \(there is no such file\); correct the path or make the file$/,
  );
});

test('an instructions file is text of a sensible size', (t) => {
  const yaml = file({}).replace('instructions: Help.', 'instructions_file: ./agent.md');
  const of = (content: string) => {
    const path = join(folderWith(t, yaml, { 'agent.md': content }), 'config.yaml');
    try {
      return loadConfig(path, {}, plugins).config.agents.helper?.instructions;
    } catch (error) {
      return messageOf(error).replace(dirname(path), '');
    }
  };
  const at = 'config.yaml:10 agents.helper.instructions_file: /agent.md';
  assert.equal(of(' \n'), `${at} is empty; write the instructions into it`);
  assert.equal(of('x'.repeat(256 * 1024 + 1)), `${at} is larger than 256 KiB; shorten it`);
  assert.equal(of('x'.repeat(256 * 1024))?.length, 256 * 1024);
});

test('settings that a demo profile has no use for are a warning', (t) => {
  const loaded = load(t, file({ models: '  a: { provider: demo, model: x }\n' }));
  assert.deepEqual(
    loaded.warnings.map((issue) => formatIssue(loaded.file, issue)),
    ['config.yaml:3 models.a.model: has no meaning for provider demo'],
  );
});

test('agents name only what there is', (t) => {
  const yaml = file({
    agent: '    subagents: [helper, other]\n    collections: [handbok]\n    context: [glosary]\n',
    more: 'knowledge: { collections: { handbook: { path: ./h } } }\ncontext_files: [{ id: glossary, path: ./g.md }, { id: glossary, path: ./h.md }]\n',
  });
  assert.deepEqual(messages(t, yaml), [
    'agents.helper.subagents[0]: an agent cannot delegate to itself; remove it',
    'agents.helper.subagents[1]: "other" is not under agents; the names under agents are helper',
    'agents.helper.collections[0]: "handbok" is not under knowledge.collections, did you mean "handbook"?',
    'agents.helper.context[0]: "glosary" is not under context_files, did you mean "glossary"?',
    'context_files[1].id: "glossary" is there twice; ids are unique',
  ]);
});

test('policies name capabilities and tools that exist', (t) => {
  const more = `policies:
  __builtin__: { set_shedule: ask }
  clokc: { x: allow }
  "skill:cleaner": { clean: ask }
  "mcp:none": { x: allow }
  "container:any": { anything: block }
`;
  assert.deepEqual(messages(t, file({ more })), [
    'policies.__builtin__.set_shedule: "set_shedule" is not a tool of __builtin__, did you mean "set_schedule"?',
    'policies.clokc: "clokc" is not a capability, did you mean "clock"?',
    'policies["skill:cleaner"].clean: "clean" is not a tool of skill:cleaner, did you mean "cleaner"?',
    'policies["mcp:none"]: "none" is not under mcp_servers; there are no names under mcp_servers',
  ]);
});

test('MCP servers and subscriptions are whole', (t) => {
  const more = `mcp_servers:
  a: {}
  b: { url: "https://b.example/", command: npx }
events:
  subscriptions:
    - { event_type: x }
    - { event_type: x, agent: helper }
    - { event_type: x, agent: helper, deliver_to: "slak:C1" }
`;
  assert.deepEqual(messages(t, file({ more })), [
    'mcp_servers.a: needs url (streamable HTTP) or command (stdio)',
    'mcp_servers.b.command: there is also url; keep one of the two',
    'events.subscriptions[0]: needs agent or webhook',
    'events.subscriptions[1].deliver_to: is missing: the chat where the agent answers, <channel>:<platform id>',
    'events.subscriptions[2].deliver_to: "slak" is not under channels, did you mean "slack"?',
  ]);
});

test('a listen address that others can reach is a warning, a port that cannot be is an error', (t) => {
  const loaded = load(t, file({ more: 'gateway: { listen: "0.0.0.0:8484" }\n' }));
  assert.deepEqual(
    loaded.warnings.map((issue) => formatIssue(loaded.file, issue)),
    [
      'config.yaml:16 gateway.listen: 0.0.0.0 can be reached from other machines; 127.0.0.1 behind a proxy with TLS is safer',
    ],
  );
  assert.deepEqual(messages(t, file({ more: 'gateway: { listen: "127.0.0.1:70000" }\n' })), [
    'gateway.listen: the port must be at most 65535',
  ]);
});

test('what is wrong by itself is not reported again for what it does to others', (t) => {
  const yaml = file({ binding: '  - { id: b, agent: helper, channel: tg, where: { chats: 5 } }\n' });
  assert.deepEqual(messages(t, yaml), ['bindings[1].where.chats: must be a list of chat ids, or any']);
});

test('asking keys of this version say what happens instead of being ignored', (t) => {
  const yaml = file({
    agent: '    permission_mode: dual-sign-required\n    capabilities: [{ id: clock, approval: required }]\n',
    binding: `  - id: b
    agent: helper
    channel: tg
    where: { direct: true }
    prompt: We are in {channel_name}.
`,
  });
  const loaded = load(t, yaml);
  assert.deepEqual(
    loaded.notYet.map((issue) => formatIssue(loaded.file, issue)).filter((line) => !line.includes('slack')),
    ['config.yaml:22 bindings[1].prompt: placeholders are not available yet in this version; they stay as they are'],
  );
});
