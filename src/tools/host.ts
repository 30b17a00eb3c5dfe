/**
 * Runs tool calls: finds the tool by the name the model used, checks the arguments, and turns whatever happens into a
 * result the model can read (DESIGN, "What a tool says when something goes wrong"). Never throws but for an abort.
 */
import { GatehouseError, messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { wellFormed } from '../base/safe_text.ts';
import type { Offer, OfferedTool } from '../capability/attach.ts';
import type { ToolDecision } from '../policy/tools.ts';
import type { JsonObject } from '../types/json.ts';
import type { Tool, ToolCall, ToolContext, ToolResult } from '../types/tool.ts';
import { takeApprovalMessage } from './approval_message.ts';
import { validatorOf } from './validator.ts';

/** A call before it runs: which tool it means, and whether it may. */
export interface DecidedCall {
  /** Its arguments are without the agent's message. */
  call: ToolCall;
  /** What the agent says about it, for the people who are asked (A3). */
  message: string | null;
  offered: OfferedTool | null;
  decision: ToolDecision;
}

export interface ResolvedCall extends DecidedCall {
  /** Set when the call will not run: what the model is told. */
  refusal: string | null;
}

/** Which tool a call means, also one that is blocked here, and the call as that tool gets it. */
export function readCall(call: ToolCall, offer: Pick<Offer, 'tools' | 'blocked'>): Omit<DecidedCall, 'decision'> {
  const means = ({ tool }: OfferedTool) => tool.name === call.name;
  const offered = offer.tools.find(means) ?? offer.blocked.find(means) ?? null;
  if (!offered) return { call, message: null, offered };
  const { input, message } = takeApprovalMessage(offered.own, call.input);
  return { call: { ...call, input }, message, offered };
}

/** Whether a call that is about to run may, and its arguments are right. */
export function resolveCall(decided: DecidedCall, tools: readonly OfferedTool[]): ResolvedCall {
  return { ...decided, refusal: refusalOf(decided, tools) };
}

function refusalOf({ call, offered, decision }: DecidedCall, tools: readonly OfferedTool[]): string | null {
  if (!offered)
    return `There is no tool "${call.name}" here. The tools are: ${tools.map(({ tool }) => tool.name).join(', ') || 'none'}.`;
  const { tool } = offered;
  if (decision.verdict === 'block')
    return `${tool.id} was not run: it is blocked here (${decision.rule}). This is final; do not call it again.`;
  return inputError(tool, call);
}

/** A retry prompt when the arguments are not what the tool takes, else null. */
export function inputError(tool: Tool, call: ToolCall): string | null {
  if (call.input === null || typeof call.input !== 'object' || Array.isArray(call.input))
    return retryPrompt(tool, 'the arguments are not a JSON object');
  const validate = validatorOf(tool.inputSchema);
  if (validate(call.input)) return null;
  const reasons = (validate.errors ?? []).map(
    (error) => `${error.instancePath || 'arguments'} ${error.message ?? 'is wrong'}`,
  );
  return retryPrompt(tool, reasons.slice(0, 10).join('; '));
}

/** Shows a right call, so that the next one can be right. */
function retryPrompt(tool: Tool, reason: string): string {
  return `${tool.name} was not run: ${reason}. Its arguments follow this schema: ${JSON.stringify(tool.inputSchema).slice(0, 4_000)}`;
}

export const unknownOutcome =
  'Outcome unknown: this call was under way when the gateway was interrupted. It may have taken effect. Check before you try it again.';
export const cancelledOutcome = 'Not run: the run was stopped before this call.';

/** Whether an interrupted call may simply be run again (D2). */
export function repeatable(tool: Tool): boolean {
  return tool.annotations.readOnlyHint || tool.annotations.idempotentHint;
}

export async function runTool(tool: Tool, call: ToolCall, context: ToolContext): Promise<ToolResult> {
  const { signal } = context;
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  aborted.catch(() => {});
  try {
    // A tool that does not look at the signal must not hold up `stop` (rule 75).
    const outcome = await Promise.race([tool.call(call.input as JsonObject, context), aborted]);
    return { ...outcome, toolUseId: call.id, isError: outcome.isError ?? false, content: cut(outcome.content) };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof GatehouseError) return { toolUseId: call.id, isError: true, content: cut(error.message) };
    context.log.error({ tool: tool.id, err: error }, `tool ${tool.id} broke`);
    return { toolUseId: call.id, isError: true, retry: true, content: `${tool.id} failed: ${cut(messageOf(error))}` };
  }
}

function cut(content: string): string {
  const text = wellFormed(content);
  const most = limits.toolResultCharsMax;
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  return `${text.slice(0, half)}\n[… ${text.length - most} characters left out …]\n${text.slice(-half)}`;
}
