/** Questions on the gateway's own pages, from the agent's call to the button and on, in a real browser. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openPage } from '../http/browser.ts';
import { startTestGateway } from '../support/gateway.ts';
import { needs } from '../support/needs.ts';
import { capabilityOf } from './world.ts';

const options = { skip: needs('chromium'), timeout: 90_000 };

/** The owner on the chat page of a gateway whose agent has a tool that asks. */
async function openChat(t: TestContext) {
  const calls: unknown[] = [];
  const capability = capabilityOf('send_mail', {
    effect: 'mutating',
    call: async (input) => {
      calls.push(input);
      return { content: 'sent' };
    },
  });
  const { gateway, model } = await startTestGateway(t, {
    capabilities: [capability],
    config: { agent: { capabilities: [{ id: 'send_mail' }] } },
  });
  const { page, troubles } = await openPage(t);
  await page.goto(await gateway.signInLink(null));
  await page.waitForSelector('#link[data-state=up]');
  const write = async (to: string) => {
    model.script(
      { calls: [{ name: 'send_mail', input: { to, _approval_message: 'I want to write to them.' } }] },
      { text: `Done for ${to}.` },
    );
    await page.fill('#words', `write to ${to}`);
    await page.keyboard.press('Enter');
  };
  const ask = async (to: string) => {
    await write(to);
    await page.locator('.line', { hasText: `"to": "${to}"` }).waitFor();
  };
  return { gateway, page, troubles, calls, ask, write, url: gateway.url };
}

const shot = async (page: Page, name: string) => {
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
};

test('R52: asked on the chat page, approved there, and the run goes on from the call', options, async (t) => {
  const { page, troubles, calls, ask } = await openChat(t);
  await ask('bob');
  await page.locator('#waiting', { hasText: '1' }).waitFor();
  await shot(page, 'asked');
  assert.deepEqual(calls, []);
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('Done for bob.').waitFor();
  await page.locator('.line', { hasText: 'approved by Owner' }).waitFor();
  assert.equal(await page.locator('.choice').count(), 0);
  assert.deepEqual(calls, [{ to: 'bob' }]);
  await page.locator('#waiting').waitFor({ state: 'hidden' });
  await shot(page, 'went_on');
  assert.deepEqual(troubles, []);
});

test('R48, R52: approved on the page of approvals, the chat shows it and goes on', options, async (t) => {
  const { page, calls, ask, url } = await openChat(t);
  await ask('carol');
  const other = await page.context().newPage();
  await other.goto(`${url}/approvals`);
  const card = other.locator('#pending .card');
  await card.locator('.arguments', { hasText: '"to": "carol"' }).waitFor();
  await card.getByText('I want to write to them.').waitFor();
  await card.getByRole('button', { name: 'Approve' }).click();
  await card.locator('.outcome .approved').waitFor();
  await page.locator('.line', { hasText: 'approved by Owner' }).waitFor();
  await page.getByText('Done for carol.').waitFor();
  assert.equal(await page.locator('.choice').count(), 0);
  assert.deepEqual(calls, [{ to: 'carol' }]);
});

test('R43: always allow is pressed once, and the tool asks no more', options, async (t) => {
  const { page, calls, ask, write } = await openChat(t);
  await ask('bob');
  await page.getByRole('button', { name: 'Always allow' }).click();
  await page.getByText('Done for bob.').waitFor();
  await write('carol');
  await page.getByText('Done for carol.').waitFor();
  assert.deepEqual(calls, [{ to: 'bob' }, { to: 'carol' }]);
  assert.equal(await page.locator('.line', { hasText: 'Tool send_mail' }).count(), 1);
});
