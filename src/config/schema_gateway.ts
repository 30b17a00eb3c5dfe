/** The sections about the gateway itself and about models. */
import type { JsonSchema } from '../types/json.ts';
import {
  choice,
  count,
  duration,
  flag,
  list,
  named,
  optionalSecret,
  optionalText,
  section,
  text,
} from './schema_words.ts';

export const gateway = section(
  'The process: where it listens, keeps its data, and how it speaks.',
  {
    name: text('What the gateway calls itself.', { default: 'Gatehouse' }),
    data_dir: text('The database, files that people sent, and the control socket; created 0700.', {
      default: './data',
    }),
    listen: text('The one HTTP port: chat page, calls of the platforms, health and metrics.', {
      default: '127.0.0.1:8484',
      pattern: '^(\\[[0-9A-Fa-f:.]+\\]|[^\\s:\\[\\]]+):[0-9]{1,5}$',
      'x-message': 'must be host:port, such as 127.0.0.1:8484 or [::1]:8484',
    }),
    public_url: optionalText('How chat platforms reach `listen` from outside; nothing needs it by default.', {
      pattern: '^https?://[^\\s?#]+$',
      'x-message': 'must be an http(s) URL such as https://gatehouse.example.com',
      examples: ['https://gatehouse.example.com'],
    }),
    log: section('What is written to standard error.', {
      level: choice('From which level on lines are written.', ['debug', 'info', 'warn', 'error', 'silent'], {
        default: 'info',
      }),
      format: choice('`auto` is pretty on a terminal and JSON otherwise.', ['auto', 'json', 'pretty'], {
        default: 'auto',
      }),
    }),
    language: choice(
      'Wording of commands and notices, for people whose platform does not tell their language.',
      ['en', 'de', 'pt'],
      { default: 'en' },
    ),
    timezone: text('IANA name: when a day of budgets and usage begins, and the time that agents are told.', {
      default: 'UTC',
      examples: ['Europe/Berlin'],
    }),
    concurrency: section('How much runs at once in this process.', {
      runs: count('Runs that may be active at once.', { default: 64, maximum: 10_000 }),
    }),
  },
  {
    'x-moved': {
      port: 'unknown key; the port is part of listen, such as listen: "127.0.0.1:8485"',
      host: 'unknown key; the address is part of listen, such as listen: "127.0.0.1:8485"',
    },
  },
);

export const storage = section('The database.', {
  url: text('`sqlite:PATH`, or `postgres://user:password@host:5432/db`, which several gateways may share.', {
    'x-secret': true,
    pattern: '^(sqlite:[^?#]+|postgres(ql)?://[^\\s]+)$',
    'x-message': 'must be sqlite:PATH or postgres://user:password@host:5432/db',
    examples: ['sqlite:./data/gatehouse.db'],
    $comment: 'default: gatehouse.db in gateway.data_dir',
  }),
});

export const secrets = section('The key for secrets at rest.', {
  key: optionalSecret('32 bytes in base64; absent = a key file created 0600 in the data folder.', {
    pattern: '^[A-Za-z0-9+/_-]{43}=?$',
    'x-message': 'must be 32 bytes in base64; make one with: openssl rand -base64 32',
    examples: [`\${GATEHOUSE_KEY}`],
  }),
});

const price = {
  type: ['object', 'null'],
  additionalProperties: false,
  required: ['input', 'output'],
  default: null,
  description: 'USD per million tokens; absent = cost is reported as partial.',
  properties: {
    input: { type: 'number', minimum: 0, description: 'Of input tokens.' },
    cached_input: { type: 'number', minimum: 0, description: 'Of input read from a cache; absent = as `input`.' },
    output: { type: 'number', minimum: 0, description: 'Of output tokens.' },
  },
  examples: [{ input: 2.5, cached_input: 0.25, output: 15 }],
};

export const providers = ['openai', 'anthropic', 'google', 'openai_compatible', 'demo', 'auto'] as const;

export const models = named(
  'Model profiles; agents refer to their names.',
  section(
    'One profile.',
    {
      provider: choice(
        'Who serves the model. `demo` is offline and deterministic. `auto` takes what the environment has: OpenAI with ' +
          'OPENAI_API_KEY, else Anthropic with ANTHROPIC_API_KEY, else the first model of a reachable Ollama ' +
          '(OLLAMA_HOST or 127.0.0.1:11434), else demo; which one and why is said at start.',
        providers,
      ),
      model: text("The provider's name of the model; not for `demo` and `auto`.", { examples: ['gpt-5.4'] }),
      api_key: optionalSecret("The provider's key.", { examples: [`\${OPENAI_API_KEY}`] }),
      base_url: optionalText('Any server that speaks the same API: vLLM, Ollama, LM Studio, a proxy, a test double.', {
        pattern: '^https?://[^\\s]+$',
        'x-message': 'must be an http(s) URL such as http://127.0.0.1:8000/v1',
      }),
      context_window: count('Tokens; absent = what is known of the model.', {
        type: ['integer', 'null'],
        default: null,
      }),
      max_output_tokens: count('Tokens of one answer.', { default: 8192 }),
      price,
      timeout: duration('Of one request.', '120s'),
      retries: {
        type: 'integer',
        minimum: 0,
        maximum: 10,
        default: 2,
        description: 'On 429, 5xx and network errors, honouring Retry-After.',
      },
      fallbacks: list('Profiles tried in order when this one is unavailable.', text('A name under `models`.')),
    },
    { required: ['provider'] },
  ),
);

export const consolePages = section('The admin pages.', {
  enabled: flag('Whether /console is served.', true),
});

export const metrics = section('Prometheus metrics.', { enabled: flag('Whether /metrics is served.', true) });

export const retention = section('How long things are kept.', {
  messages: duration('Messages and conversations, with the lines of the chat page.', '365d'),
  runs: duration('Runs, their steps and calls.', '90d'),
  uploads: duration('Files that people sent.', '30d'),
});

export const admins: JsonSchema = list(
  'Accounts with the admin role: `<channel>:<platform user id>`.',
  {
    type: 'string',
    pattern: '^[A-Za-z0-9][A-Za-z0-9_-]*:.+$',
    'x-message': 'must be an account, <channel>:<platform user id>',
    description: 'One account.',
  },
  { examples: [['acme-slack:U0123456789']] },
);
