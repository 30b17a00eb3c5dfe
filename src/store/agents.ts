/** Agents as published: a version never changes; a run stays on the one it began with. */
import type { AgentSpec } from '../types/spec.ts';
import type { Query } from './db.ts';

export async function latestVersion(q: Query, id: string): Promise<{ version: number; hash: string } | null> {
  const row = await q.get<{ version: number; spec_hash: string }>(
    'select version, spec_hash from agents where id = ? order by version desc limit 1',
    id,
  );
  return row ? { version: row.version, hash: row.spec_hash } : null;
}

/** False when another process published this version first. */
export async function addVersion(
  q: Query,
  spec: AgentSpec,
  version: number,
  hash: string,
  now: number,
): Promise<boolean> {
  const added = await q.run(
    'insert into agents (id, version, spec, spec_hash, created_at) values (?, ?, ?, ?, ?) on conflict (id, version) do nothing',
    spec.id,
    version,
    JSON.stringify(spec),
    hash,
    now,
  );
  return added > 0;
}

export async function readVersion(q: Query, id: string, version: number): Promise<AgentSpec | null> {
  const row = await q.get<{ spec: string }>('select spec from agents where id = ? and version = ?', id, version);
  return row ? (JSON.parse(row.spec) as AgentSpec) : null;
}
