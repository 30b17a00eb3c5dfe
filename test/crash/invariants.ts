/** What must hold of every trial. Each check names the trials it does not hold for, so that one can be run alone. */
import { answerOf, reasonOfNo } from './talk.ts';
import { askedAbout, type Trial } from './trial.ts';

/** Every message has its answer. */
export function unanswered(trials: readonly Trial[]): string[] {
  return failing(trials, (trial) => {
    const missing = answersOf(trial).filter((answer) => !trial.texts.includes(answer));
    return missing.length > 0 && `no "${missing[0]}" among ${JSON.stringify(trial.texts)}`;
  });
}

/** Nothing but the answers and a card where people were asked, and no more besides than the kills explain. */
export function superfluous(trials: readonly Trial[]): string[] {
  return failing(trials, (trial) => {
    const wanted = answersOf(trial).length + wordsBefore(trial) + (trial.approvals.length > 0 ? 1 : 0);
    const extra = trial.texts.length + trial.cards.length - wanted;
    const windows = trial.deaths.filter((death) => death.sending > 0).length;
    const most = windows * trial.talk.extraPerKillMax;
    return extra > most && `${extra} messages besides the answers, at most ${most} are explained: ${quoted(trial)}`;
  });
}

/** All answers to an earlier message stand before those to a later one. */
export function outOfOrder(trials: readonly Trial[]): string[] {
  return failing(trials, (trial) => {
    const places = answersOf(trial).map((answer) => ({
      first: trial.texts.indexOf(answer),
      last: trial.texts.lastIndexOf(answer),
    }));
    return places.some((place, index) => index > 0 && place.first < places[index - 1]!.last) && quoted(trial);
  });
}

/** A message began one run, however often it was delivered. */
export function ranTwice(trials: readonly Trial[]): string[] {
  return failing(trials, (trial) => {
    if (trial.runs !== trial.ids.length) return `${trial.runs} runs`;
    const said = (request: Trial['requests'][number]) =>
      request.messages.filter((message) => message.role === 'user').map((message) => message.text);
    const repeated = trial.requests.find((request) =>
      trial.ids.some((id) => said(request).filter((text) => text.includes(`[${id}]`)).length > 1),
    );
    return repeated !== undefined && `the model read it twice: ${JSON.stringify(said(repeated))}`;
  });
}

/** What is delivered again, or edited afterwards, is neither answered nor shown. */
export function answeredAgain(trials: readonly Trial[]): string[] {
  return failing(
    trials,
    ({ again }) =>
      (again.requests > 0 || again.changes !== 0) && `${again.requests} requests, ${again.changes} changes`,
  );
}

/** The effect happened once; or it may not have happened, and the model was told so. */
export function effectsAmiss(trials: readonly Trial[]): string[] {
  return failing(trials, (trial) => {
    const results = trial.requests.flatMap((request) => request.messages.flatMap((message) => message.results));
    const told = results.some((result) => result.text.startsWith('Outcome unknown'));
    const uncertain = trial.deaths.some((death) => death.started > 0);
    const counts = Object.values(trial.written);
    if (counts.some((count) => count > 1)) return `written ${counts} times`;
    if (told !== uncertain) return told ? 'told unknown without cause' : 'not told that the outcome is unknown';
    return !uncertain && counts.some((count) => count !== 1) && `written ${counts} times`;
  });
}

/** The model server refused no transcript, and every call in one is followed by exactly one result. */
export function invalidTranscripts(trials: readonly Trial[]): string[] {
  return failing(trials, (trial) => {
    for (const request of trial.requests) {
      if (request.refusal !== null) return request.refusal;
      const calls = request.messages.flatMap((message) => message.calls.map((call) => call.id));
      const results = request.messages.flatMap((message) => message.results.map((result) => result.id));
      if (calls.sort().join() !== results.sort().join()) return `calls ${calls}, results ${results}`;
    }
    return false;
  });
}

function answersOf(trial: Trial): string[] {
  const asked = [...new Set(trial.requests.map((request) => askedAbout(request).join(' ')))];
  const covered = asked.flatMap((ids) => ids.split(' '));
  // A message the model never read has no answer either.
  const unread = trial.ids.filter((id) => !covered.includes(id));
  return [...asked, ...unread].map((ids) => answerOf(ids.split(' ')));
}

/** What was said with the calls stands above the card. */
const wordsBefore = ({ approvals }: Trial) => (approvals.length > 0 ? 1 : 0);

/** Decided as people did, each once, and what was denied was not done. */
export function undecided(trials: readonly Trial[]): string[] {
  return failing(trials, ({ approvals, deniedWritten }) => {
    const wanted = [
      { state: 'approved', reason: null, decisions: 1 },
      { state: 'denied', reason: reasonOfNo, decisions: 1 },
    ];
    if (deniedWritten > 0) return 'what was denied was done';
    return JSON.stringify(approvals) !== JSON.stringify(wanted) && JSON.stringify(approvals);
  });
}

/** Every card says what became of it, but copies that a kill explains and that nobody can find. */
export function staleCards(trials: readonly Trial[]): string[] {
  return failing(trials, (trial) => {
    const isDone = ({ text, open }: Trial['cards'][number]) =>
      !open && /approved\W* by/.test(text) && /denied\W* by/.test(text);
    const done = trial.cards.filter(isDone).length;
    const windows = trial.deaths.filter((death) => death.sending > 0).length * trial.talk.extraPerKillMax;
    if (done === 0) return `no card shows the end: ${JSON.stringify(trial.cards)}`;
    return trial.cards.length - done > windows && JSON.stringify(trial.cards);
  });
}

const quoted = (trial: Trial) => JSON.stringify(trial.texts);

function failing(trials: readonly Trial[], judge: (trial: Trial) => string | false): string[] {
  return trials.flatMap((trial) => {
    const reason = judge(trial);
    return reason === false ? [] : [`GATEHOUSE_KILL='${trial.name}': ${reason}`];
  });
}
