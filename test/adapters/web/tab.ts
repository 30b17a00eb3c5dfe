/** The chat page in a real browser. */
import type { TestContext } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { openPage, troublesOf } from '../../http/browser.ts';
import { needs } from '../../support/needs.ts';
import type { Chat } from './support.ts';

export const options = { skip: needs('chromium'), timeout: 60_000 };
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
  const { page } = await openPage(t, profile);
  const tab = watch(page);
  const link = await chat.http.signInLink({ channel: 'web', userId: 'ada', name: 'Ada', owner: false });
  await page.goto(link);
  await page.waitForURL('**/chat');
  await connected(page);
  return tab;
}

export function watch(page: Page): Tab {
  const troubles = troublesOf(page);
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
