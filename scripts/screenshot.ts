/**
 * `npm run screenshot`: starts the gateway with the demo model, talks to it in Chromium, and writes docs/chat-page.png.
 * Needs Chromium (Debian: apt-get install chromium); CHROMIUM names another one.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { stringify } from 'yaml';
import { createLog } from '../src/base/log.ts';
import { loadConfig } from '../src/config/load.ts';
import { startGateway } from '../src/gateway/gateway.ts';
import { plugins } from '../src/plugins.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-screenshot-'));
const file = join(folder, 'config.yaml');
writeFileSync(
  file,
  stringify({
    gateway: { data_dir: join(folder, 'data'), listen: '127.0.0.1:0' },
    storage: { url: `sqlite:${join(folder, 'data', 'gatehouse.db')}` },
    models: { main: { provider: 'demo' } },
    channels: { local: { type: 'web' } },
    agents: { helper: { name: 'Helper', model: 'main', instructions: 'You help.', capabilities: ['clock'] } },
    policies: { __builtin__: { store_set: 'ask' } },
    bindings: [{ id: 'page', agent: 'helper', channel: 'local', where: { direct: true } }],
  }),
);
const { config } = loadConfig(file, {}, plugins);
const gateway = await startGateway({
  config,
  plugins,
  log: createLog({ level: 'error', format: 'auto', secrets: () => [] }),
});
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
try {
  const page = await browser.newPage({
    viewport: { width: 1100, height: 720 },
    deviceScaleFactor: 2,
    colorScheme: process.argv.includes('--dark') ? 'dark' : 'light',
  });
  await page.goto(await gateway.signInLink(null));
  await page.waitForURL('**/chat');
  const write = async (text: string, answer: RegExp) => {
    await page.getByRole('textbox').fill(text);
    await page.keyboard.press('Enter');
    await page.getByText(answer).last().waitFor();
  };
  await write('which tools?', /store_get/i);
  const asked = { key: 'favourite colour', value: 'green', _approval_message: 'I would like to remember your colour.' };
  await write(`call store_set ${JSON.stringify(asked)}`, /Approval needed/);
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await page.waitForTimeout(600);
  await page.screenshot({
    path: process.argv.find((word) => word.endsWith('.png')) ?? join(root, 'docs', 'chat-page.png'),
  });
} finally {
  await browser.close();
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
