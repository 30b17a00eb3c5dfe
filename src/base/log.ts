import { pino } from 'pino';

/** Structured log (rule 92): ids in the fields, message text only at debug level, no secret anywhere. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Log;
}

export interface LogOptions {
  level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** `auto` is pretty on a terminal and JSON otherwise. */
  format: 'auto' | 'json' | 'pretty';
  /** Values that must never appear; replaced wherever they occur in a line. */
  secrets: () => readonly string[];
  write?: (line: string) => void;
}

export function createLog(options: LogOptions): Log {
  const write = options.write ?? ((line: string) => void process.stderr.write(line));
  const pretty = options.format === 'pretty' || (options.format === 'auto' && process.stderr.isTTY === true);
  const stream = {
    write(line: string) {
      const clean = mask(line, options.secrets());
      write(pretty ? prettyLine(clean) : clean);
    },
  };
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: pino.stdSerializers.err },
    },
    stream,
  ) as Log;
}

/**
 * Replaces every known secret of eight characters or more (rule 90), as it is and as JSON writes it: a quote or a
 * backslash in it looks different there, and JSON within JSON once more.
 */
export function mask(text: string, secrets: readonly string[]): string {
  let out = text;
  for (const secret of secrets) {
    if (secret.length < 8) continue;
    const once = inJson(secret);
    for (const form of new Set([inJson(once), once, secret]))
      if (out.includes(form)) out = out.replaceAll(form, '[secret]');
  }
  return out;
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

function prettyLine(line: string): string {
  try {
    const { time, level, msg, ...rest } = JSON.parse(line) as Record<string, unknown>;
    const fields = Object.entries(rest)
      .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(' ');
    return `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${String(msg)}${fields ? `  ${fields}` : ''}\n`;
  } catch {
    return line;
  }
}
