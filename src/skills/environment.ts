/** Which variables a skill gets. The manifest asks; the operator's list and the gateway's own secrets decide. */

export interface EnvironmentRules {
  /** The gateway's environment. */
  env: NodeJS.ProcessEnv;
  /** Variables that config.yaml puts in somewhere: they are what the gateway was trusted with. */
  substituted: ReadonlySet<string>;
  /** `sandbox.env_allow`: null when the operator has listed nothing; a list narrows, and opens what is in it. */
  operatorAllow: readonly string[] | null;
}

/** Exactly the variables of `env_allow` that are set and that it may have (rule 60). */
export function skillEnvironment(envAllow: readonly string[], rules: EnvironmentRules): Record<string, string> {
  const has = envAllow.filter((name) => Object.hasOwn(rules.env, name) && mayHave(name, rules));
  return Object.fromEntries(has.map((name) => [name, rules.env[name] ?? '']));
}

function mayHave(name: string, { substituted, operatorAllow }: EnvironmentRules): boolean {
  if (operatorAllow) return operatorAllow.includes(name);
  return !name.startsWith('GATEHOUSE_') && !substituted.has(name);
}
