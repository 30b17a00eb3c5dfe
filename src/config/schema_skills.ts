/** Schemas of `skill_dirs` and `sandbox`. */
import type { JsonSchema } from '../types/json.ts';
import { laterConnections } from './later.ts';
import { choice, flag, list, section, text } from './schema_words.ts';

const absolute = { pattern: '^/', 'x-message': 'must be an absolute path' };
const folder = text('An absolute path.', absolute);

export const skillDirs: JsonSchema = list(
  'Folders below which skills are looked for: every `skill.json` in them is one. See docs/skills.md.',
  folder,
  { examples: [['/etc/gatehouse/skills']] },
);

const grant = section('What one skill gets beyond the sandbox.', {
  read: list('Files and folders it may read.', folder),
  write: list('Files and folders it may read and write.', folder),
  network: choice("Its network; `any` is this machine's own, loopback included.", ['none', 'any'], {
    default: 'none',
  }),
  unconfined: flag('Runs without the sandbox.', false),
});

export const sandbox: JsonSchema = section(
  'How skills run: as processes that see and reach nothing but what is granted here.',
  {
    subprocess: choice(
      '`required` runs skills in bubblewrap or not at all, `preferred` without it where it does not work, `off` always without it.',
      ['required', 'preferred', 'off'],
      { default: 'required' },
    ),
    env_allow: {
      type: ['array', 'null'],
      items: text('Name of a variable.', {
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        'x-message': 'must be the name of a variable, such as HTTPS_PROXY',
      }),
      default: null,
      description:
        "The only variables that skills may ask for. null = what their manifests name, but none of the gateway's own: GATEHOUSE_*, those this file substitutes, and those of model keys.",
    },
    skills: {
      type: 'object',
      propertyNames: { pattern: '^[a-z0-9_]+$', 'x-message': 'must be the name of a skill: a-z, 0-9 and _' },
      additionalProperties: grant,
      default: {},
      description: 'Grants, by the name of the skill. A manifest cannot ask for them.',
      examples: [{ disk_usage: { read: ['/var/log', '/srv'] } }],
    },
    connections: laterConnections,
  },
);
