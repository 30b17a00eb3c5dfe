/** What a schema cannot say: whether the parts of the file fit together. Every problem is collected. */
import { keyVariables } from '../models/known.ts';
import type { JsonObject } from '../types/json.ts';
import { checkAgents } from './check_agents.ts';
import { checkBindings } from './check_bindings.ts';
import { type CheckContext, checkAccount, checkName, entries, items, keys, object } from './check_context.ts';
import { checkLater } from './check_later.ts';

export function checkTogether(context: CheckContext): void {
  checkGateway(context);
  checkModels(context);
  checkChannels(context);
  checkAgents(context);
  checkBindings(context);
  checkLater(context);
  for (const [index, account] of items(context.data.admins))
    checkAccount(context, ['admins', index], account as string);
}

function checkGateway(context: CheckContext): void {
  const gateway = object(context.data.gateway);
  if (typeof gateway.timezone === 'string' && !isTimezone(gateway.timezone))
    context.error(['gateway', 'timezone'], 'is not a time zone; write an IANA name such as Europe/Berlin');
  if (typeof gateway.listen !== 'string') return;
  const { host, port } = splitListen(gateway.listen);
  if (port > 65_535) context.error(['gateway', 'listen'], 'the port must be at most 65535');
  if (!(host === 'localhost' || host === '::1' || /^127\./.test(host)))
    context.warn(
      ['gateway', 'listen'],
      `${host} can be reached from other machines; 127.0.0.1 behind a proxy with TLS is safer`,
    );
}

export function splitListen(listen: string): { host: string; port: number } {
  const split = listen.lastIndexOf(':');
  return { host: listen.slice(0, split).replace(/^\[|\]$/g, ''), port: Number(listen.slice(split + 1)) };
}

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function checkModels(context: CheckContext): void {
  const profiles = entries(context.data.models);
  const names = keys(context.data.models);
  for (const [name, profile] of profiles) {
    const path = ['models', name];
    const provider = String(profile.provider);
    const own = ['model', 'api_key', 'base_url', 'price', 'context_window'];
    if (provider === 'auto') {
      for (const key of own)
        if (profile[key] !== undefined && profile[key] !== null)
          context.error(
            [...path, key],
            `provider auto chooses this itself; write the provider (such as openai) to set ${key}`,
          );
    } else if (provider === 'demo') {
      for (const key of own)
        if (profile[key] !== undefined && profile[key] !== null)
          context.warn([...path, key], 'has no meaning for provider demo');
    } else if (profile.provider !== undefined) {
      if (profile.model === undefined)
        context.error([...path, 'model'], `is missing: the name ${provider} gives the model`);
      if (provider === 'openai_compatible' && profile.base_url === null)
        context.error([...path, 'base_url'], 'is missing: the URL of the server, such as http://127.0.0.1:8000/v1');
      const variable = keyVariables[provider];
      if (variable !== undefined && profile.api_key === null && profile.base_url === null)
        context.error([...path, 'api_key'], `is missing; write api_key: \${${variable}}`);
    }
    for (const [index, fallback] of items(profile.fallbacks))
      checkName(context, [...path, 'fallbacks', index], fallback, 'models', names);
  }
  checkFallbackCircles(context, profiles);
}

function checkFallbackCircles(context: CheckContext, profiles: [string, JsonObject][]): void {
  const next = new Map(profiles.map(([name, profile]) => [name, items(profile.fallbacks)]));
  const done = new Set<string>();
  const visit = (name: string, trail: string[]): void => {
    if (done.has(name)) return;
    for (const [index, fallback] of next.get(name) ?? []) {
      const start = [...trail, name].indexOf(String(fallback));
      if (start >= 0)
        context.error(
          ['models', name, 'fallbacks', index],
          `goes round in a circle: ${[...trail, name].slice(start).join(' → ')} → ${String(fallback)}; remove one`,
        );
      else visit(String(fallback), [...trail, name]);
    }
    done.add(name);
  };
  for (const name of next.keys()) visit(name, []);
}

function checkChannels(context: CheckContext): void {
  const publicUrl = object(context.data.gateway).public_url;
  for (const [name, channel] of entries(context.data.channels)) {
    const needs = channel.mode === 'webhook' || channel.mode === 'http' ? 'mode' : null;
    const key = channel.buttons === 'buttons' ? 'buttons' : needs;
    if (key !== null && typeof publicUrl !== 'string')
      context.error(
        ['channels', name, key],
        `${String(channel[key])} needs gateway.public_url, the address at which the platform reaches this gateway`,
      );
  }
}
