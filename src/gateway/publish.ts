/** Publishes agents as immutable versions: a changed spec is the next version, an equal one keeps its number. */
import { canonicalJson, sha256 } from '../base/digest.ts';
import { addVersion, latestVersion } from '../store/agents.ts';
import type { Db } from '../store/db.ts';
import type { Json } from '../types/json.ts';
import type { AgentSpec } from '../types/spec.ts';

export async function publishAgents(
  db: Db,
  specs: Readonly<Record<string, AgentSpec>>,
  now: number,
): Promise<Map<string, { version: number; spec: AgentSpec }>> {
  const published = new Map<string, { version: number; spec: AgentSpec }>();
  for (const spec of Object.values(specs)) published.set(spec.id, { version: await publish(db, spec, now), spec });
  return published;
}

async function publish(db: Db, spec: AgentSpec, now: number): Promise<number> {
  const hash = sha256(canonicalJson(spec as unknown as Json));
  for (;;) {
    const version = await db.tx(async (q) => {
      const latest = await latestVersion(q, spec.id);
      if (latest?.hash === hash) return latest.version;
      const next = (latest?.version ?? 0) + 1;
      return (await addVersion(q, spec, next, hash, now)) ? next : null;
    });
    // Null: another process published the same number in this moment; look again.
    if (version !== null) return version;
  }
}
