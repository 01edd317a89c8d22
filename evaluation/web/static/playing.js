"use strict";
// Playing: the moves of people and agents, variations, hints and records.

/** Act on the state: let an agent move, record a game, find scores. */
function next() {
  trouble = null;
  stopSearching();
  if (hinted && hinted.moves !== shown()) hinted = null;
  keepInAddress();
  render();
  const mover = state.players[state.moves.length % 2];
  if (state.mode === "play" && over()) record();
  else if (state.mode === "play" && live() && !state.held && mover !== HUMAN) askMove();
  if (state.analysis || reviewing()) analyse();
  else stopAnalysing();
}

/** @param {number} column */
function drop(column) {
  const seat = state.moves.length % 2;
  state.moves += DIGITS[column];
  state.view = state.moves.length;
  const who =
    state.mode === "set up" ? COLOURS[seat] : `${COLOURS[seat]}, ${title(state.players[seat])}`;
  const board = boardOf(state.moves);
  say(`${who}: column ${DIGITS[column]}. ${board.over ? headline() : ""}`);
  next();
}

/**
 * Play a person's column on the person's turn; otherwise say why not. At an earlier position, the
 * game's own next column steps on, and another column begins a variation.
 * @param {number} column
 */
function choose(column) {
  if (!begun) return say(headline());
  const moves = shown();
  const board = boardOf(moves);
  const seat = moves.length % 2;
  if (board.over || (state.forfeit && live())) return say("The game is over.");
  if (!live() && state.moves[state.view] === DIGITS[column]) return look(state.view + 1);
  if (board.grid[column].length === ROWS) return say(`Column ${DIGITS[column]} is full.`);
  if (state.mode === "look" && state.players[seat] !== HUMAN) {
    if (state.players.includes(HUMAN)) state.players.reverse();
    else state.players[seat] = HUMAN;
  }
  if (state.mode !== "set up" && state.players[seat] !== HUMAN)
    return say(`It is the turn of ${title(state.players[seat])}, not yours.`);
  if (!live()) branch(moves, state.mode === "set up" ? "set up" : "play");
  drop(column);
}

/**
 * Go on from an earlier position; the rest of the game stays as a variation. In a person's own game
 * this is a take-back.
 * @param {string} moves
 * @param {string} mode
 */
function branch(moves, mode = "play") {
  const before = { moves: state.moves, names: namesNow().map(title) };
  const lines = [...state.lines.filter((line) => line.moves !== before.moves), before];
  const help = mode === state.mode && mode === "play" ? state.help : null;
  begin(moves, mode);
  if (help) {
    state.help = help;
    helped("take-back");
  }
  state.lines = lines.filter(
    (line) => line.moves.length > moves.length || !moves.startsWith(line.moves),
  );
  renderPlayers();
}

/** @param {Line} line */
function openLine(line) {
  const lines = [
    ...state.lines.filter((other) => other !== line),
    { moves: state.moves, names: namesNow().map(title) },
  ];
  begin("", "look");
  let same = 0;
  while (same < line.moves.length && line.moves[same] === lines.at(-1).moves[same]) same++;
  Object.assign(state, {
    moves: line.moves,
    view: Math.min(same + 1, line.moves.length),
    lines,
    look: { names: line.names, result: "Another line of the game" },
  });
  renderPlayers();
  next();
  $("moves").querySelector("[aria-current]").focus(); // the line's button is gone
}

/** The length of the game before the latest turn of a person, or of anyone if no person plays. */
function beforeTurn() {
  const free = state.mode === "set up" || !state.players.includes(HUMAN);
  const least = state.mode === "set up" ? 0 : state.opening.length;
  for (let ply = state.moves.length - 1; ply >= least; ply--)
    if (free || state.players[ply % 2] === HUMAN) return ply;
  return null;
}

function takeBack() {
  const ply = beforeTurn();
  if (ply === null || state.mode === "look" || state.recorded)
    return say("There is nothing to take back.");
  helped("take-back");
  state.moves = state.moves.slice(0, ply);
  state.view = ply;
  state.forfeit = null;
  state.held = watching();
  say(`Taken back. ${COLOURS[ply % 2]} to move.`);
  next();
}

function askHint() {
  const moves = shown();
  if (boardOf(moves).over) return;
  search({ kind: "hint", moves, seed: state.seed }, (message) => {
    searching = null;
    if (live()) helped("hint");
    hinted = { moves, column: message.column - 1, text: hintInWords(message, moves) };
    say(hinted.text);
    render();
  });
}

/**
 * @param {any} message
 * @param {string} moves
 */
function hintInWords({ column, value, depth, line }, moves) {
  const exact = offer.hint === "perfect";
  const why = exact ? verdict(value, moves) : `value ${rounded(value)} at depth ${depth}.`;
  return `Hint: column ${DIGITS[column - 1]}. ${why} Line: ${lineOf(line)}`;
}

/** @param {string} columns */
function lineOf(columns) {
  const first = [...columns.slice(0, 12)].join(" ");
  return columns.length > 12 ? `${first} …` : first;
}
/** @param {number | null} value */
const rounded = (value) =>
  value === null ? "none" : Number(value.toPrecision(4)).toLocaleString("en");

function stop() {
  if (!searching) return;
  const kind = searching.kind;
  stopSearching();
  if (kind === "move") state.held = true;
  say("Stopped.");
  render();
}

/** Record a finished game of a person, if the person agrees. */
async function record() {
  const { id, players, opening, moves, forfeit } = state;
  const counts = Object.entries(state.help).map(([kind, positions]) => [kind, positions.length]);
  const help = Object.fromEntries(counts);
  if (!state.recording || offer.record === null || state.recorded) return;
  if (moves.length === opening.length || !players.includes(HUMAN)) return;
  state.recorded = "sent";
  try {
    await call("/api/games", { id, players, opening, moves, forfeit, help });
    if (state.id !== id) return;
    state.recorded = "recorded";
    keepInAddress();
    render();
  } catch (error) {
    if (state.id !== id) return;
    state.recorded = "";
    inTrouble(new error.constructor(`Not recorded yet. ${error.message}`));
  }
}

/** @param {string} kind */
function helped(kind) {
  if (state.mode === "play") state.help[kind] = [...new Set(state.help[kind]).add(state.moves)];
}

/**
 * @param {string} opening
 * @param {string} mode
 */
function newGame(opening = "", mode = "play") {
  begin(opening, mode);
  next();
}

/** @param {number} ply */
function look(ply) {
  state.view = Math.max(0, Math.min(state.moves.length, ply));
  stopSearching();
  next();
}
