import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Caller, isForwarded, isLoopback, judge, ownHosts, type Site } from '../../src/http/guard.ts';

const site: Site = {
  hosts: ownHosts({ host: '127.0.0.1', port: 8484 }, []),
  publicUrl: 'https://bots.example.com',
};
const base: Caller = {
  method: 'GET',
  kind: 'page',
  host: '127.0.0.1:8484',
  origin: null,
  fetchSite: null,
  fetchMode: null,
  forwarded: false,
  session: false,
  bearer: false,
};

/** What differs from a plain GET of a page at 127.0.0.1:8484, and the status it is refused with (0 = allowed). */
const table: [name: string, change: Partial<Caller>, status: number][] = [
  ['a page at the address we listen on', {}, 0],
  ['a page at localhost', { host: 'localhost:8484' }, 0],
  ['a page at the IPv6 loopback name', { host: '[::1]:8484' }, 0],
  ['the host in capitals', { host: 'LOCALHOST:8484' }, 0],
  ['no host at all', { host: null }, 400],
  ['DNS rebinding: a foreign name that leads here', { host: 'evil.example' }, 421],
  ['DNS rebinding with our port', { host: 'evil.example:8484' }, 421],
  ['a name that begins like ours', { host: 'localhost.evil.example:8484' }, 421],
  ['our name with another port', { host: 'localhost:9999' }, 421],
  ['DNS rebinding with a session', { host: 'evil.example:8484', session: true }, 421],
  ['a platform path under a foreign name', { kind: 'platform', method: 'POST', host: 'evil.example' }, 421],
  ['health under any name', { kind: 'health', host: '10.0.0.7:8484' }, 0],
  ['health through a proxy', { kind: 'health', host: 'bots.example.com', forwarded: true }, 0],

  ['a page through a proxy', { forwarded: true }, 403],
  ['a page through a proxy with a session', { forwarded: true, session: true }, 0],
  ['a page by the public name', { host: 'bots.example.com' }, 403],
  ['a page by the public name with its port', { host: 'bots.example.com:443' }, 403],
  ['a page by the public name with a session', { host: 'bots.example.com', session: true }, 0],
  ['the chat by the public name', { kind: 'chat', host: 'bots.example.com' }, 403],
  ['a platform call by the public name', { kind: 'platform', method: 'POST', host: 'bots.example.com' }, 0],
  ['a platform call through a proxy', { kind: 'platform', method: 'POST', forwarded: true }, 0],

  ['POST without Origin and Sec-Fetch-Site', { method: 'POST' }, 403],
  ['POST from our own page', { method: 'POST', origin: 'http://127.0.0.1:8484' }, 0],
  [
    'POST from our own page, both headers',
    { method: 'POST', origin: 'http://127.0.0.1:8484', fetchSite: 'same-origin' },
    0,
  ],
  ['POST that only says same-origin', { method: 'POST', fetchSite: 'same-origin' }, 0],
  ['POST of a form without a referrer', { method: 'POST', origin: 'null', fetchSite: 'same-origin' }, 0],
  ['POST of a sandboxed frame', { method: 'POST', origin: 'null', fetchSite: 'cross-site' }, 403],
  ['POST with Origin null alone', { method: 'POST', origin: 'null' }, 403],
  ['POST from elsewhere', { method: 'POST', origin: 'https://evil.example' }, 403],
  ['POST from elsewhere with a session', { method: 'POST', origin: 'https://evil.example', session: true }, 403],
  [
    'POST from another port of this machine',
    { method: 'POST', origin: 'http://127.0.0.1:3000', fetchSite: 'same-site' },
    403,
  ],
  ['POST from another name of this machine', { method: 'POST', origin: 'http://localhost:8484' }, 403],
  ['POST that says same-site', { method: 'POST', fetchSite: 'same-site' }, 403],
  ['POST from a typed address', { method: 'POST', fetchSite: 'none' }, 403],
  ['DELETE without Origin', { method: 'DELETE' }, 403],
  [
    'POST by the public name from its page',
    { method: 'POST', host: 'bots.example.com', session: true, origin: 'https://bots.example.com' },
    0,
  ],
  [
    'POST by the public name from plain http',
    { method: 'POST', host: 'bots.example.com', session: true, origin: 'http://bots.example.com' },
    403,
  ],
  [
    'POST behind a proxy that rewrites the host',
    { method: 'POST', forwarded: true, session: true, origin: 'https://bots.example.com' },
    0,
  ],
  ['POST directly with the public origin', { method: 'POST', session: true, origin: 'https://bots.example.com' }, 403],

  ['POST with a token', { method: 'POST', session: true, bearer: true }, 0],
  [
    'POST with a token by the public name',
    { method: 'POST', host: 'bots.example.com', session: true, bearer: true },
    0,
  ],
  [
    'POST with a token under a foreign name',
    { method: 'POST', host: 'evil.example', session: true, bearer: true },
    421,
  ],

  ['a link from elsewhere opens a page', { fetchSite: 'cross-site', fetchMode: 'navigate' }, 0],
  ['a script elsewhere reads', { fetchSite: 'cross-site', fetchMode: 'no-cors', session: true }, 403],
  ['another local port reads', { kind: 'chat', fetchSite: 'same-site', fetchMode: 'cors', session: true }, 403],
  ['our own page reads', { kind: 'chat', fetchSite: 'same-origin', fetchMode: 'cors', session: true }, 0],
];

for (const [name, change, status] of table) {
  test(`R93: ${name} → ${status || 'allowed'}`, () => {
    const verdict = judge({ ...base, ...change }, site);
    assert.equal(verdict.allowed ? 0 : verdict.status, status);
  });
}

test('R93: without a public_url its host is a stranger', () => {
  const verdict = judge({ ...base, kind: 'platform', host: 'bots.example.com' }, { ...site, publicUrl: null });
  assert.deepEqual(verdict.allowed ? null : verdict.status, 421);
});

test('R93: listening everywhere, the addresses of this machine are ours and others are not', () => {
  const hosts = ownHosts({ host: '0.0.0.0', port: 8484 }, ['192.168.7.3', 'fe80::1']);
  assert.equal(hosts.has('192.168.7.3:8484'), true);
  assert.equal(hosts.has('[fe80::1]:8484'), true);
  assert.equal(hosts.has('192.168.7.4:8484'), false);
});

test('R93: on port 80 the port is left out', () => {
  assert.equal(ownHosts({ host: '127.0.0.1', port: 80 }, []).has('localhost'), true);
  assert.equal(ownHosts({ host: '127.0.0.1', port: 8484 }, []).has('localhost'), false);
});

test('R93: every header of a proxy is seen', () => {
  for (const name of ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto']) {
    assert.equal(isForwarded(['accept', name]), true, name);
  }
  assert.equal(isForwarded(['accept', 'host', 'forwarded-by-hand']), false);
});

test('R93: loopback addresses in every form of Node', () => {
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])
    assert.equal(isLoopback(address), true, address);
  for (const address of ['10.0.0.1', '::ffff:10.0.0.1', '12.7.0.0', 'fe80::1', undefined]) {
    assert.equal(isLoopback(address), false, address);
  }
});
