import type { JsonObject } from '../../src/types/json.ts';
import type { AskedQuestion, Tool } from '../../src/types/tool.ts';

/** Of one call; the answers of a call come together. */
const questionsMax = 4;
const optionsMax = 8;
/** Two lines on a phone, and a button. */
const questionCharsMax = 500;
const optionCharsMax = 100;

/**
 * Asks the person whose message started the run, and nobody else (rule 56). The core shows the questions, parks the run and
 * calls the tool with the answers; the host has checked the arguments against the schema.
 */
export const askUser: Tool = {
  id: 'ask_user',
  name: 'ask_user',
  effect: 'safe',
  description:
    'Asks the person you work for one or several questions and waits for the answers, if need be for days. Use it when ' +
    'you cannot go on well without something only they can decide or know; not for what you can find out, and not to ' +
    'ask whether you may call a tool, which is asked by itself. `questions` is a list of 1 to ' +
    `${questionsMax}; put everything you need into one call. Each has a \`question\` of at most ${questionCharsMax} ` +
    `characters and may have \`options\`, at most ${optionsMax} short answers to choose from; the person may answer ` +
    'otherwise or skip. Returns a line for each question with its answer.',
  returns: 'One line for each question: the question, a colon, and the answer or (skipped, no answer).',
  inputSchema: {
    type: 'object',
    properties: {
      questions: {
        type: 'array',
        minItems: 1,
        maxItems: questionsMax,
        description: 'The questions, in the order in which they are shown.',
        items: {
          type: 'object',
          properties: {
            question: {
              type: 'string',
              minLength: 1,
              maxLength: questionCharsMax,
              pattern: '\\S',
              description: 'One question, understandable by itself.',
            },
            options: {
              type: 'array',
              maxItems: optionsMax,
              uniqueItems: true,
              description: 'Answers to choose from; leave it out for a free answer.',
              items: { type: 'string', minLength: 1, maxLength: optionCharsMax, pattern: '\\S' },
            },
          },
          required: ['question'],
          additionalProperties: false,
        },
      },
    },
    required: ['questions'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  questions: questionsOf,
  async call(input, { answers = [] }) {
    const lines = questionsOf(input).map(
      ({ question }, index) => `${question}: ${answers[index] ?? '(skipped, no answer)'}`,
    );
    return { content: lines.join('\n') };
  },
};

function questionsOf({ questions }: JsonObject): AskedQuestion[] {
  const list = questions as { question: string; options?: string[] }[];
  return list.map(({ question, options = [] }) => ({ question, options }));
}
