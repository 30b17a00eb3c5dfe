/**
 * GET /v1/skills and POST /v1/skills/{name}/execute (rule 97). A safe skill runs and its result is the answer; one that
 * changes something becomes a question to people; a dangerous one is never run from here.
 */

import type { Clock } from '../base/clock.ts';
import { canonicalJson, sha256 } from '../base/digest.ts';
import { GatehouseError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { isDeeperThan } from '../base/json_depth.ts';
import { limits } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import type { SkillTool } from '../skills/tool.ts';
import { addAudit } from '../store/audit.ts';
import type { Db } from '../store/db.ts';
import type { SignedIn } from '../store/sessions.ts';
import type { Json, JsonObject } from '../types/json.ts';
import type { Verdict } from '../types/tool.ts';
import { type BodyBudget, readBounded } from './body.ts';

/** What the gateway hands in. */
export interface HttpSkills {
  tools(): readonly SkillTool[];
  /** The strictest rule of admins and the person for the skill; it may only tighten what its class says. */
  ruleOf(tool: SkillTool, person: SignedIn): Promise<Verdict | undefined>;
  /**
   * Puts a call to people and answers with the approval's id. Throws a GatehouseError with words when nobody can be asked.
   */
  askForSkill(person: SignedIn, tool: SkillTool, input: JsonObject): Promise<string>;
  /** What became of one; null when it is not this person's. */
  readCall(person: SignedIn, approval: string): Promise<{ state: string; content: string | null } | null>;
}

export interface SkillsApiParts {
  db: Db;
  clock: Clock;
  log: Log;
  bodies: BodyBudget;
  skills: HttpSkills;
}

export interface SkillsApi {
  list(person: SignedIn | null): Promise<Response>;
  execute(person: SignedIn | null, name: string, request: Request): Promise<Response>;
  /** What became of a call that people decide. */
  call(person: SignedIn | null, approval: string): Promise<Response>;
}

export const skillsApiLimits = {
  /** Calls under way, of all and of one account. */
  callsMax: 16,
  callsPerAccountMax: 4,
  /** Whatever the manifest's time limit is: a connection is not kept for longer. */
  callMsMax: 10 * 60_000,
  logLinesMax: 100,
} as const;

type Way = 'run' | 'ask' | 'never';

export function createSkillsApi({ db, clock, log, bodies, skills }: SkillsApiParts): SkillsApi {
  const calls = new Map<string, number>();
  let total = 0;

  async function wayOf(tool: SkillTool, person: SignedIn): Promise<Way> {
    const rule = await skills.ruleOf(tool, person).catch(() => 'block' as const);
    if (tool.effect === 'dangerous' || rule === 'block') return 'never';
    return tool.effect === 'mutating' || rule === 'ask' ? 'ask' : 'run';
  }

  async function list(person: SignedIn | null): Promise<Response> {
    if (!person) return unauthorized();
    const shown = await Promise.all(
      skills.tools().map(async (tool) => ({
        name: tool.id,
        description: tool.description,
        class: tool.effect,
        category: tool.category,
        schema: tool.inputSchema as Json,
        // What POST does with it: run it, ask people first, or refuse.
        execute: await wayOf(tool, person),
      })),
    );
    return json({ skills: shown }, 200);
  }

  async function admitted(
    person: SignedIn,
    name: string,
  ): Promise<{ tool: SkillTool; way: Exclude<Way, 'never'> } | { refusal: Response }> {
    const tool = skills.tools().find(({ id }) => id === name);
    if (!tool) return { refusal: refuse(404, `There is no skill "${name.slice(0, 100)}". GET /v1/skills lists them.`) };
    const way = await wayOf(tool, person);
    if (way !== 'never') return { tool, way };
    const why =
      tool.effect === 'dangerous'
        ? `${tool.id} is dangerous: it runs only in a chat, after two people have approved it.`
        : `${tool.id} is blocked by a policy; "gatehouse policy list" shows which.`;
    return { refusal: refuse(403, why) };
  }

  async function execute(person: SignedIn | null, name: string, request: Request): Promise<Response> {
    if (!person) return unauthorized();
    const before = await admitted(person, name);
    if ('refusal' in before) return before.refusal;
    const read = await readBounded(request, bodies);
    if (read.request === null) return read.refusal;
    const text = await read.request.text().finally(read.release);
    // Somebody may take their time over the body; what has become of the skill and its rules meanwhile counts (rule 38).
    const now = await admitted(person, name);
    if ('refusal' in now) return now.refusal;
    const { tool, way } = now;
    const input = argumentsOf(text, tool);
    if (input === null) return refuse(400, 'The body must be a JSON object: the arguments of the skill.');
    const { argumentsLevelsMax } = limits;
    if (isDeeperThan(input, argumentsLevelsMax))
      return refuse(400, `The arguments stand in each other more than ${argumentsLevelsMax} levels deep.`);
    const wrong = tool.check(input);
    if (wrong !== null) return refuse(400, `${tool.id} was not run: ${wrong}`);
    return way === 'ask' ? ask(person, tool, input) : run(person, tool, input, request.signal);
  }

  async function ask(person: SignedIn, tool: SkillTool, input: JsonObject): Promise<Response> {
    try {
      const approval = await skills.askForSkill(person, tool, input);
      return json({ approval, result: `/v1/skills/calls/${approval}` }, 202);
    } catch (error) {
      if (error instanceof GatehouseError) return refuse(503, error.message);
      throw error;
    }
  }

  async function run(person: SignedIn, tool: SkillTool, input: JsonObject, gone: AbortSignal): Promise<Response> {
    const account = `${person.channel}:${person.userId}`;
    const own = calls.get(account) ?? 0;
    if (own >= skillsApiLimits.callsPerAccountMax) return busy('You have too many calls under way.', 429);
    if (total >= skillsApiLimits.callsMax) return busy('Too many skills are running. Try again.');
    calls.set(account, own + 1);
    total += 1;
    const end = new AbortController();
    const stop = () => end.abort(new Error('nobody waits for the answer any more'));
    if (gone.aborted) stop();
    gone.addEventListener('abort', stop, { once: true });
    const stopTimer = clock.after(skillsApiLimits.callMsMax, stop);
    const lines: string[] = [];
    try {
      await record(account, tool, input);
      const { ended, content } = await tool.execute(input, {
        signal: end.signal,
        progress: (line) => void (lines.length < skillsApiLimits.logLinesMax && lines.push(line)),
      });
      log.info({ skill: tool.id, account, ended }, 'a skill was run over HTTP');
      if (ended === 'done') return verbatim({ log: lines }, content);
      return json({ error: content, log: lines }, ended === 'refused' ? 503 : 502);
    } catch (error) {
      if (!end.signal.aborted) throw error;
      return json({ error: `${tool.id} was stopped: it took longer than a request may.`, log: lines }, 504);
    } finally {
      stopTimer();
      gone.removeEventListener('abort', stop);
      total -= 1;
      const left = (calls.get(account) ?? 1) - 1;
      if (left === 0) calls.delete(account);
      else calls.set(account, left);
    }
  }

  /** Before it runs: there is no run whose steps would say so. */
  async function record(account: string, tool: SkillTool, input: JsonObject): Promise<void> {
    const at = clock.now();
    const after = { arguments: sha256(canonicalJson(input)), definition: tool.definition };
    const entry = { id: newId(at), at, actor: account, action: 'skill.execute', subject: `skill:${tool.id}`, after };
    await db.tx((q) => addAudit(q, entry));
  }

  async function call(person: SignedIn | null, approval: string): Promise<Response> {
    if (!person) return unauthorized();
    const found = await skills.readCall(person, approval);
    if (!found) return refuse(404, 'There is no call of yours with this approval.');
    const { state, content } = found;
    if (state === 'done') return verbatim({ state }, content ?? '');
    return json(state === 'failed' ? { state, error: content } : { state }, 200);
  }

  return { list, execute, call };
}

/** The body itself, or what stands under `args` when that is all there is and the skill has no argument of that name. */
function argumentsOf(text: string, tool: SkillTool): JsonObject | null {
  if (text.trim() === '') return {};
  let body: Json;
  try {
    body = JSON.parse(text) as Json;
  } catch {
    return null;
  }
  if (!isObject(body)) return null;
  const { args, ...others } = body;
  const own = (tool.inputSchema.properties ?? {}) as object;
  if (isObject(args) && Object.keys(others).length === 0 && !Object.hasOwn(own, 'args')) return args;
  return body;
}

/**
 * With the skill's own text as `result`: parsing would round long numbers. A secret that was masked may have left
 * something that is no JSON any more; that is handed on as text.
 */
function verbatim(rest: JsonObject, content: string): Response {
  let result = content;
  try {
    JSON.parse(content);
  } catch {
    result = JSON.stringify(content);
  }
  const body = `{"result":${result},${JSON.stringify(rest).slice(1)}`;
  return new Response(body, { status: 200, headers: { 'Content-Type': 'application/json' } });
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function json(body: Json, status: number, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers });
}

const refuse = (status: number, error: string) => json({ error }, status);
const busy = (error: string, status = 503) => json({ error }, status, { 'Retry-After': '2' });
const unauthorized = () =>
  json({ error: "This needs a person's token: gatehouse token create --person ACCOUNT" }, 401, {
    'WWW-Authenticate': 'Bearer',
  });
