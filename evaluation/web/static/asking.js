"use strict";
// Asking the server: messages of an answer, searches and exact scores.

class Gone extends Error {}

/**
 * @param {string} path
 * @param {any} [body]
 * @param {AbortSignal} [signal]
 */
async function call(path, body, signal) {
  const headers = { "content-type": "application/json" };
  const post = { method: "POST", signal, headers, body: JSON.stringify(body) };
  let response;
  try {
    response = await fetch(path, body === undefined ? { signal } : post);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Gone("The server does not answer.");
  }
  if (!response.ok) {
    const answer = await response.json().catch(() => ({}));
    throw new Error(answer.error ?? `The server answered ${response.status}.`);
  }
  return response;
}

/**
 * The messages of an answer; each must name the position in question.
 * @param {Question} question
 * @param {AbortSignal} signal
 */
async function* ask(question, signal) {
  const response = await call("/api/ask", question, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let last = null;
  for (;;) {
    let part;
    try {
      part = await reader.read();
    } catch (error) {
      if (signal.aborted) throw error;
      throw new Gone("The server broke off its answer.");
    }
    if (part.done) break;
    const lines = (text + part.value).split("\n");
    text = lines.pop();
    for (const line of lines) {
      last = JSON.parse(line);
      if (last.moves !== question.moves) throw new Error("an answer to another question");
      if (last.type === "error") throw new Error(last.error);
      yield last;
    }
  }
  if (!["move", "forfeit", "hint", "scores", "values"].includes(last?.type))
    throw new Gone("The server broke off its answer.");
}

function stopSearching() {
  searching?.stop();
  searching = null;
}
function stopAnalysing() {
  analysing?.stop();
  analysing = null;
}

/** @param {any} error */
function inTrouble(error) {
  trouble =
    error instanceof Gone
      ? `${error.message} The game is kept in the address; start c4 web again.`
      : error.message;
  render();
}

/**
 * Ask a question; each message goes to `hear`. Only one search runs at a time.
 * @param {Question} question
 * @param {(message: any, wanted: () => boolean) => any} hear
 */
async function search(question, hear) {
  stopSearching();
  const control = new AbortController();
  /** @type {Request_} */
  const mine = { kind: question.kind, stop: () => control.abort(), ahead: 0, seconds: 0 };
  searching = mine;
  render();
  try {
    for await (const message of ask(question, control.signal)) {
      if (searching !== mine) return;
      if (message.type === "waiting") mine.ahead = message.ahead;
      else if (message.type === "beat")
        [mine.ahead, mine.seconds] = [message.ahead, message.seconds];
      else await hear(message, () => searching === mine);
      if (searching === mine) renderStatus();
    }
    if (searching === mine) searching = null;
  } catch (error) {
    if (searching !== mine) return;
    searching = null;
    state.held = question.kind === "move" && !(error instanceof Gone);
    inTrouble(error);
  }
}

/** @param {number} milliseconds */
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

function askMove() {
  const { moves } = state;
  const seat = moves.length % 2;
  const asked = performance.now();
  const pace = /** @type {keyof typeof PACES} */ ($("pace").value);
  const least = watching() ? PACES[pace] : 450; // a disc's fall can be seen to its end
  search(
    { kind: "move", agent: state.players[seat], moves, seed: state.seed },
    async (message, wanted) => {
      await pause(Math.max(0, least - (performance.now() - asked)));
      if (!wanted() || state.moves !== moves) return;
      searching = null;
      if (message.type === "move") {
        thoughts.set(moves, { ...message, agent: title(state.players[seat]) });
        return drop(message.column - 1);
      }
      state.forfeit = { by: seat, ending: message.ending, reason: message.reason };
      next();
    },
  );
}

/** Find the scores of the columns on the board, then the values of the game. */
async function analyse() {
  const [moves, game] = [shown(), state.moves];
  const goal = `${moves} of ${game}`;
  if (analysing?.goal === goal) return;
  stopAnalysing();
  // Also of who switches them off again before the next disc.
  if (live() && !boardOf(moves).over) helped("exact scores");
  const control = new AbortController();
  /** @type {Request_} */
  const mine = { goal, stop: () => control.abort() };
  analysing = mine;
  if (known.moves !== moves || !known.done)
    known = { moves, scores: [], done: boardOf(moves).over };
  try {
    await pause(120); // whoever steps through a game asks only where they stay
    if (analysing === mine && !known.done) await findScores(mine, moves, control.signal);
    if (analysing === mine) await findValues(mine, game, control.signal);
    if (analysing === mine) analysing = null;
  } catch (error) {
    if (analysing !== mine) return;
    analysing = null;
    inTrouble(error);
  }
}

/**
 * Show the scores of the columns.
 * @param {Request_} mine
 * @param {string} moves
 * @param {AbortSignal} signal
 */
async function findScores(mine, moves, signal) {
  for await (const message of ask({ kind: "scores", moves }, signal)) {
    if (analysing !== mine) return;
    if (message.type === "scores") Object.assign(known, { scores: message.scores, done: true });
  }
  worth.set(moves, forRed(greatest(known.scores), moves.length));
  render();
}

/**
 * Show the values of a game's positions.
 * @param {Request_} mine
 * @param {string} game
 * @param {AbortSignal} signal
 */
async function findValues(mine, game, signal) {
  const since = [...game, ""].findIndex((_, discs) => valueAt(game.slice(0, discs)) === null);
  if (since < 0) return;
  for await (const message of ask({ kind: "values", moves: game, since }, signal)) {
    if (analysing !== mine) return;
    for (const [discs, score] of message.values ?? [])
      worth.set(game.slice(0, discs), forRed(score, discs));
  }
  renderGame();
}

/**
 * The exact score of a position for Red; null if unknown.
 * @param {string} moves
 */
const valueAt = (moves) => worth.get(moves) ?? null;
