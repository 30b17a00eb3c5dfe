/**
 * What later versions build. The keys are in the schema, so that a file written for them is read; `notYet` answers
 * each with one line at start. A version that builds one of these moves it to where it belongs.
 */
import type { JsonSchema } from '../types/json.ts';
import {
  choice,
  duration,
  flag,
  list,
  named,
  nameMessage,
  namePattern,
  open,
  optionalSecret,
  secret,
  section,
  text,
} from './schema_words.ts';

/** A platform whose adapter is not built: what the configuration must know about it. */
export interface LaterChannel {
  type: string;
  configSchema: JsonSchema;
  groupsNeedAdmission: boolean;
  defaultAccess: { direct: 'open' | 'pairing'; group: 'open' | 'allowlist' };
}

const url = (description: string, more: JsonSchema = {}) =>
  text(description, { pattern: '^https?://[^\\s]+$', 'x-message': 'must be an http(s) URL', ...more });

export const laterChannels: LaterChannel[] = [
  {
    type: 'slack',
    groupsNeedAdmission: false,
    defaultAccess: { direct: 'open', group: 'open' },
    configSchema: {
      description: 'Slack.',
      required: ['bot_token'],
      properties: {
        mode: choice(
          '`socket` needs no public URL; `http` is Events API and interactivity at <public_url>/slack/<channel>.',
          ['socket', 'http'],
          { default: 'socket' },
        ),
        bot_token: secret('The bot token, xoxb-…'),
        app_token: optionalSecret('The app-level token, xapp-…; socket mode only.'),
        signing_secret: optionalSecret('The signing secret; http mode only.'),
        api_url: url('The Web API.', { default: 'https://slack.com/api/' }),
      },
    },
  },
  {
    type: 'mattermost',
    groupsNeedAdmission: false,
    defaultAccess: { direct: 'open', group: 'open' },
    configSchema: {
      description: 'Mattermost.',
      required: ['url', 'token'],
      properties: {
        url: url('The server.', { examples: ['https://chat.example.com'] }),
        token: secret('The token of the bot account.'),
        buttons: choice('`buttons` needs gateway.public_url.', ['auto', 'buttons', 'reactions'], { default: 'auto' }),
      },
    },
  },
  {
    type: 'imessage',
    groupsNeedAdmission: true,
    defaultAccess: { direct: 'pairing', group: 'open' },
    configSchema: {
      description: 'iMessage, through a BlueBubbles server on a Mac.',
      required: ['url', 'password'],
      properties: {
        url: url('The BlueBubbles server.', { examples: ['http://mac-mini.local:1234'] }),
        password: secret('Its password.'),
        webhook_secret: optionalSecret('Part of the webhook URL the Mac calls: /imessage/<channel>/<secret>.'),
        private_api: {
          type: ['string', 'boolean'],
          enum: ['auto', true, false],
          default: 'auto',
          description: 'Typing, tapbacks and replies when the server has the Private API.',
        },
        services: list(
          'What may start runs; only imessage decides approvals.',
          choice('A service.', ['imessage', 'sms', 'rcs']),
          { default: ['imessage'], minItems: 1 },
        ),
      },
    },
  },
];

/** Built-in capabilities that are not built yet, with their tool ids. */
export const laterCapabilities: Record<string, readonly string[]> = {
  memory_files: ['list_memory', 'read_memory', 'write_memory', 'edit_memory', 'delete_memory'],
  memory_mem0: ['remember', 'recall'],
  conversation_search: ['search_conversations', 'read_conversation'],
  knowledge: ['search_documents'],
  skills: ['list_skills', 'load_skill', 'read_skill_resource'],
  context: ['list_context', 'read_context'],
  web_research: ['web_search'],
  web_fetch: ['web_fetch'],
  browser_use: ['browse_web'],
  code_execution: ['run_python'],
  sandbox: ['ls', 'read_file', 'glob', 'grep', 'write_file', 'edit_file', 'execute'],
  charts: ['create_chart'],
  image_generation: ['generate_image'],
  subagents: [
    'task',
    'check_task',
    'wait_tasks',
    'list_active_tasks',
    'answer_subagent',
    'send_message_to_subagent',
    'soft_cancel_task',
    'hard_cancel_task',
    'create_agent',
    'delegate',
  ],
  planning: [
    'write_plan',
    'read_plan',
    'add_task',
    'update_task_status',
    'update_task_statuses',
    'remove_task',
    'add_subtask',
    'set_dependency',
    'get_available_tasks',
  ],
  thinking: [],
  system_reminders: [],
  tool_search: [],
  guardrails: [],
  compaction: [],
  tool_output_limits: ['read_tool_result'],
};

