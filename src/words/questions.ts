/** What stands on cards and is said about decisions, in each language. */
import type { ApprovalState } from '../types/approval.ts';

interface QuestionWords {
  needsApproval: string;
  needApproval(count: number): string;
  asks: string;
  asksSeveral(count: number): string;
  ofCapability(tool: string, capability: string): string;
  knownAs(name: string): string;
  agentSays(words: string): string;
  askedBy(name: string): string;
  who: {
    requester(name: string): string;
    admins: string;
    members: string;
    list(accounts: string): string;
    dual: string;
  };
  until(when: string): string;
  signed(names: string): string;
  alsoSentTo(names: string): string;
  unreached: string;
  cut(characters: number): string;
  howTo(code: string): string;
  howToAnswer(code: string): string;
  approve: string;
  deny: string;
  always: string;
  alwaysExact: string;
  details: string;
  skip: string;
  withdraw: string;
  approveAll: string;
  denyAll: string;
  state: Record<Exclude<ApprovalState, 'pending'>, string>;
  decided(state: string, who: string, when: string): string;
  ended(state: string, when: string): string;
  reason(text: string): string;
  answered(text: string): string;
  /** What became of a question of the agent, in the place of a state. */
  answerState: { answered: string; skipped: string };
  notEntitled(who: string): string;
  already(state: string, who: string): string;
  over(state: string): string;
  unknown: string;
  notHere: string;
  signedFirst: string;
  signedAlready: string;
  noted(state: string): string;
  fullArguments(tool: string, code: string): string;
  ambiguous(lines: string[]): string;
  noSuchCode(code: string): string;
  waits(count: number): string;
  cannotWithdraw: string;
  notGrantable: string;
  /** Who approves a question of the agent. */
  wantsAnswer: string;
  nobodyPending: string;
  whyWithdrawn: Record<'stopped' | 'edited' | 'deleted' | 'changed' | 'asked', string>;
}

const en: QuestionWords = {
  needsApproval: 'Approval needed',
  needApproval: (count) => `${count} calls need approval`,
  asks: 'Question',
  asksSeveral: (count) => `${count} questions`,
  ofCapability: (tool, capability) => `Tool \`${tool}\` of \`${capability}\``,
  knownAs: (name) => `, which the agent knows as \`${name}\``,
  agentSays: (words) => `The agent's own words: “${words}”`,
  askedBy: (name) => `Asked for by ${name}.`,
  who: {
    requester: (name) => `${name} decides.`,
    admins: 'An admin decides.',
    members: 'Any member of this chat decides.',
    list: (accounts) => `One of these decides: ${accounts}.`,
    dual: 'Two people must approve, one of them an admin.',
  },
  until: (when) => `Open until ${when}.`,
  signed: (names) => `Approved so far: ${names}.`,
  alsoSentTo: (names) => `This question and its arguments are also shown to: ${names}.`,
  unreached: 'Nobody who may decide could be shown it: it waits on the approvals page and at the command line.',
  cut: (characters) => `… shortened; ${characters} characters in all, see Details.`,
  howTo: (code) => `Answer \`yes ${code}\` or \`no ${code}\`; a reason may follow: \`no ${code} because …\``,
  howToAnswer: (code) => `Reply to this message, or write \`${code}\` and your answer.`,
  approve: 'Approve',
  deny: 'Deny',
  always: 'Always allow',
  alwaysExact: 'Always allow exactly this',
  details: 'Details',
  skip: 'Skip',
  withdraw: 'Withdraw',
  approveAll: 'Approve all',
  denyAll: 'Deny all',
  state: { approved: 'approved', denied: 'denied', expired: 'expired', withdrawn: 'withdrawn' },
  decided: (state, who, when) => `**${state}** by ${who}, ${when}`,
  ended: (state, when) => `**${state}**, ${when}`,
  reason: (text) => `Reason: ${text}`,
  answered: (text) => `Answer: ${text}`,
  answerState: { answered: 'answered', skipped: 'skipped' },
  notEntitled: (who) => `That is not yours to decide. ${who}`,
  already: (state, who) => `Already ${state} by ${who}.`,
  over: (state) => `This question is over: ${state}.`,
  unknown: 'This question is not known any more.',
  notHere: 'This button belongs to another message and changes nothing.',
  signedFirst: 'Your approval is noted; another person must approve too.',
  signedAlready: 'You have approved already; another person must approve too.',
  noted: (state) => `Noted: ${state}.`,
  fullArguments: (tool, code) => `All arguments of \`${tool}\` (\`${code}\`):`,
  ambiguous: (lines) =>
    `${lines.length === 1 ? 'Answer with the code of the question, such as `approve 4K7`' : 'Several questions are open; answer one with its code'}:\n\n${lines.join('\n')}`,
  noSuchCode: (code) => `No open question here has the code \`${code}\`.`,
  waits: (count) =>
    count === 1 ? 'An earlier request here waits for approval.' : `${count} earlier requests here wait for approval.`,
  cannotWithdraw: 'Only who asked for it, or an admin, can withdraw it.',
  notGrantable: 'This cannot be allowed for always here.',
  wantsAnswer: 'A question of the agent is answered or skipped, not approved.',
  nobodyPending: 'Nothing waits for approval.',
  whyWithdrawn: {
    stopped: 'The run was stopped.',
    edited: 'The message behind it was edited.',
    deleted: 'The message behind it was deleted.',
    changed: 'The tool is another one now.',
    asked: 'It was taken back.',
  },
};

