import { readCaption } from './content.ts';
import type { FileEntry, State } from './state.ts';
import { type Arguments, badRequest, type Entity, type Message, type Upload } from './wire.ts';

/** Largest file a bot may fetch. */
export const downloadBytesMax = 20 * 1024 * 1024;
const photoBytesMax = 10 * 1024 * 1024;

export const mediaKinds = [
  'photo',
  'document',
  'voice',
  'audio',
  'video',
  'video_note',
  'animation',
  'sticker',
] as const;
export type MediaKind = (typeof mediaKinds)[number];

const folderOf: Record<MediaKind, string> = {
  photo: 'photos',
  document: 'documents',
  voice: 'voice',
  audio: 'music',
  video: 'videos',
  video_note: 'video_notes',
  animation: 'animations',
  sticker: 'stickers',
};
const endingOf: Partial<Record<MediaKind, string>> = { photo: 'jpg', voice: 'oga', sticker: 'webp', video: 'mp4' };

export function keepFile(
  state: State,
  kind: MediaKind,
  file: { bytes: Buffer; size?: number | undefined; name?: string | undefined },
): FileEntry {
  const serial = state.nextId();
  const ending = file.name?.includes('.') ? file.name.split('.').at(-1) : (endingOf[kind] ?? 'bin');
  const entry: FileEntry = {
    id: `AgAC${kind}${serial}x${Buffer.from(`${state.bot.id}:${serial}`).toString('base64url')}`,
    uniqueId: `AQAD${serial}`,
    path: `${folderOf[kind]}/file_${serial}.${ending}`,
    size: file.size ?? file.bytes.length,
    bytes: file.bytes,
  };
  state.files.set(entry.id, entry);
  return entry;
}

/** The message field of a file, as Telegram shows it to bots. */
export function mediaField(
  kind: MediaKind,
  entry: FileEntry,
  details: {
    name?: string | undefined;
    mime?: string | undefined;
    duration?: number | undefined;
    emoji?: string | undefined;
  },
): Record<string, unknown> {
  const base = { file_id: entry.id, file_unique_id: entry.uniqueId, file_size: entry.size };
  const duration = details.duration ?? 1;
  switch (kind) {
    case 'photo': {
      const small = { ...base, file_id: `${entry.id}s`, file_unique_id: `${entry.uniqueId}s`, width: 90, height: 72 };
      return {
        photo: [
          { ...small, file_size: Math.min(entry.size, 1705) },
          { ...base, width: 800, height: 640 },
        ],
      };
    }
    case 'document':
      return { document: { ...base, file_name: details.name, mime_type: details.mime ?? 'application/octet-stream' } };
    case 'voice':
      return { voice: { ...base, duration, mime_type: details.mime ?? 'audio/ogg' } };
    case 'audio':
      return { audio: { ...base, duration, mime_type: details.mime ?? 'audio/mpeg', file_name: details.name } };
    case 'video':
      return { video: { ...base, duration, width: 640, height: 360, mime_type: details.mime ?? 'video/mp4' } };
    case 'video_note':
      return { video_note: { ...base, duration, length: 240 } };
    case 'animation': {
      const animation = { ...base, duration, width: 320, height: 240, file_name: details.name };
      return { animation, document: { ...base, file_name: details.name, mime_type: 'video/mp4' } };
    }
    default: {
      const shape = { width: 512, height: 512, is_animated: false, is_video: false, type: 'regular' };
      return { sticker: { ...base, ...shape, emoji: details.emoji } };
    }
  }
}

/** The file a send method names: an upload (by field or attach://), a file_id, or an address. */
export function sentFile(
  state: State,
  kind: MediaKind,
  value: unknown,
  uploads: Map<string, Upload>,
  field: string,
): Record<string, unknown> {
  const name = typeof value === 'string' && value.startsWith('attach://') ? value.slice('attach://'.length) : field;
  const upload = uploads.get(name);
  if (upload) {
    if (upload.bytes.length === 0) throw badRequest('file must be non-empty');
    if (kind === 'photo' && upload.bytes.length > photoBytesMax) {
      throw badRequest(
        `file "${upload.name}" of size ${upload.bytes.length} bytes is too big for a photo; the maximum size is ${photoBytesMax} bytes`,
      );
    }
    const entry = keepFile(state, kind, { bytes: Buffer.from(upload.bytes), name: upload.name });
    return mediaField(kind, entry, { name: upload.name, mime: upload.type });
  }
  if (typeof value !== 'string' || value === '')
    throw badRequest(`there is no ${kind.replace('_', ' ')} in the request`);
  const known = state.files.get(value);
  if (known) return mediaField(kind, known, {});
  if (/^https?:\/\//.test(value)) {
    return mediaField(kind, keepFile(state, kind, { bytes: Buffer.from(value), name: value.split('/').at(-1) }), {});
  }
  throw badRequest('wrong file identifier/HTTP URL specified');
}

export function captionFields(state: State, args: Arguments): { fields: Partial<Message>; formatting: Entity[] } {
  const caption = readCaption(state, args);
  if (caption.text === '') return { fields: {}, formatting: [] };
  const fields: Partial<Message> = { caption: caption.text };
  if (caption.entities.length > 0) fields.caption_entities = caption.entities;
  return { fields, formatting: caption.formatting };
}
