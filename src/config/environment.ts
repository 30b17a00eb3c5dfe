/** `${NAME}` in text values: see docs/configuration.md, "Values from the environment". */
export interface Substitution {
  text: string;
  /** Variables named in the text, in order. */
  names: string[];
  /** What was put in for them, without empty ones. */
  values: string[];
  /** The first variable that was not set and whose place `${NAME:-}` left empty. */
  leftEmpty: string | null;
  problems: string[];
}

const place = /\$\$\{|\$\{([^}]*)(\}?)/g;

/** What to do about a variable that is not set depends on the key its value is for. */
export type VariableUse = 'model_key' | 'channel' | 'other';

function remedy(name: string, use: VariableUse): string {
  const set = `set it before starting (export ${name}=…)`;
  if (use === 'model_key') return `${set}, or use provider: auto, which needs no key`;
  if (use === 'channel') return `${set}, remove this line, or write \${${name}:-} if it may be absent`;
  return `${set}, or give a value to use without it: \${${name}:-VALUE}`;
}

/** Puts in the variables of `env`. Problems say the variable and what to do; they never hold a value. */
export function substitute(text: string, env: NodeJS.ProcessEnv, use: VariableUse = 'other'): Substitution {
  const out: Substitution = { text, names: [], values: [], leftEmpty: null, problems: [] };
  if (!text.includes('${')) return out;
  out.text = text.replace(place, (whole, inner: string | undefined, end: string | undefined) => {
    if (whole === '$${') return '${';
    const match = end === '}' ? /^([A-Za-z_][A-Za-z0-9_]*)(:-([\s\S]*))?$/.exec(inner ?? '') : null;
    if (match === null) {
      out.problems.push(
        `\${ must be followed by the name of a variable and }; write $\${ for the characters themselves`,
      );
      return whole;
    }
    const name = match[1]!;
    const fallback = match[2] === undefined ? undefined : (match[3] ?? '');
    const value = env[name];
    out.names.push(name);
    if (value !== undefined && (value !== '' || fallback === undefined)) {
      if (value !== '') out.values.push(value);
      return value;
    }
    if (fallback === undefined) {
      out.problems.push(`the environment variable ${name} is not set; ${remedy(name, use)}`);
      return '';
    }
    if (fallback === '') out.leftEmpty ??= name;
    return fallback;
  });
  return out;
}