const de: QuestionWords = {
  needsApproval: 'Freigabe nötig',
  needApproval: (count) => `${count} Aufrufe brauchen Freigabe`,
  asks: 'Frage',
  asksSeveral: (count) => `${count} Fragen`,
  ofCapability: (tool, capability) => `Werkzeug \`${tool}\` von \`${capability}\``,
  knownAs: (name) => `, dem Agenten bekannt als \`${name}\``,
  agentSays: (words) => `Worte des Agenten: „${words}“`,
  askedBy: (name) => `Angefragt von ${name}.`,
  who: {
    requester: (name) => `${name} entscheidet.`,
    admins: 'Ein Admin entscheidet.',
    members: 'Jedes Mitglied dieses Chats entscheidet.',
    list: (accounts) => `Eines dieser Konten entscheidet: ${accounts}.`,
    dual: 'Zwei Menschen müssen zustimmen, einer davon Admin.',
  },
  until: (when) => `Offen bis ${when}.`,
  signed: (names) => `Bisher zugestimmt: ${names}.`,
  alsoSentTo: (names) => `Diese Frage und ihre Argumente sehen auch: ${names}.`,
  unreached:
    'Niemand, der entscheiden darf, war zu erreichen: sie wartet auf der Seite der Freigaben und an der Kommandozeile.',
  cut: (characters) => `… gekürzt; insgesamt ${characters} Zeichen, siehe Details.`,
  howTo: (code) => `Antworte \`ja ${code}\` oder \`nein ${code}\`; ein Grund kann folgen: \`nein ${code} weil …\``,
  howToAnswer: (code) => `Antworte auf diese Nachricht, oder schreibe \`${code}\` und deine Antwort.`,
  approve: 'Genehmigen (Approve)',
  deny: 'Ablehnen (Deny)',
  always: 'Immer erlauben (Always allow)',
  alwaysExact: 'Genau dies immer erlauben (Always allow)',
  details: 'Details',
  skip: 'Überspringen (Skip)',
  withdraw: 'Zurückziehen (Withdraw)',
  approveAll: 'Alle genehmigen (Approve all)',
  denyAll: 'Alle ablehnen (Deny all)',
  state: { approved: 'genehmigt', denied: 'abgelehnt', expired: 'abgelaufen', withdrawn: 'zurückgezogen' },
  decided: (state, who, when) => `**${state}** von ${who}, ${when}`,
  ended: (state, when) => `**${state}**, ${when}`,
  reason: (text) => `Grund: ${text}`,
  answered: (text) => `Antwort: ${text}`,
  answerState: { answered: 'beantwortet', skipped: 'übersprungen' },
  notEntitled: (who) => `Das ist nicht deine Entscheidung. ${who}`,
  already: (state, who) => `Bereits ${state} von ${who}.`,
  over: (state) => `Diese Frage ist vorbei: ${state}.`,
  unknown: 'Diese Frage ist nicht mehr bekannt.',
  notHere: 'Dieser Knopf gehört zu einer anderen Nachricht und ändert nichts.',
  signedFirst: 'Deine Zustimmung ist vermerkt; ein zweiter Mensch muss noch zustimmen.',
  signedAlready: 'Du hast schon zugestimmt; ein zweiter Mensch muss noch zustimmen.',
  noted: (state) => `Vermerkt: ${state}.`,
  fullArguments: (tool, code) => `Alle Argumente von \`${tool}\` (\`${code}\`):`,
  ambiguous: (lines) =>
    `${lines.length === 1 ? 'Antworte mit dem Code der Frage, etwa `approve 4K7`' : 'Mehrere Fragen sind offen; antworte auf eine mit ihrem Code'}:\n\n${lines.join('\n')}`,
  noSuchCode: (code) => `Keine offene Frage hier hat den Code \`${code}\`.`,
  waits: (count) =>
    count === 1
      ? 'Eine frühere Anfrage hier wartet auf Freigabe.'
      : `${count} frühere Anfragen hier warten auf Freigabe.`,
  cannotWithdraw: 'Zurückziehen kann sie nur, wer gefragt hat, oder ein Admin.',
  notGrantable: 'Das lässt sich hier nicht für immer erlauben.',
  wantsAnswer: 'Eine Frage des Agenten wird beantwortet oder übersprungen, nicht genehmigt.',
  nobodyPending: 'Nichts wartet auf Freigabe.',
  whyWithdrawn: {
    stopped: 'Der Lauf wurde gestoppt.',
    edited: 'Die Nachricht dahinter wurde geändert.',
    deleted: 'Die Nachricht dahinter wurde gelöscht.',
    changed: 'Das Werkzeug ist jetzt ein anderes.',
    asked: 'Sie wurde zurückgenommen.',
  },
};

