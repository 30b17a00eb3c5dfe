import type { Words } from './en.ts';

export const pt: Words = {
  help: (bot, commands) =>
    `Sou ${bot}. Escreva-me e eu respondo.\n\n${commands.map((command) => `- \`/${command.name}\` ${command.description}`).join('\n')}\n\nOnde a barra não chega, \`!help\` também funciona.`,
  commandHelp: 'mostra o que entendo',
  commandNew: 'começa uma conversa vazia',
  commandStop: 'interrompe o que estou a fazer',
  commandStatus: 'mostra o que estou a fazer',
  commandWhoami: 'mostra quem você é para mim',
  commandUsage: 'mostra o que foi usado e quanto custou',
  commandClaim: 'faz de você o primeiro administrador, com o código mostrado no arranque',
  commandPair: 'admite alguém, com código ou identificação (administradores)',
  commandLink: 'liga outra conta sua',
  commandUnlink: 'separa esta conta das suas outras',

  newStarted: 'Esta é uma conversa nova. A antiga fica guardada.',
  nothingToStop: 'Não há nada em curso aqui.',
  stopping: 'A interromper.',
  stopped: '(interrompido)',
  statusIdle: 'Não estou a fazer nada aqui.',
  statusRunning: (seconds) => `Estou a preparar uma resposta, há ${seconds} s.`,
  statusWaiting: (count) => `Mais ${count} à espera.`,
  statusVersion: (agent, version, model) => `Agente **${agent}**, versão ${version}, modelo ${model}.`,
  whoami: (account, name, roles) => `Você é **${name}**, \`${account}\`, ${roles}.`,
  roleAdmin: 'administrador',
  rolePaired: 'admitido por um administrador',
  roleMember: 'membro',
  whoamiLinked: (accounts) => `Ligada a:\n${accounts}`,

  linkCode: (code) =>
    `Envie-me isto da sua outra conta, numa mensagem direta: \`link ${code}\`\n\nO código vale uma vez, durante 15 minutos. Não o dê a ninguém.`,
  linkDirectOnly: 'As contas só se ligam e separam numa mensagem direta.',
  linkAsk: (accounts) =>
    `Esta conta também é sua?\n${accounts}\n\nDepois de ligadas, todas as suas contas veem o que cada uma guarda comigo em conversas diretas e, nas aprovações, contam como uma só pessoa. Nada muda de lugar: \`/unlink\` volta a separar uma conta. O papel de administrador fica com a conta que o tem.\n\nEscreva \`link confirm\` aqui e lá dentro de 15 minutos. Se for outra pessoa, escreva \`link cancel\`.`,
  linkWaits: (account) => `Confirmado aqui. Escreva agora \`link confirm\` também de \`${account}\`.`,
  linkDone: (accounts) => `Esta conta está ligada a:\n${accounts}`,
  linkCancelled: 'Cancelado: nada foi ligado e nenhum código seu vale mais.',
  linkCancelledOther: 'A outra conta cancelou: nada foi ligado.',
  linkNothing: 'Não há nada a confirmar. Escreva `/link` para obter um código.',
  linkWrong:
    'Nenhuma ligação aberta tem esse código. Os códigos valem uma vez, durante 15 minutos; `/link` dá um novo.',
  linkTries: 'Demasiados códigos errados. Tente de novo dentro de uma hora.',
  linkSame: 'É esta conta, ou uma a que já está ligada. Envie o código de outra conta.',
  linkFull: (max) => `Não se podem ligar mais de ${max} contas.`,
  unlinked: (accounts) => `Esta conta está de novo separada. Estava ligada a:\n${accounts}`,
  unlinkNone: 'Esta conta não está ligada a nenhuma outra.',
  unlinkTold: (account) => `Esta conta já não está ligada a si:\n${account}`,

  usageLine: (label, requests, input, cached, output, cost) =>
    `- ${label}: ${requests} pedidos, ${input} tokens de entrada (${cached} da cache), ${output} de saída, ${cost}`,
  usageToday: 'Hoje, este agente',
  usageConversation: 'Hoje, este lugar',
  atLeast: (cost) => `pelo menos ${cost}`,

  claimed: 'Agora você é o administrador deste gateway.',
  claimWrong: 'Esse código não está certo.',
  claimGone: 'Não há código para resgatar. Um é mostrado quando o gateway arranca sem administrador.',
  claimDirectOnly:
    'Um código destes só vale numa mensagem direta. Se outros o viram, reinicie o gateway para obter outro.',
  claimUsage: 'Escreva `claim` e o código mostrado no arranque.',

  pairing: (code) =>
    `Ainda não conheço você. Peça a um administrador que o admita com este código, válido por uma hora: \`${code}\``,
  pairingClaim: 'Se este gateway é seu, envie-me a linha `claim …` que ele mostrou no arranque.',
  pairUsage:
    'Escreva `/pair` e um código, uma conta como `helper-telegram:123456789`, ou `here` para este grupo. Com `admin` a seguir, a pessoa torna-se administradora.',
  pairAdminOnly: 'Só um administrador pode admitir pessoas.',
  pairNoId: (account) =>
    `\`${account}\` não é a identificação de uma conta nem de um grupo. Os nomes mudam de dono; escreva a identificação: \`/whoami\` mostra-a a cada um.`,
  pairUnknownCode: 'Nenhum pedido aberto tem esse código. Os códigos valem uma hora.',
  pairConfirm: (name, account) => `Admitido: **${name}**, \`${account}\`.`,
  pairConfirmAdmin: (name, account) => `Admitido como administrador: **${name}**, \`${account}\`.`,
  pairConfirmChat: (chat) => `Admitido: o grupo \`${chat}\`.`,
  pairPending: (lines) => (lines.length === 0 ? 'Ninguém espera ser admitido.' : lines.join('\n')),
  pairAdmitted: 'Um administrador admitiu você. Escreva-me.',
  pairMadeAdmin: 'Um administrador fez de você administrador deste gateway. Escreva-me.',
  groupNotAdmitted: (chat) =>
    `Ainda não respondo neste grupo. Um administrador deste gateway pode admiti-lo com \`/pair here\`, ou indicando \`${chat}\` em \`where.chats\`.`,
  notAllowed: 'Não estou aberto para você aqui. Pergunte a quem me opera.',
  nobodyAnswers: 'Aqui já ninguém responde; fale com quem cuida de mim.',
  needsLink: 'Só respondo a contas ligadas. Escreva-me `/link` de uma conta que conheço e envie-me o código daqui.',

  rateLimited: 'Isso é mais do que posso aceitar num minuto. Guardei as suas mensagens e respondo-lhes uma a uma.',
  queueFull: (count) => `Tenho ${count} mensagens à espera aqui. Envie essa de novo quando eu estiver em dia.`,
  tooLong: (length, max) => `Essa mensagem tem ${length} caracteres; aceito ${max}. Envie-a em partes.`,
  voiceNotHeard: 'Ainda não consigo ouvir mensagens de voz. Escreva, por favor.',
  filesNotRead: (names) => `Não consegui ler: ${names.join(', ')}.`,
  fileReason: {
    voice: 'ainda não a consigo ouvir',
    type: 'ainda não leio este tipo',
    size: 'é grande demais',
    failed: 'não foi possível obtê-lo',
  },

  runFailed: (id) => `Algo correu mal e não pude responder. Se voltar a acontecer, diga a um administrador: \`${id}\``,
  modelFailed: (id) => `Não consigo chegar ao modelo neste momento. Tente mais tarde. \`${id}\``,
  modelTooLong: (id) =>
    `Isto é mais do que o modelo consegue ler de uma vez. Escreva \`/new\` para recomeçar, ou envie menos. \`${id}\``,
  modelDeclined: (id) => `O modelo não responde a este pedido tal como está. \`${id}\``,
  modelRefuses: (id) =>
    `O modelo recusa-me: a chave ou as definições estão erradas. Diga a um administrador: \`${id}\``,
  tooManySteps: (steps) => `Parei após ${steps} passos sem uma resposta final.`,
  runTimeout: (minutes) => `Parei porque isto demorou mais de ${minutes} minutos.`,
  overBudget: 'O limite de gastos foi atingido, por isso não posso responder agora.',
  emptyAnswer: '(O modelo deu uma resposta vazia.)',
  answerCut: '(A resposta atingiu o limite de tamanho e foi cortada.)',
  undeliverable: 'Uma resposta não pôde ser entregue aqui; está no registo.',
  cost: (cost, spent) => `Esta resposta custou ${cost}. ${spent}`,
  costNear: (percent) => `${percent} % do limite diário já foram usados.`,
  thinking: 'a pensar',
  usingTool: (tool) => `a usar ${tool}`,
};
