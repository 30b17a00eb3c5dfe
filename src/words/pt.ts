import { en, type Words } from './en.ts';

export const pt: Words = en;
