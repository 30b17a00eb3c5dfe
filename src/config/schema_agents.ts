/** The sections about agents and about where they are available. */
import type { CapabilityPlugin } from '../types/capability.ts';
import type { JsonSchema } from '../types/json.ts';
import { channelToolIds } from './later.ts';
import {
  account,
  choice,
  count,
  duration,
  flag,
  list,
  money,
  named,
  nameMessage,
  namePattern,
  open,
  optionalText,
  section,
  text,
} from './schema_words.ts';

const channelToolsHint =
  'belongs to a binding, not to an agent: grant the tools under bindings[].channel_tools (rule: only a binding knows the chat)';

const approval = (description: string, more: JsonSchema = {}) =>
  choice(description, ['default', 'required', 'never'], more);

const toolOverrides = open(
  'The name and description the model sees, by tool id; rules stay with the id.',
  section('One tool.', {
    name: text('What the model calls the tool.', {
      pattern: '^[a-zA-Z0-9_-]{1,64}$',
      'x-message': 'must be a name a model can call: letters, digits, _ and -, at most 64',
    }),
    description: text('What the model reads before it decides to call the tool.'),
  }),
  { examples: [{ read_memory: { name: 'recall_note', description: 'Reads one of your saved notes.' } }] },
);

/** One entry of `agents.*.capabilities`: an id, or an object whose `config` follows the capability's own schema. */
function capabilityUse(plugins: readonly CapabilityPlugin[], laterIds: readonly string[]): JsonSchema {
  const ids = [...plugins.filter((plugin) => !plugin.always).map((plugin) => plugin.id), ...laterIds].sort();
  return {
    type: ['string', 'object'],
    minLength: 1,
    required: ['id'],
    additionalProperties: false,
    'x-message': 'must be the id of a capability, or { id: …, config: … }',
    description: 'A capability, as its id (`clock`, `container:ID`, `skill:NAME`, `mcp:KEY`) or with settings.',
    examples: ['clock', { id: 'memory_files', tool_approval: { delete_memory: 'required' } }],
    properties: {
      id: text(`Which capability: one of ${ids.join(', ')}, or container:ID, skill:NAME, mcp:KEY.`),
      enabled: flag('`false` switches it off without losing its settings.', true),
      config: { type: 'object', default: {}, description: "The capability's own settings." },
      approval: approval('For all its tools. `required` refuses them, since nobody can be asked yet.', {
        default: 'default',
      }),
      tool_approval: open('For single tools, by tool id; goes before `approval`.', approval('For this tool.')),
      tool_overrides: toolOverrides,
      secret: optionalText('Name of the stored secret that meets a declared key requirement.'),
      tools: {
        type: ['array', 'null'],
        items: text('A tool id.'),
        default: null,
        description: 'The tools to offer; absent = all.',
        examples: [['search_issues', 'get_issue']],
      },
    },
    allOf: plugins.map((plugin) => ({
      if: { type: 'object', properties: { id: { const: plugin.id } }, required: ['id'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { config: closed(plugin.configSchema) } },
    })),
  };
}

/** A schema of an object whose unknown keys are errors, unless its author says otherwise. */
export function closed(schema: JsonSchema): JsonSchema {
  return { type: 'object', additionalProperties: false, ...schema };
}

export function agents(plugins: readonly CapabilityPlugin[], laterIds: readonly string[]): JsonSchema {
  const entry = section(
    'One agent.',
    {
      name: text('What people see; absent = the key.', { examples: ['Helper'] }),
      model: text('A name under `models`.'),
      instructions: text('What the agent is told; or `instructions_file`.'),
      instructions_file: text('A text file with the instructions.', { examples: ['./agents/helper/agent.md'] }),
      permission_mode: choice(
        'What tools may do: `read-only` blocks everything that is not safe; `mutating-with-confirm` blocks what is ' +
          'dangerous, unless `policies` names it; `dual-sign-required` lets dangerous tools ask two people. A tool that ' +
          'changes something asks first, unless it says itself or `policies` say that it need not. Nobody can be asked ' +
          'yet: what would ask is refused.',
        ['read-only', 'mutating-with-confirm', 'dual-sign-required'],
        { default: 'mutating-with-confirm' },
      ),
      limits: section('What one run, and all runs of a day, may use.', {
        max_steps: count('Model requests in one run.', { default: 25, maximum: 1000 }),
        run_timeout: duration('Of active time; waiting for an approval does not count.', '15m'),
        budget_usd: section('Caps in USD.', { run: money('Of one run.'), day: money('Of all runs of a day.') }),
      }),
      capabilities: list('What the agent can do.', capabilityUse(plugins, laterIds)),
      subagents: list('Agents this one may delegate to.', text('A name under `agents`.')),
      collections: list('Knowledge this one may search.', text('A name under `knowledge.collections`.')),
      context: list('Context files given to it.', text('An id under `context_files`.')),
      skills: list('SKILL.md packs it may load.', text('The name of a pack in `skill_packs`.')),
    },
    { required: ['model'], 'x-moved': { channel_tools: channelToolsHint } },
  );
  return named('The agents.', entry);
}

const access = section('Who may talk to the agent.', {
  direct: choice(
    'In one-to-one chats: `open`; `allowlist`, the accounts in `allow`; `pairing`, a code that an admin confirms; ' +
      '`linked`, accounts linked with one that is let in by itself (docs/people.md). Absent = what is right for the ' +
      'platform: pairing on Telegram and iMessage, open elsewhere.',
    ['open', 'allowlist', 'pairing', 'linked'],
  ),
  group: choice(
    'In group chats: `open`, whoever invited the bot chose the audience; `allowlist`, the accounts in `allow`. Where ' +
      'anybody can add a bot to a group of their own (Telegram, iMessage) the group must also be in `where.chats`, or ' +
      'an admin or a paired person added the bot, or an admin admits it; there `open` written out beside `chats: any` is ' +
      'refused. Absent = open, with that admission.',
    ['open', 'allowlist'],
  ),
  allow: list('Accounts for allowlist, and as exceptions: `<channel>:<platform user id>`.', account('One account.')),
  rate_limit: text('Messages per account, such as `10/min`; also /s, /h and /d; `off` = none.', {
    default: '10/min',
    pattern: '^([1-9][0-9]{0,5}/(s|min|m|h|d)|off)$',
    'x-message': 'must be a rate such as 10/min, 2/s or 100/h, or off',
  }),
});

const channelTools = section('Tools that look into the chat of the message; none is granted by default.', {
  tools: list('Which ones.', choice('A tool.', channelToolIds)),
  default_limit: count('How many entries when the model asks for no number.', { default: 20, maximum: 200 }),
  history: choice('What read_channel_history reads when the message came from a thread.', ['thread', 'channel'], {
    default: 'thread',
  }),
  tool_approval: open('By tool id.', approval('For this tool.')),
  tool_overrides: toolOverrides,
  locked: flag('No grants or revokes outside this file.', false),
});

const approvals = section('Who decides about questions, and until when.', {
  approvers: {
    type: ['string', 'array'],
    pattern: '^(requester|admins|members)$',
    items: account('One account.'),
    minItems: 1,
    default: 'requester',
    'x-message': 'must be requester, admins, members, or a list of accounts',
    description: '`requester`, `admins`, `members`, or a list of accounts.',
  },
  expires: duration('After this long nothing runs.', '72h'),
  tapback: flag('Whether a tapback on the card decides (iMessage).', false),
  waive: flag('Whether somebody in a direct chat may switch questions off.', false),
});

const where = {
  type: 'object',
  additionalProperties: false,
  description: 'Which chats of the channel.',
  examples: [{ chats: ['C0123456789'], direct: true }, { direct: true }, { chats: 'any' }],
  properties: {
    chats: {
      type: ['array', 'string'],
      pattern: '^any$',
      items: {
        type: ['string', 'integer'],
        minLength: 1,
        description: 'A platform id.',
        'x-message': 'must be the id of a chat',
      },
      default: [],
      'x-message': 'must be a list of chat ids, or any',
      description: 'Platform ids of group chats, or `any`.',
    },
    direct: flag('One-to-one messages.', false),
  },
};

export const bindings: JsonSchema = list(
  'Where agents are available.',
  section(
    'One place of one agent.',
    {
      id: { type: 'string', pattern: namePattern, 'x-message': nameMessage, description: 'Permanent name.' },
      agent: text('A name under `agents`.'),
      channel: text('A name under `channels`.'),
      where,
      scope: choice(
        'Who shares one conversation. A direct chat is one conversation unless this says `thread` and the platform has ' +
          'threads.',
        ['user', 'thread', 'channel'],
        { default: 'thread' },
      ),
      trigger: choice(
        'In group chats, when the agent answers: to a `mention`; `follow`, a mention opens the thread, then every message ' +
          'in it; `all`.',
        ['mention', 'follow', 'all'],
        { default: 'follow' },
      ),
      prompt: optionalText("Appended to the agent's instructions here only."),
      access,
      channel_tools: channelTools,
      approvals,
      workspace_scope: {
        type: ['string', 'null'],
        enum: ['run', 'conversation', 'channel', 'user', 'agent', null],
        default: null,
        description: "Overrides the session_scope of the agent's workspace.",
      },
      on_busy: choice(
        "While a run is active: `queue` the same person's next message, or `steer` the run with it.",
        ['queue', 'steer'],
        { default: 'queue' },
      ),
      bots: choice('Messages written by other bots.', ['ignore', 'mention', 'allow'], { default: 'ignore' }),
      thread_context: {
        type: 'integer',
        minimum: 0,
        maximum: 200,
        default: 50,
        description: 'Where read_channel_history is granted: earlier messages of a thread, given once; 0 = none.',
      },
      share_across_audiences: flag('Lets workspace_scope `agent` cross direct chats and rooms (audited).', false),
      stream: flag('Show the answer while it is written, where the platform can.', true),
      footer: {
        type: ['string', 'object'],
        pattern: '^(never|near_limit|always|every: ?[1-9][0-9]{0,4})$',
        additionalProperties: false,
        required: ['every'],
        properties: { every: count('Turns.', { maximum: 99_999 }) },
        default: 'near_limit',
        'x-message': 'must be never, near_limit, always or { every: 20 }',
        description: 'What a turn cost, under the answer: `never`, `near_limit`, `always`, or `{ every: 20 }` turns.',
        examples: [{ every: 20 }],
      },
      budget_usd: section("Caps in USD, on top of the agent's own.", { day: money('Of all runs of a day here.') }),
    },
    { required: ['id', 'agent', 'channel', 'where'] },
  ),
);

export const policies: JsonSchema = open(
  "The admin's global tool policies, by capability id as agents name it, then tool id.",
  open('By tool id.', choice('`ask` puts a question to people before the call runs.', ['allow', 'ask', 'block'])),
  { examples: [{ __builtin__: { set_schedule: 'ask' }, 'mcp:github': { search_issues: 'allow' } }] },
);
