import { connect } from 'node:net';
import { GatehouseError } from '../base/errors.ts';
import { commandName } from '../base/program.ts';
import { controlPath } from './path.ts';
import { answerBytesMax, type ControlAnswer, type ControlArgs, readLine } from './wire.ts';

const answerMsDefault = 30_000;

/** No gateway is running on the data folder. */
export class NotRunning extends GatehouseError {
  constructor(dataDir: string) {
    super('unavailable', `no gateway is running on ${dataDir}`, {
      hint: commandName() === 'gatehouse' ? 'start it with "gatehouse start"' : 'start it with "npm start"',
    });
  }
}

/**
 * Has the running gateway do a command and returns its result.
 * @throws NotRunning; GatehouseError as the gateway's handler threw it; `unavailable` without an answer in time.
 */
export async function callControl(
  dataDir: string,
  command: string,
  args: ControlArgs,
  options: { timeoutMs?: number } = {},
): Promise<unknown> {
  const timeoutMs = options.timeoutMs ?? answerMsDefault;
  const socket = connect(controlPath(dataDir));
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', (error: NodeJS.ErrnoException) =>
        reject(
          error.code === 'ENOENT' || error.code === 'ECONNREFUSED'
            ? new NotRunning(dataDir)
            : new GatehouseError('unavailable', `cannot reach the gateway on ${dataDir}: ${error.message}`, {
                hint: 'run the command as the user who runs the gateway',
                cause: error,
              }),
        ),
      );
    });
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)));
    socket.write(`${JSON.stringify({ command, args })}\n`);
    const answer = JSON.parse(await readLine(socket, answerBytesMax).catch(silent(dataDir))) as ControlAnswer;
    if (answer.ok) return answer.result;
    const { code, message, hint } = answer.error;
    throw new GatehouseError(code, message, hint === undefined ? {} : { hint });
  } finally {
    socket.destroy();
  }
}

function silent(dataDir: string) {
  return (error: Error): never => {
    throw new GatehouseError('unavailable', `the gateway on ${dataDir} gave no answer: ${error.message}`, {
      hint: 'look at its log; it may be stopping',
      cause: error,
    });
  };
}
