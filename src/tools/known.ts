/** Which tools there are, and which of them a person means. */
import { nearest } from '../base/nearest.ts';
import type { Grant } from '../store/grants.ts';
import type { CapabilityPlugin } from '../types/capability.ts';
import type { AgentSpec } from '../types/spec.ts';
import type { Tool } from '../types/tool.ts';
import { definitionOf } from './definition.ts';

export interface KnownTool {
  /** As agents and policies name it. */
  capability: string;
  tool: Tool;
}

export function knownTools(capabilities: readonly CapabilityPlugin[]): KnownTool[] {
  return capabilities.flatMap(({ id, tools }) => tools.map((tool) => ({ capability: id, tool })));
}

/** `found`, or the ways to say which one is meant, or what is written nearly like it. */
export type FoundTool = { found: KnownTool } | { several: string[] } | { near: string | null };

/**
 * A tool by its stable id, or `capability/tool`. Of several of one id the one of this agent is meant, if it is one.
 */
export function findTool(word: string, known: readonly KnownTool[], spec: AgentSpec | null): FoundTool {
  const named = known.filter(({ capability, tool }) => tool.id === word || `${capability}/${tool.id}` === word);
  const own = named.filter(({ capability }) => isOf(capability, spec));
  const [found, ...more] = own.length > 0 ? own : named;
  if (found === undefined) {
    const near = nearest(
      word,
      known.flatMap(({ capability, tool }) => [tool.id, `${capability}/${tool.id}`]),
    );
    return { near: near ?? null };
  }
  return more.length === 0
    ? { found }
    : { several: [found, ...more].map(({ capability, tool }) => `${capability}/${tool.id}`) };
}

/** An "always allow" for what the tool was before, or for one that is not there, counts for nothing (rule 43). */
export function isLapsed(grant: Grant, known: readonly KnownTool[]): boolean {
  const one = known.find(({ capability, tool }) => capability === grant.capability && tool.id === grant.tool);
  return one === undefined || definitionOf(one.tool) !== grant.definition;
}

function isOf(capability: string, spec: AgentSpec | null): boolean {
  return spec?.capabilities.some(({ id, enabled }) => id === capability && enabled) ?? false;
}
