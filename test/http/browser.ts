/** One browser for a test file, one profile for each test. */
import { after, type TestContext } from 'node:test';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findProgram } from '../support/needs.ts';

const waitMs = 10_000;

let started: Promise<Browser> | null = null;
after(async () => (await started)?.close());

function browser(): Promise<Browser> {
  started ??= chromium.launch({
    executablePath: findProgram('chromium') ?? 'chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  return started;
}

/** `troubles`: errors of scripts and violations of the content policy. */
export async function openPage(
  t: TestContext,
  profile: BrowserContextOptions = {},
): Promise<{ page: Page; troubles: string[] }> {
  const context = await (await browser()).newContext({ viewport: { width: 1000, height: 700 }, ...profile });
  t.after(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(waitMs);
  return { page, troubles: troublesOf(page) };
}

export function troublesOf(page: Page): string[] {
  const troubles: string[] = [];
  page.on('pageerror', (error) => troubles.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy|refused/i.test(message.text())) troubles.push(message.text());
  });
  return troubles;
}
