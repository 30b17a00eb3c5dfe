import { readFileSync } from 'node:fs';
import { sha256 } from '../../src/base/digest.ts';

/** Everything the page loads. Small enough to be kept in memory; read once at start. */
const types: Record<string, string> = {
  'chat.css': 'text/css; charset=utf-8',
  'bar.css': 'text/css; charset=utf-8',
  'lines.css': 'text/css; charset=utf-8',
  'choices.css': 'text/css; charset=utf-8',
  'chat.js': 'text/javascript; charset=utf-8',
  'lines.js': 'text/javascript; charset=utf-8',
  'choices.js': 'text/javascript; charset=utf-8',
  'waiting.js': 'text/javascript; charset=utf-8',
  'toasts.js': 'text/javascript; charset=utf-8',
  'unsent.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
};

export function loadAssets() {
  const files = new Map<string, { bytes: Uint8Array<ArrayBuffer>; etag: string; type: string }>();
  for (const [name, type] of Object.entries(types)) {
    const bytes = new Uint8Array(readFileSync(new URL(`page/${name}`, import.meta.url)));
    files.set(name, { bytes, etag: `"${sha256(bytes).slice(0, 32)}"`, type });
  }
  return {
    /** Null for a name that is not ours. The browser keeps the file and asks each time whether it is still good. */
    serve(name: string, request: Request): Response | null {
      const file = files.get(name);
      if (!file) return null;
      const headers = { ETag: file.etag, 'Cache-Control': 'private, no-cache', 'Content-Type': file.type };
      if (request.headers.get('if-none-match') === file.etag) return new Response(null, { status: 304, headers });
      return new Response(file.bytes, { headers });
    },
  };
}
