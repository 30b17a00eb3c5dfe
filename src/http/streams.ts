/** Open event streams: counted, bounded, and ended when their session or the server ends. */
import type { Clock } from '../base/clock.ts';

export const streamLimits = {
  perSessionMax: 32,
  totalMax: 500,
  /** After this a page must connect again, which checks its session anew. */
  ageMsMax: 3_600_000,
} as const;

export interface Streams {
  /** Passes the response on and keeps count; null when there are too many (its body is cancelled). */
  admit(response: Response, session: string): Response | null;
  /** Ends the streams of one session, or all. */
  end(session?: string): void;
}

interface Open {
  session: string;
  end(): void;
}

export function createStreams(clock: Clock): Streams {
  const open = new Set<Open>();

  function admit(response: Response, session: string): Response | null {
    const body = response.body;
    if (!body) return response;
    const ofSession = [...open].filter((one) => one.session === session).length;
    if (open.size >= streamLimits.totalMax || ofSession >= streamLimits.perSessionMax) {
      body.cancel().catch(() => {});
      return null;
    }
    const reader = body.getReader();
    let close = () => {};
    const one: Open = {
      session,
      end() {
        if (!open.delete(one)) return;
        stopAging();
        close();
        reader.cancel().catch(() => {});
      },
    };
    const stopAging = clock.after(streamLimits.ageMsMax, () => one.end());
    open.add(one);
    const passed = new ReadableStream<Uint8Array>(
      {
        start(controller) {
          close = () => controller.close();
        },
        async pull(controller) {
          const { done, value } = await reader.read().catch(() => ({ done: true as const, value: undefined }));
          if (!open.has(one)) return;
          if (done) return one.end();
          controller.enqueue(value);
        },
        cancel() {
          close = () => {};
          one.end();
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(passed, response);
  }

  return {
    admit,
    end(session) {
      for (const one of [...open]) if (session === undefined || one.session === session) one.end();
    },
  };
}