/** Tools of `__builtin__` that are not built yet. */
export const laterBuiltinTools = ['emit_event', 'delegate_to_agent', 'set_schedule', 'set_reminder'] as const;

export const channelToolIds = [
  'get_channel_info',
  'list_channel_members',
  'search_channels',
  'read_channel_history',
] as const;

export const scopes = [
  'knowledge:read',
  'conversations:read',
  'web:read',
  'web:fetch',
  'web:browse',
  'code:execute',
  'sandbox:execute',
  'agents:delegate',
] as const;

const folders = (description: string, example: string) =>
  list(description, text('A folder.'), { examples: [[example]] });

const dockerUrl = text('`unix://…`, or `tcp://host:2376` with `tls`.', {
  pattern: '^(unix://|tcp://|npipe://|https?://)\\S+$',
  'x-message': 'must be unix:///var/run/docker.sock or tcp://host:2376',
});
const tls = section('For tcp: paths of the certificate authority, certificate and key.', {
  ca: text('Certificate authority.'),
  cert: text('Certificate.'),
  key: text('Key.'),
});

/** `sandbox.connections`. */
export const laterConnections: JsonSchema = named(
  'Hosts for `sandbox` workspaces with backend: service.',
  section('One host.', {
    docker: dockerUrl,
    tls,
    runtimes: named('Runtimes by alias.', section('One.', { image: text('Its image.') }, { required: ['image'] })),
  }),
);

const mcpServer = section('One MCP server: `url` for streamable HTTP, or `command` for stdio.', {
  url: url('Streamable HTTP.'),
  headers: open('Sent with every request.', text('A value.', { 'x-secret': true })),
  command: text('A program to start.', { examples: ['npx'] }),
  args: list('Its arguments.', { type: 'string', description: 'An argument.' }),
  env: open('Its environment; nothing else is given to it.', {
    type: 'string',
    description: 'A value.',
    'x-secret': true,
  }),
  cwd: text('Its working folder.', { default: '.' }),
  default: choice('What a tool without a rule does.', ['ask', 'block'], { default: 'block' }),
  sandbox: flag('Runs in the subprocess sandbox.', false),
  timeout: duration('Of one call.', '60s'),
  trust_annotations: flag("Whether the server's hints count.", false),
});

const subscription = section(
  'One subscription: an `agent` with `deliver_to`, or a `webhook`.',
  {
    event_type: text('Exact type, or `*`.'),
    filter: open('Equality on payload paths.', {
      type: ['string', 'number', 'boolean', 'null'],
      description: 'The value.',
    }),
    agent: text('A name under `agents`.'),
    deliver_to: text('`<channel>:<platform id>` of the chat where it answers.', {
      pattern: '^[A-Za-z0-9][A-Za-z0-9_-]*:.+$',
      'x-message': 'must be <channel>:<platform id of the chat>',
    }),
    webhook: url('Called with the event, signed.'),
    secret: text('Name of the stored secret that signs.'),
  },
  { required: ['event_type'] },
);

/** Sections of the file that are read, checked and answered with "not available yet". */
export const laterSections: Record<string, JsonSchema> = {
  capability_dirs: folders('Folders that hold <name>/manifest.yaml.', './containers'),
  skill_packs: folders('Folders of SKILL.md know-how for the `skills` capability.', './skills'),
  containers: section('Container capabilities.', {
    docker: { ...dockerUrl, default: 'unix:///var/run/docker.sock' },
    tls,
    idle_timeout: duration('A warm container is removed after this long unused.', '10m'),
    allow_private: list('Private addresses the egress proxy may reach.', text('host:port')),
  }),
  mcp_servers: named('MCP servers; agents name them `mcp:KEY`.', mcpServer),
  scopes: list('What this deployment grants; all by default.', choice('A scope.', scopes), { default: [...scopes] }),
  mem0_allowed_hosts: list('Self-hosted mem0 servers (https) that may be used.', text('A host.')),
  knowledge: section('Documents that agents may search.', {
    collections: named('By name.', section('One collection.', { path: text('A folder.') }, { required: ['path'] })),
  }),
  context_files: list(
    'Context files that agents may be given.',
    section(
      'One file.',
      {
        id: { type: 'string', pattern: namePattern, 'x-message': nameMessage, description: 'Its name.' },
        path: text('The file.'),
        mode: choice('`inject` puts it into the instructions, `link` lets the agent read it.', ['inject', 'link'], {
          default: 'inject',
        }),
      },
      { required: ['id', 'path'] },
    ),
  ),
  events: section('What happens when an event is emitted.', {
    subscriptions: list('Who gets which events.', subscription),
  }),
};