const pt: QuestionWords = {
  needsApproval: 'Aprovação necessária',
  needApproval: (count) => `${count} chamadas precisam de aprovação`,
  asks: 'Pergunta',
  asksSeveral: (count) => `${count} perguntas`,
  ofCapability: (tool, capability) => `Ferramenta \`${tool}\` de \`${capability}\``,
  knownAs: (name) => `, que o agente conhece como \`${name}\``,
  agentSays: (words) => `Palavras do agente: “${words}”`,
  askedBy: (name) => `Pedido por ${name}.`,
  who: {
    requester: (name) => `${name} decide.`,
    admins: 'Um administrador decide.',
    members: 'Qualquer membro deste chat decide.',
    list: (accounts) => `Uma destas contas decide: ${accounts}.`,
    dual: 'Duas pessoas têm de aprovar, uma delas administradora.',
  },
  until: (when) => `Aberta até ${when}.`,
  signed: (names) => `Aprovaram até agora: ${names}.`,
  alsoSentTo: (names) => `Esta pergunta e os seus argumentos também são mostrados a: ${names}.`,
  unreached: 'Ninguém que possa decidir foi avisado: espera na página de aprovações e na linha de comando.',
  cut: (characters) => `… encurtado; ${characters} caracteres ao todo, veja Detalhes.`,
  howTo: (code) => `Responda \`sim ${code}\` ou \`não ${code}\`; pode seguir um motivo: \`não ${code} porque …\``,
  howToAnswer: (code) => `Responda a esta mensagem, ou escreva \`${code}\` e a sua resposta.`,
  approve: 'Aprovar (Approve)',
  deny: 'Negar (Deny)',
  always: 'Permitir sempre (Always allow)',
  alwaysExact: 'Permitir sempre exatamente isto (Always allow)',
  details: 'Detalhes (Details)',
  skip: 'Saltar (Skip)',
  withdraw: 'Retirar (Withdraw)',
  approveAll: 'Aprovar tudo (Approve all)',
  denyAll: 'Negar tudo (Deny all)',
  state: { approved: 'aprovado', denied: 'negado', expired: 'expirado', withdrawn: 'retirado' },
  decided: (state, who, when) => `**${state}** por ${who}, ${when}`,
  ended: (state, when) => `**${state}**, ${when}`,
  reason: (text) => `Motivo: ${text}`,
  answered: (text) => `Resposta: ${text}`,
  answerState: { answered: 'respondida', skipped: 'saltada' },
  notEntitled: (who) => `Não cabe a si decidir. ${who}`,
  already: (state, who) => `Já ${state} por ${who}.`,
  over: (state) => `Esta pergunta terminou: ${state}.`,
  unknown: 'Esta pergunta já não é conhecida.',
  notHere: 'Este botão pertence a outra mensagem e não altera nada.',
  signedFirst: 'A sua aprovação foi anotada; outra pessoa também tem de aprovar.',
  signedAlready: 'Já aprovou; outra pessoa também tem de aprovar.',
  noted: (state) => `Anotado: ${state}.`,
  fullArguments: (tool, code) => `Todos os argumentos de \`${tool}\` (\`${code}\`):`,
  ambiguous: (lines) =>
    `${lines.length === 1 ? 'Responda com o código da pergunta, como em `approve 4K7`' : 'Há várias perguntas abertas; responda a uma com o seu código'}:\n\n${lines.join('\n')}`,
  noSuchCode: (code) => `Nenhuma pergunta aberta aqui tem o código \`${code}\`.`,
  waits: (count) =>
    count === 1
      ? 'Um pedido anterior aqui espera por aprovação.'
      : `${count} pedidos anteriores aqui esperam por aprovação.`,
  cannotWithdraw: 'Só quem a pediu, ou um administrador, pode retirá-la.',
  notGrantable: 'Isto não pode ser permitido para sempre aqui.',
  wantsAnswer: 'Uma pergunta do agente responde-se ou salta-se, não se aprova.',
  nobodyPending: 'Nada espera por aprovação.',
  whyWithdrawn: {
    stopped: 'A execução foi parada.',
    edited: 'A mensagem por trás foi editada.',
    deleted: 'A mensagem por trás foi apagada.',
    changed: 'A ferramenta agora é outra.',
    asked: 'Foi retirada.',
  },
};

export const questionWords = { en, de, pt };
export type { QuestionWords };
