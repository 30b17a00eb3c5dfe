/** Everything the gateway itself says to people, in English. The other languages have the same keys. */
import { questionWords } from './questions.ts';

export const en = {
  help: (bot: string, commands: { name: string; description: string }[]) =>
    `I am ${bot}. Write to me, and I answer.\n\n${commands.map((command) => `- \`/${command.name}\` ${command.description}`).join('\n')}\n\nWhere a slash is not delivered, \`!help\` works too.`,
  commandHelp: 'shows what I understand',
  commandNew: 'starts an empty conversation',
  commandStop: 'stops what I am doing',
  commandStatus: 'shows what I am doing',
  commandWhoami: 'shows who you are to me',
  commandUsage: 'shows what was used and what it cost',
  commandTools: 'shows what I may do here, and what asks first',
  commandPolicy: 'shows and sets what may run without asking',
  commandMode: 'shows and sets what asks in this conversation (ask, default, waive)',
  commandClaim: 'makes you the first admin, with the code printed at start',
  commandPair: 'admits somebody, with their code or id (admins)',
  commandLink: 'links another account of yours',
  commandUnlink: 'separates this account from your others',

  newStarted: 'This is a new conversation. The old one is kept.',
  nothingToStop: 'Nothing is running here.',
  stopping: 'Stopping.',
  stopped: '(stopped)',
  statusIdle: 'I am idle here.',
  statusRunning: (seconds: number) => `I am working on an answer, since ${seconds} s.`,
  statusWaiting: (count: number) => `${count} more waiting.`,
  statusVersion: (agent: string, version: number, model: string) =>
    `Agent **${agent}**, version ${version}, model ${model}.`,
  whoami: (account: string, name: string, roles: string) => `You are **${name}**, \`${account}\`, ${roles}.`,
  roleAdmin: 'an admin',
  rolePaired: 'admitted by an admin',
  roleMember: 'a member',
  whoamiLinked: (accounts: string) => `Linked with:\n${accounts}`,

  linkCode: (code: string) =>
    `Send me this from your other account, in a direct message: \`link ${code}\`\n\nThe code works once, for 15 minutes. Give it to nobody.`,
  linkDirectOnly: 'Accounts are linked and unlinked in a direct message only.',
  linkAsk: (accounts: string) =>
    `Is this you as well?\n${accounts}\n\nOnce linked, all your accounts see what each of them keeps with me in direct chats, and in approvals they count as one person. Nothing is moved: \`/unlink\` separates an account again. An admin role stays with the account that holds it.\n\nWrite \`link confirm\` here and there within 15 minutes. If that is somebody else, write \`link cancel\`.`,
  linkWaits: (account: string) => `Confirmed here. Now write \`link confirm\` from \`${account}\` too.`,
  linkDone: (accounts: string) => `This account is linked with:\n${accounts}`,
  linkCancelled: 'Cancelled: nothing was linked, and no code of yours works any more.',
  linkCancelledOther: 'The other account has cancelled: nothing was linked.',
  linkNothing: 'There is nothing to confirm. Write `/link` for a code.',
  linkWrong: 'No open link has that code. Codes work once, for 15 minutes; `/link` gives a new one.',
  linkTries: 'Too many wrong codes. Try again in an hour.',
  linkSame: 'That is this account, or one it is linked with already. Send the code from another account.',
  linkFull: (max: number) => `No more than ${max} accounts can be linked.`,
  unlinked: (accounts: string) => `This account stands alone again. It was linked with:\n${accounts}`,
  unlinkNone: 'This account is linked with no other.',
  unlinkTold: (account: string) => `This account is no longer linked with you:\n${account}`,

  usageLine: (label: string, requests: number, input: number, cached: number, output: number, cost: string) =>
    `- ${label}: ${requests} requests, ${input} tokens in (${cached} from cache), ${output} out, ${cost}`,
  usageToday: 'Today, this agent',
  usageConversation: 'Today, this place',
  atLeast: (cost: string) => `at least ${cost}`,

  claimed: 'You are the admin of this gateway now.',
  claimWrong: 'That code is not right.',
  claimGone: 'There is no claim code to redeem. One is printed when the gateway starts without an admin.',
  claimDirectOnly: 'A claim code works in a direct message only. Restart the gateway for a new one if others saw it.',
  claimUsage: 'Write `claim` and the code that was printed at start.',

  pairing: (code: string) =>
    `I do not know you yet. Ask an admin to admit you with this code, good for one hour: \`${code}\``,
  pairingClaim: 'If this gateway is yours, send me the `claim …` line it printed at start.',
  pairUsage:
    'Write `/pair` and a code, an account such as `helper-telegram:123456789`, or `here` for this group. With `admin` after it they become an admin.',
  pairAdminOnly: 'Only an admin can admit people.',
  pairNoId: (account: string) =>
    `\`${account}\` is not the id of an account or a group. Names can change hands, so write the id: \`/whoami\` tells people theirs.`,
  pairUnknownCode: 'No open request has that code. Codes are good for one hour.',
  pairConfirm: (name: string, account: string) => `Admitted: **${name}**, \`${account}\`.`,
  pairConfirmAdmin: (name: string, account: string) => `Admitted as an admin: **${name}**, \`${account}\`.`,
  pairConfirmChat: (chat: string) => `Admitted: the group \`${chat}\`.`,
  pairPending: (lines: string[]) => (lines.length === 0 ? 'Nobody waits to be admitted.' : lines.join('\n')),
  pairAdmitted: 'An admin has admitted you. Write to me.',
  pairMadeAdmin: 'An admin has made you an admin of this gateway. Write to me.',
  groupNotAdmitted: (chat: string) =>
    `I do not answer in this group yet. An admin of this gateway can admit it with \`/pair here\`, or by listing \`${chat}\` under \`where.chats\`.`,
  notAllowed: 'I am not open to you here. Ask the people who run me.',
  nobodyAnswers: 'Nobody answers here any more; ask the people who run me.',
  needsLink:
    'I answer linked accounts only. Write `/link` to me from an account I know, and send me the code from here.',

  toolsHere: (bot: string, lines: string[]) => `What **${bot}** may do here for you:\n\n${lines.join('\n')}`,
  toolsNone: 'I have no tools here.',
  toolVerdict: {
    allow: 'runs at once',
    ask: 'asks first',
    askTwo: 'asks two people first',
    block: 'is blocked',
  },
  effectReason: {
    safe: 'it changes nothing that matters',
    mutating: 'it changes something',
    dangerous: 'it is dangerous',
  },
  ruleReason: {
    declared: 'it declares that itself',
    foreign: 'it comes from outside and no rule names it',
    two_people: 'it declares that itself',
    admin: 'an admin says so',
    agent_never: 'this agent is set up so',
    agent_required: 'this agent is set up so',
    permission_mode: 'this agent may do no more than that',
    binding_required: 'this place is set up so',
    ask_all: 'this conversation asks about everything',
    own: 'you say so',
    always_allow: 'you always allow it',
    waived: 'this conversation does without questions',
    unreadable: 'the rules could not be read',
    not_offered: 'it is not there',
  },
  modeIs: {
    ask: 'This conversation asks before every tool.',
    default: 'This conversation asks as the rules of the tools say; `/tools` shows them.',
    waive: 'This conversation does without questions, except where an admin or two people must be asked.',
  },
  modeUsage: 'Write `/mode ask`, `/mode default` or `/mode waive`.',
  modeDirectOnly: 'Only a direct chat can do without questions.',
  modeNotAllowed: 'Questions cannot be waived here: an admin has to allow it for this place first (`approvals.waive`).',
  policyUsage:
    'Change it with `/policy TOOL allow`, `ask`, `block` or `default`, or `/policy forget NUMBER`. `/tools` names the tools.',
  policyUsageAdmin: 'For everybody, as an admin: `/policy admin TOOL allow`, `ask`, `block` or `default`.',
  policyAdminOnly: 'Only an admin can set that for everybody.',
  policyOfAdmins: 'What admins say',
  policyOfYou: 'What you say',
  policyGrants: 'What you always allow',
  policyNone: 'Nobody has set a rule; `/tools` shows what follows without one.',
  policyVerdict: { allow: 'allowed', ask: 'asks first', block: 'blocked', default: 'no rule' },
  policyExact: 'with exactly the same arguments',
  policyLapsed: 'no longer valid: the tool has changed',
  policySet: (tool: string, verdict: string) => `Noted for you. \`${tool}\`: ${verdict}.`,
  policySetForAll: (tool: string, verdict: string) => `Noted for everybody. \`${tool}\`: ${verdict}.`,
  policyDirectOnly: 'Your own permission counts in direct chats only.',
  policyHere: 'So here:',
  policyUnknown: (word: string, near: string | null) =>
    `There is no tool \`${word}\`.${near === null ? ' `/tools` names the tools.' : ` Did you mean \`${near}\`?`}`,
  policySeveral: (tools: string[]) => `There are several of that name; write one of ${tools.join(', ')}.`,
  policyForgotten: (tool: string) => `Forgotten: \`${tool}\` is not always allowed any more.`,
  policyNoNumber: 'There is no such number; `/policy` shows the list.',

  rateLimited: 'That is more than I may take in a minute. I have kept your messages and answer them one after another.',
  queueFull: (count: number) => `I have ${count} messages waiting here. Please send that again when I have caught up.`,
  tooLong: (length: number, max: number) =>
    `That message has ${length} characters; I can take ${max}. Please send it in parts.`,
  voiceNotHeard: 'I cannot listen to voice messages yet. Please write it down.',
  filesNotRead: (names: string[]) => `I could not read: ${names.join(', ')}.`,
  fileReason: {
    voice: 'I cannot listen to it yet',
    type: 'I cannot read this kind yet',
    size: 'it is too large',
    failed: 'it could not be fetched',
  },

  runFailed: (id: string) =>
    `Something went wrong and I could not answer. If it happens again, tell an admin: \`${id}\``,
  modelFailed: (id: string) => `The model cannot be reached right now. Please try again later. \`${id}\``,
  modelTooLong: (id: string) =>
    `This is more than the model can read at once. Write \`/new\` to begin anew, or send less. \`${id}\``,
  modelDeclined: (id: string) => `The model does not answer this request as it is. \`${id}\``,
  modelRefuses: (id: string) => `The model refuses me: its key or settings are wrong. Tell an admin: \`${id}\``,
  tooManySteps: (steps: number) => `I stopped after ${steps} steps without a final answer.`,
  runTimeout: (minutes: number) => `I stopped because this took longer than ${minutes} minutes.`,
  overBudget: 'The spending limit is reached, so I cannot answer now.',
  emptyAnswer: '(The model gave an empty answer.)',
  answerCut: '(The answer reached its length limit and was cut.)',
  undeliverable: 'An answer could not be delivered here; it is kept in the log.',
  cost: (cost: string, spent: string) => `This answer cost ${cost}. ${spent}`,
  costNear: (percent: number) => `${percent} % of the daily limit is used.`,
  thinking: 'thinking',
  usingTool: (tool: string) => `using ${tool}`,
  questions: questionWords.en,
};

export type Words = typeof en;
