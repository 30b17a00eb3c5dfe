/** The chat page in a real browser. */
import { after, type TestContext } from 'node:test';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findProgram, needs } from '../../support/needs.ts';
import type { Chat } from './support.ts';

export const options = { skip: needs('chromium'), timeout: 60_000 };
const waitMs = 10_000;

let started: Promise<Browser> | null = null;
after(async () => (await started)?.close());

/** One browser for the file, one profile for each test. */
function browser(): Promise<Browser> {
  started ??= chromium.launch({
    executablePath: findProgram('chromium') ?? 'chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  return started;
}

export interface Tab {
  page: Page;
  /** Errors of scripts and violations of the content policy. */
  troubles: string[];
  /** The words of the lines on the screen, in order. */
  words(): Promise<string[]>;
  write(text: string): Promise<void>;
  /** Waits until this line is on the screen. */
  sees(text: string): Promise<void>;
  evaluate<T>(expression: string): Promise<T>;
}

export async function openTab(
  t: TestContext,
  chat: Pick<Chat, 'http'>,
  profile: BrowserContextOptions = {},
): Promise<Tab> {
  const context = await (await browser()).newContext({ viewport: { width: 1000, height: 700 }, ...profile });
  t.after(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(waitMs);
  const tab = watch(page);
  const link = await chat.http.signInLink({ channel: 'web', userId: 'ada', name: 'Ada', owner: false });
  await page.goto(link);
  await page.waitForURL('**/chat');
  await connected(page);
  return tab;
}

export function watch(page: Page): Tab {
  const troubles: string[] = [];
  page.on('pageerror', (error) => troubles.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy|refused/i.test(message.text())) troubles.push(message.text());
  });
  return {
    page,
    troubles,
    words: () => page.locator('#log .line > div').allInnerTexts(),
    async write(text) {
      await page.fill('#words', text);
      await page.keyboard.press('Enter');
    },
    sees: (text) => page.locator('#log .line', { hasText: text }).last().waitFor(),
    evaluate: (expression) => page.evaluate(expression),
  };
}

export const connected = (page: Page) => page.waitForSelector('#link[data-state=up]');
