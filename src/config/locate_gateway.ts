import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { messageOf } from '../base/errors.ts';
import { substitute } from './environment.ts';
import { ConfigError } from './issue.ts';

/** As in the schema; a test compares them. */
const dataDirDefault = './data';

/**
 * Where the file keeps the data, and nothing else about it: what is wrong elsewhere in it, or not set in this terminal,
 * must not keep a command from the gateway that runs already. Relative paths begin at `folder`, by default the file's.
 * @throws ConfigError when the file cannot be read or this one value cannot be known.
 */
export function locateGateway(path: string, env: NodeJS.ProcessEnv, folder = dirname(path)): string {
  const file = basename(path);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const message = missing
      ? `there is no file ${path}; name one with --config FILE`
      : `cannot read ${path}: ${messageOf(error)}`;
    throw new ConfigError(file, [{ path: '', message }]);
  }
  const document = parseDocument(text, { uniqueKeys: false, prettyErrors: false, logLevel: 'silent' });
  const written = document.getIn(['gateway', 'data_dir']);
  if (typeof written !== 'string' || written === '') return resolve(folder, dataDirDefault);
  const { text: dataDir, problems } = substitute(written, env);
  if (problems.length > 0)
    throw new ConfigError(
      file,
      problems.map((message) => ({ path: 'gateway.data_dir', message })),
    );
  return resolve(folder, dataDir === '' ? dataDirDefault : dataDir);
}
