/**
 * What a Telegram message holds apart from its words: files, and things that have no text of their own and become a
 * short plain phrase. Pure. A message with neither is a service message (join, pin, topic created) and no event.
 * Source: Bot API, "Message".
 */
import type { IncomingFile } from '../../src/types/message.ts';

/** A JSON object of unknown fields, as it came from the platform. */
export type Fields = Record<string, unknown>;

export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf).filter((item) => item !== undefined) : [];
}

/** Pictures a model can look at arrive as documents when they are sent uncompressed. */
const imageMimes = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif']);

/** The files of a message: at most one today, since an album arrives as one message per file. */
export function filesOf(message: Fields, messageId: number): IncomingFile[] {
  const photo = largestPhoto(message.photo);
  if (photo) return fileOf(photo, { kind: 'image', name: `photo_${messageId}.jpg`, mime: 'image/jpeg' });
  const voice = fieldsOf(message.voice);
  if (voice) return fileOf(voice, { kind: 'voice', name: `voice_${messageId}.ogg`, mime: 'audio/ogg' });
  const audio = fieldsOf(message.audio);
  if (audio) return fileOf(audio, { kind: 'audio', name: `audio_${messageId}.mp3`, mime: 'audio/mpeg' });
  const video = fieldsOf(message.video);
  if (video) return fileOf(video, { kind: 'video', name: `video_${messageId}.mp4`, mime: 'video/mp4' });
  const note = fieldsOf(message.video_note);
  if (note) return fileOf(note, { kind: 'video', name: `video_note_${messageId}.mp4`, mime: 'video/mp4' });
  // An animation also carries a `document` for old clients: it must be read first, or the file would come twice.
  const animation = fieldsOf(message.animation);
  if (animation) return fileOf(animation, { kind: 'video', name: `animation_${messageId}.mp4`, mime: 'video/mp4' });
  const sticker = fieldsOf(message.sticker);
  if (sticker) return fileOf(sticker, { kind: 'sticker', ...stickerForm(sticker, messageId) });
  const document = fieldsOf(message.document);
  if (document) {
    const kind = imageMimes.has(textOf(document.mime_type)) ? 'image' : 'document';
    return fileOf(document, { kind, name: `document_${messageId}`, mime: 'application/octet-stream' });
  }
  return [];
}

function fileOf(file: Fields, fallback: Pick<IncomingFile, 'kind' | 'name' | 'mime'>): IncomingFile[] {
  const ref = textOf(file.file_id);
  if (ref === '') return [];
  return [
    {
      ref,
      name: textOf(file.file_name) || fallback.name,
      mime: textOf(file.mime_type) || fallback.mime,
      ...(typeof file.file_size === 'number' ? { bytes: file.file_size } : {}),
      kind: fallback.kind,
    },
  ];
}

function largestPhoto(value: unknown): Fields | undefined {
  const area = (size: Fields) => Number(size.width) * Number(size.height) || 0;
  return listOf(value).reduce<Fields | undefined>(
    (best, size) => (best === undefined || area(size) >= area(best) ? size : best),
    undefined,
  );
}

function stickerForm(sticker: Fields, messageId: number): Pick<IncomingFile, 'name' | 'mime'> {
  if (sticker.is_animated === true) return { name: `sticker_${messageId}.tgs`, mime: 'application/x-tgsticker' };
  if (sticker.is_video === true) return { name: `sticker_${messageId}.webm`, mime: 'video/webm' };
  return { name: `sticker_${messageId}.webp`, mime: 'image/webp' };
}

/** A short phrase for content without words, or an empty string when the message has none of these. */
export function phraseOf(message: Fields): string {
  // A venue also carries its `location`.
  const venue = fieldsOf(message.venue);
  if (venue) return bracket('venue', textOf(venue.title), textOf(venue.address), coordinates(venue.location));
  const location = fieldsOf(message.location);
  if (location) return bracket('location', coordinates(location));
  const contact = fieldsOf(message.contact);
  if (contact) return bracket('contact', nameOf(contact), textOf(contact.phone_number));
  const poll = fieldsOf(message.poll);
  if (poll) return bracket('poll', textOf(poll.question), ...listOf(poll.options).map((option) => textOf(option.text)));
  // A game of dice also comes as an emoji; its value is what was thrown.
  const dice = fieldsOf(message.dice);
  if (dice) return bracket('dice', textOf(dice.emoji), typeof dice.value === 'number' ? String(dice.value) : '');
  const game = fieldsOf(message.game);
  if (game) return bracket('game', textOf(game.title));
  const checklist = fieldsOf(message.checklist);
  if (checklist)
    return bracket('checklist', textOf(checklist.title), ...listOf(checklist.tasks).map((task) => textOf(task.text)));
  if (fieldsOf(message.story)) return '[story]';
  if (fieldsOf(message.paid_media)) return '[paid media]';
  return '';
}

function bracket(word: string, ...details: string[]): string {
  const shown = details.filter((detail) => detail !== '').join(', ');
  return shown === '' ? `[${word}]` : `[${word} ${shown}]`;
}

function coordinates(value: unknown): string {
  const location = fieldsOf(value);
  if (typeof location?.latitude !== 'number' || typeof location.longitude !== 'number') return '';
  return `${location.latitude}, ${location.longitude}`;
}

/** First and last name of a user or contact; for people's eyes only. */
export function nameOf(user: Fields): string {
  return [textOf(user.first_name), textOf(user.last_name)].filter((part) => part !== '').join(' ');
}
