import type { Words } from './en.ts';
import { questionWords } from './questions.ts';

export const de: Words = {
  help: (bot, commands) =>
    `Ich bin ${bot}. Schreib mir, und ich antworte.\n\n${commands.map((command) => `- \`/${command.name}\` ${command.description}`).join('\n')}\n\nWo kein Schrägstrich ankommt, geht auch \`!help\`.`,
  commandHelp: 'zeigt, was ich verstehe',
  commandNew: 'beginnt eine leere Unterhaltung',
  commandStop: 'bricht ab, was ich gerade tue',
  commandStatus: 'zeigt, was ich gerade tue',
  commandWhoami: 'zeigt, wer du für mich bist',
  commandUsage: 'zeigt Verbrauch und Kosten',
  commandApprove: 'genehmigt, was auf dich wartet: approve 4K7',
  commandDeny: 'lehnt es ab, gern mit Grund: deny 4K7 weil …',
  commandTools: 'zeigt, was ich hier darf und was vorher fragt',
  commandPolicy: 'zeigt und setzt, was ohne Frage laufen darf',
  commandMode: 'zeigt und setzt, was in dieser Unterhaltung fragt (ask, default, waive)',
  commandClaim: 'macht dich zum ersten Admin, mit dem Code vom Start',
  commandPair: 'lässt jemanden zu, mit Code oder Kennung (Admins)',
  commandLink: 'verknüpft ein weiteres Konto von dir',
  commandUnlink: 'trennt dieses Konto von deinen anderen',

  newStarted: 'Das ist eine neue Unterhaltung. Die alte bleibt erhalten.',
  nothingToStop: 'Hier läuft gerade nichts.',
  stopping: 'Ich breche ab.',
  takenBack: 'Was auf eine Entscheidung wartete, ist zurückgezogen.',
  stopped: '(abgebrochen)',
  statusIdle: 'Ich habe hier nichts zu tun.',
  statusRunning: (seconds) => `Ich arbeite an einer Antwort, seit ${seconds} s.`,
  statusWaiting: (count) => `${count} weitere warten.`,
  statusVersion: (agent, version, model) => `Agent **${agent}**, Version ${version}, Modell ${model}.`,
  whoami: (account, name, roles) => `Du bist **${name}**, \`${account}\`, ${roles}.`,
  roleAdmin: 'Admin',
  rolePaired: 'von einem Admin zugelassen',
  roleMember: 'Mitglied',
  whoamiLinked: (accounts) => `Verknüpft mit:\n${accounts}`,

  linkCode: (code) =>
    `Schick mir das von deinem anderen Konto, als Direktnachricht: \`link ${code}\`\n\nDer Code gilt einmal, 15 Minuten lang. Gib ihn niemandem.`,
  linkDirectOnly: 'Konten werden nur in einer Direktnachricht verknüpft und getrennt.',
  linkAsk: (accounts) =>
    `Bist das auch du?\n${accounts}\n\nSind sie verknüpft, sehen alle deine Konten, was jedes von ihnen in Direktchats bei mir aufbewahrt, und bei Freigaben zählen sie als eine Person. Nichts wird verschoben: \`/unlink\` trennt ein Konto wieder. Eine Admin-Rolle bleibt bei dem Konto, das sie hat.\n\nSchreib binnen 15 Minuten hier und dort \`link confirm\`. Ist das jemand anderes, schreib \`link cancel\`.`,
  linkWaits: (account) => `Hier bestätigt. Schreib jetzt auch von \`${account}\` \`link confirm\`.`,
  linkDone: (accounts) => `Dieses Konto ist verknüpft mit:\n${accounts}`,
  linkCancelled: 'Abgebrochen: Nichts wurde verknüpft, und kein Code von dir gilt mehr.',
  linkCancelledOther: 'Das andere Konto hat abgebrochen: Nichts wurde verknüpft.',
  linkNothing: 'Es gibt nichts zu bestätigen. Schreib `/link` für einen Code.',
  linkWrong:
    'Keine offene Verknüpfung hat diesen Code. Codes gelten einmal, 15 Minuten lang; `/link` gibt einen neuen.',
  linkTries: 'Zu viele falsche Codes. Versuch es in einer Stunde wieder.',
  linkSame: 'Das ist dieses Konto oder eines, mit dem es schon verknüpft ist. Schick den Code von einem anderen Konto.',
  linkFull: (max) => `Mehr als ${max} Konten lassen sich nicht verknüpfen.`,
  unlinked: (accounts) => `Dieses Konto steht wieder für sich. Es war verknüpft mit:\n${accounts}`,
  unlinkNone: 'Dieses Konto ist mit keinem anderen verknüpft.',
  unlinkTold: (account) => `Dieses Konto ist nicht mehr mit dir verknüpft:\n${account}`,

  usageLine: (label, requests, input, cached, output, cost) =>
    `- ${label}: ${requests} Anfragen, ${input} Tokens hinein (${cached} aus dem Cache), ${output} heraus, ${cost}`,
  usageToday: 'Heute, dieser Agent',
  usageConversation: 'Heute, dieser Ort',
  atLeast: (cost) => `mindestens ${cost}`,

  claimed: 'Du bist jetzt der Admin dieses Gateways.',
  claimWrong: 'Dieser Code stimmt nicht.',
  claimGone: 'Es gibt keinen Code einzulösen. Einer wird gezeigt, wenn das Gateway ohne Admin startet.',
  claimDirectOnly:
    'Ein solcher Code gilt nur in einer Direktnachricht. Haben andere ihn gesehen, starte das Gateway neu.',
  claimUsage: 'Schreib `claim` und den Code, der beim Start gezeigt wurde.',

  pairing: (code) =>
    `Ich kenne dich noch nicht. Bitte einen Admin, dich mit diesem Code zuzulassen, er gilt eine Stunde: \`${code}\``,
  pairingClaim: 'Ist dieses Gateway deins, schick mir die Zeile `claim …`, die es beim Start gezeigt hat.',
  pairUsage:
    'Schreib `/pair` und einen Code, eine Kennung wie `helper-telegram:123456789`, oder `here` für diese Gruppe. Mit `admin` dahinter wird die Person Admin.',
  pairAdminOnly: 'Nur ein Admin kann jemanden zulassen.',
  pairNoId: (account) =>
    `\`${account}\` ist keine Kennung eines Kontos oder einer Gruppe. Namen wechseln den Besitzer; schreib die Kennung: \`/whoami\` nennt sie jedem.`,
  pairUnknownCode: 'Keine offene Anfrage hat diesen Code. Codes gelten eine Stunde.',
  pairConfirm: (name, account) => `Zugelassen: **${name}**, \`${account}\`.`,
  pairConfirmAdmin: (name, account) => `Als Admin zugelassen: **${name}**, \`${account}\`.`,
  pairConfirmChat: (chat) => `Zugelassen: die Gruppe \`${chat}\`.`,
  pairPending: (lines) => (lines.length === 0 ? 'Niemand wartet auf Zulassung.' : lines.join('\n')),
  pairAdmitted: 'Ein Admin hat dich zugelassen. Schreib mir.',
  pairMadeAdmin: 'Ein Admin hat dich zum Admin dieses Gateways gemacht. Schreib mir.',
  groupNotAdmitted: (chat) =>
    `In dieser Gruppe antworte ich noch nicht. Ein Admin dieses Gateways lässt sie mit \`/pair here\` zu oder nennt \`${chat}\` unter \`where.chats\`.`,
  notAllowed: 'Für dich bin ich hier nicht offen. Frag die Leute, die mich betreiben.',
  nobodyAnswers: 'Hier antwortet niemand mehr; frag die Leute, die mich betreiben.',
  needsLink:
    'Ich antworte nur verknüpften Konten. Schreib mir `/link` von einem Konto, das ich kenne, und schick mir den Code von hier.',

  toolsHere: (bot, lines) => `Was **${bot}** hier für dich darf:\n\n${lines.join('\n')}`,
  toolsNone: 'Ich habe hier keine Werkzeuge.',
  toolVerdict: {
    allow: 'läuft sofort',
    ask: 'fragt vorher',
    askTwo: 'fragt vorher zwei Personen',
    block: 'ist gesperrt',
  },
  effectReason: {
    safe: 'es gilt als ungefährlich',
    mutating: 'es ändert etwas',
    dangerous: 'es ist gefährlich',
  },
  ruleReason: {
    declared: 'es erklärt das selbst so',
    foreign: 'es kommt von außen, und keine Regel nennt es',
    two_people: 'es erklärt das selbst so',
    admin: 'ein Admin will es so',
    agent_never: 'dieser Agent ist so eingerichtet',
    agent_required: 'dieser Agent ist so eingerichtet',
    permission_mode: 'so etwas darf dieser Agent nicht (permission_mode)',
    binding_required: 'dieser Ort ist so eingerichtet',
    ask_all: 'in dieser Unterhaltung fragt alles',
    own: 'du willst es so',
    always_allow: 'du erlaubst es immer',
    waived: 'diese Unterhaltung kommt ohne Fragen aus',
    unreadable: 'die Regeln waren nicht lesbar',
    not_offered: 'es ist nicht da',
  },
  modeIs: {
    ask: 'In dieser Unterhaltung fragt jedes Werkzeug vorher.',
    default: 'Diese Unterhaltung fragt, wie es die Regeln der Werkzeuge sagen; `/tools` zeigt sie.',
    waive: 'Diese Unterhaltung kommt ohne Fragen aus, außer wo ein Admin oder zwei Personen gefragt werden müssen.',
  },
  modeUsage: 'Schreib `/mode ask`, `/mode default` oder `/mode waive`.',
  modeDirectOnly: 'Ohne Fragen geht es nur in einer Direktnachricht.',
  modeNotAllowed:
    'Hier lässt sich auf Fragen nicht verzichten: ein Admin muss es für diesen Ort erst erlauben (`approvals.waive`).',
  policyUsage:
    'Ändern: `/policy WERKZEUG allow`, `ask`, `block` oder `default`, oder `/policy forget NUMMER`. `/tools` nennt die Werkzeuge.',
  policyUsageAdmin: 'Für alle, als Admin: `/policy admin WERKZEUG allow`, `ask`, `block` oder `default`.',
  policyAdminOnly: 'Das kann nur ein Admin für alle setzen.',
  policyOfAdmins: 'Was Admins sagen',
  policyOfYou: 'Was du sagst',
  policyGrants: 'Was du immer erlaubst',
  policyNone: 'Niemand hat eine Regel gesetzt; `/tools` zeigt, was ohne Regel gilt.',
  policyVerdict: { allow: 'erlaubt', ask: 'fragt vorher', block: 'gesperrt', default: 'keine Regel' },
  policyExact: 'mit genau denselben Argumenten',
  policyLapsed: 'gilt nicht mehr: das Werkzeug hat sich geändert',
  policySet: (tool, verdict) => `Für dich vermerkt. \`${tool}\`: ${verdict}.`,
  policySetForAll: (tool, verdict) => `Für alle vermerkt. \`${tool}\`: ${verdict}.`,
  policyDirectOnly: 'Deine eigene Erlaubnis gilt nur in Direktnachrichten.',
  policyHere: 'Hier gilt damit:',
  policyUnknown: (word, near) =>
    `Es gibt kein Werkzeug \`${word}\`.${near === null ? ' `/tools` nennt die Werkzeuge.' : ` Meintest du \`${near}\`?`}`,
  policySeveral: (tools) => `Es gibt mehrere dieses Namens; schreib eines von ${tools.join(', ')}.`,
  policyForgotten: (tool) => `Vergessen: \`${tool}\` ist nicht mehr immer erlaubt.`,
  policyNoNumber: 'Diese Nummer gibt es nicht; `/policy` zeigt die Liste.',

  rateLimited:
    'Das ist mehr, als ich in einer Minute annehmen darf. Ich habe deine Nachrichten behalten und beantworte sie nacheinander.',
  queueFull: (count) =>
    `Hier warten schon ${count} Nachrichten. Bitte schick diese noch einmal, wenn ich aufgeholt habe.`,
  tooLong: (length, max) => `Diese Nachricht hat ${length} Zeichen; ich nehme ${max}. Bitte schick sie in Teilen.`,
  voiceNotHeard: 'Sprachnachrichten kann ich noch nicht anhören. Bitte schreib es auf.',
  filesNotRead: (names) => `Nicht gelesen: ${names.join(', ')}.`,
  fileReason: {
    voice: 'ich kann sie noch nicht anhören',
    type: 'diese Art kann ich noch nicht lesen',
    size: 'sie ist zu groß',
    failed: 'sie war nicht zu holen',
  },

  runFailed: (id) =>
    `Etwas ist schiefgegangen, und ich konnte nicht antworten. Kommt das wieder, sag es einem Admin: \`${id}\``,
  modelFailed: (id) => `Das Modell ist gerade nicht zu erreichen. Bitte versuch es später noch einmal. \`${id}\``,
  modelTooLong: (id) =>
    `Das ist mehr, als das Modell auf einmal lesen kann. Schreib \`/new\` für einen neuen Anfang, oder schick weniger. \`${id}\``,
  modelDeclined: (id) => `Das Modell beantwortet diese Anfrage so nicht. \`${id}\``,
  modelRefuses: (id) =>
    `Das Modell weist mich ab: Schlüssel oder Einstellungen stimmen nicht. Sag es einem Admin: \`${id}\``,
  tooManySteps: (steps) => `Nach ${steps} Schritten ohne Antwort habe ich aufgehört.`,
  runTimeout: (minutes) => `Das dauerte länger als ${minutes} Minuten, darum habe ich aufgehört.`,
  overBudget: 'Die Ausgabengrenze ist erreicht, darum kann ich jetzt nicht antworten.',
  emptyAnswer: '(Das Modell gab eine leere Antwort.)',
  answerCut: '(Die Antwort erreichte ihre Längengrenze und ist abgeschnitten.)',
  undeliverable: 'Eine Antwort ließ sich hier nicht zustellen; sie steht im Protokoll.',
  cost: (cost, spent) => `Diese Antwort kostete ${cost}. ${spent}`,
  costNear: (percent) => `${percent} % der Tagesgrenze sind verbraucht.`,
  thinking: 'denkt nach',
  usingTool: (tool) => `benutzt ${tool}`,
  questions: questionWords.de,
};
