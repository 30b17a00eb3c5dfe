/** "Always allow" (rule 43): of one person, for one agent and tool, until the tool's definition changes. */
import type { Query } from './db.ts';

export interface Grant {
  id: string;
  personId: string;
  agent: string;
  capability: string;
  /** The stable tool id (A4). */
  tool: string;
  /** As `definitionOf` gave it; a grant for another definition has lapsed. */
  definition: string;
  /** Digest of the arguments it is for; null = any. */
  arguments: string | null;
  /** `<channel>:<user id>` of the account that decided. */
  setBy: string;
  setAt: number;
}

interface GrantRow extends Pick<Grant, 'id' | 'agent' | 'capability' | 'tool' | 'definition' | 'arguments'> {
  person_id: string;
  set_by: string;
  set_at: number;
}

const grantOf = ({ person_id, set_by, set_at, ...rest }: GrantRow): Grant => ({
  ...rest,
  personId: person_id,
  setBy: set_by,
  setAt: set_at,
});

const columns = 'id, person_id, agent, capability, tool, definition, arguments, set_by, set_at';

/** Of these people, oldest first; of one agent, or of all (null). */
export async function readGrants(q: Query, personIds: readonly string[], agent: string | null): Promise<Grant[]> {
  if (personIds.length === 0) return [];
  const rows = await q.all<GrantRow>(
    `select ${columns} from grants where person_id in (${personIds.map(() => '?').join(', ')})
     ${agent === null ? '' : 'and agent = ?'} order by id`,
    ...personIds,
    ...(agent === null ? [] : [agent]),
  );
  return rows.map(grantOf);
}

/** The same again replaces the one that is there, also one that has lapsed. */
export async function addGrant(q: Query, grant: Grant): Promise<void> {
  await q.run(
    `delete from grants where person_id = ? and agent = ? and capability = ? and tool = ?
     and coalesce(arguments, '') = ?`,
    grant.personId,
    grant.agent,
    grant.capability,
    grant.tool,
    grant.arguments ?? '',
  );
  await q.run(
    `insert into grants (${columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    grant.id,
    grant.personId,
    grant.agent,
    grant.capability,
    grant.tool,
    grant.definition,
    grant.arguments,
    grant.setBy,
    grant.setAt,
  );
}

/** What went, or null when there is none of that id. */
export async function removeGrant(q: Query, id: string): Promise<Grant | null> {
  const row = await q.get<GrantRow>(`delete from grants where id = ? returning ${columns}`, id);
  return row ? grantOf(row) : null;
}
