"use strict";
// The page of c4 web: play and analyse games.
const HUMAN = "human",
  SEATS = ["red", "yellow"];
const PACES = { Slow: 2500, Normal: 700, Fast: 0 }; // milliseconds a move at least, when two agents play

// -- the game and its storage ---------------------------------------------------------------

const state = {
  mode: "play", // or "set up": discs by hand; or "look": another line of the game
  players: [HUMAN, ""], // "" until the server has said who there is
  opening: "", // what was set up; nobody here played it
  moves: "", // of the whole game
  view: 0, // discs shown
  forfeit: null, // {by, ending, reason}
  held: false, // an agent's turn that waits for "Go on"
  id: "",
  seed: 0,
  recorded: "",
  help: {}, // the positions in which the person was helped, by the kinds that the server knows
  look: null, // of a game looked at: {names, result}
  lines: [], // other ways the game went: {moves, names}
  analysis: localStorage.getItem("analysis") === "true",
  recording: localStorage.getItem("recording") === "true", // only if the person wants it
};
let offer = { levels: [], named: [], agents: [], hint: "", record: null }; // what the server has
let searching = null; // {kind, stop} of the move or hint being searched
let analysing = null; // the same of the scores
let known = { moves: null, scores: [], done: false }; // scores by column
let hinted = null; // {moves, column, text}
let trouble = null; // what went wrong, in words
const worth = new Map(); // by moves: the exact score of the position, for Red
const thoughts = new Map(); // by moves: what the agent to move saw there, {agent, column, value, nodes, depth, line}

const shown = () => state.moves.slice(0, state.view);
const live = () => state.view === state.moves.length && state.mode !== "look";
const watching = () => state.mode === "play" && !state.players.includes(HUMAN);
const over = () => boardOf(state.moves).over || Boolean(state.forfeit);
const reviewing = () =>
  state.mode === "play" && over() && state.players.includes(HUMAN) && state.moves !== state.opening;
const levelOf = (player) => offer.levels.find(({ spec }) => spec === player);
const title = (player) => (player === HUMAN ? "You" : (levelOf(player)?.name ?? player));
const namesNow = () => (state.mode === "look" ? state.look.names : state.players);

function begin(opening = "", mode = "play") {
  thoughts.clear();
  Object.assign(state, {
    mode,
    opening,
    moves: opening,
    view: opening.length,
    forfeit: null,
    look: null,
    recorded: "",
    help: {},
    lines: [],
    held: state.players.every((player) => player !== HUMAN) && mode === "play",
    id: crypto.getRandomValues(new Uint32Array(4)).join("-"),
    seed: crypto.getRandomValues(new Uint32Array(1))[0],
  });
}

function keepInAddress() {
  const plain = (text) =>
    encodeURIComponent(text).replace(
      /%(3A|3D|2C|20)/g,
      (code) => ({ "%3A": ":", "%3D": "=", "%2C": ",", "%20": " " })[code],
    );
  const parts = [
    `moves=${shown()}`,
    ...namesNow().map((player, seat) => `${SEATS[seat]}=${plain(player)}`),
  ];
  history.replaceState(null, "", "#" + parts.join("&"));
  // People may share the address, so the identity of this tab's game stays in the tab.
  if (state.mode === "play")
    sessionStorage.setItem(
      "game",
      JSON.stringify({ ...state, analysis: undefined, recording: undefined }),
    );
}

// Open the position in the address: this tab's own game after a reload, else a new one. Agents must be
// offered by the server; others are reported.
function readAddress(again) {
  const hash = location.hash.slice(1),
    bad = [];
  const fields = new URLSearchParams(/^[^=&]+$/.test(hash) ? `moves=${hash}` : hash); // #4455 is a position, too
  for (const key of fields.keys())
    if (!["moves", ...SEATS].includes(key))
      bad.push(`It says '${key}': expected moves, red or yellow`);
  let moves = fields.get("moves") ?? "";
  try {
    boardOf(moves);
  } catch (error) {
    bad.push(`'${moves.slice(0, CELLS)}' is no position: ${error.message}`);
    moves = "";
  }
  SEATS.forEach((key, seat) => {
    const player = fields.get(key),
      wrong = player && specTrouble(player);
    if (wrong) bad.push(`${COLOURS[seat]}: ${wrong}`);
    else if (player) state.players[seat] = player;
  });
  state.players = state.players.map((player) =>
    player && !specTrouble(player) ? player : usual(),
  );
  const kept = JSON.parse(sessionStorage.getItem("game") ?? "null");
  if (
    again &&
    kept?.moves.slice(0, kept.view) === moves &&
    String(kept.players) === String(state.players)
  )
    Object.assign(state, kept);
  else begin(moves);
  notice(bad);
}

function notice(sentences) {
  $("notice").hidden = !sentences.length;
  $("notice").firstChild.textContent = sentences.length
    ? `The address cannot be followed. ${sentences.join(". ")}.`
    : "";
}

// -- asking the server ----------------------------------------------------------------------

class Gone extends Error {}

async function call(path, body, signal) {
  let response;
  try {
    response = await fetch(
      path,
      body === undefined
        ? { signal }
        : {
            method: "POST",
            signal,
            headers: { "content-type": "application/json" },
            body: JSON.stringify(body),
          },
    );
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

// The messages of an answer; each must name the position in question.
async function* ask(question, signal) {
  const response = await call("/api/ask", question, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "",
    last = null;
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

function inTrouble(error) {
  trouble =
    error instanceof Gone
      ? `${error.message} The game is kept in the address; start c4 web again.`
      : error.message;
  render();
}

// Ask a question; each message goes to `hear`. Only one search runs at a time.
async function search(question, hear) {
  stopSearching();
  const control = new AbortController();
  const mine = (searching = {
    kind: question.kind,
    stop: () => control.abort(),
    ahead: 0,
    seconds: 0,
  });
  render();
  try {
    for await (const message of ask(question, control.signal)) {
      if (searching !== mine) return;
      if (message.type === "waiting") mine.ahead = message.ahead;
      else if (message.type === "started") mine.ahead = 0;
      else if (message.type === "beat") mine.seconds = message.seconds;
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

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

function askMove() {
  const seat = state.moves.length % 2,
    moves = state.moves,
    asked = performance.now();
  const least = watching() ? PACES[$("pace").value] : 450; // a disc's fall can be seen to its end
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

// Find the scores of the columns on the board, then the value of each position of the game, the last first.
async function analyse() {
  const moves = shown(),
    game = state.moves,
    goal = `${moves} of ${game}`;
  if (analysing?.goal === goal) return;
  stopAnalysing();
  if (live() && !boardOf(moves).over) helped("exact scores"); // also of who switches them off again before the next disc
  const control = new AbortController();
  const mine = (analysing = { goal, stop: () => control.abort() });
  if (known.moves !== moves || !known.done)
    known = { moves, scores: [], done: boardOf(moves).over };
  try {
    await pause(120); // whoever steps through a game asks only where they stay
    if (analysing === mine && !known.done) {
      for await (const message of ask({ kind: "scores", moves }, control.signal)) {
        if (analysing !== mine) return;
        if (message.type === "score") known.scores[message.column - 1] = message.score;
        if (message.type === "scores") Object.assign(known, { scores: message.scores, done: true });
        if (message.type !== "beat") render();
      }
      worth.set(moves, forRed(greatest(known.scores), moves.length));
      render();
    }
    const since = [...game, ""].findIndex((_, discs) => valueAt(game.slice(0, discs)) === null);
    if (analysing === mine && since >= 0) {
      for await (const message of ask({ kind: "values", moves: game, since }, control.signal)) {
        if (analysing !== mine) return;
        if (message.type !== "value") continue;
        worth.set(game.slice(0, message.discs), forRed(message.score, message.discs));
        renderGame();
      }
    }
    if (analysing === mine) analysing = null;
  } catch (error) {
    if (analysing !== mine) return;
    analysing = null;
    inTrouble(error);
  }
}

// The exact score of a position for Red; null if unknown.
const valueAt = (moves) => valueOfEnd(moves) ?? worth.get(moves) ?? null;

// -- playing --------------------------------------------------------------------------------

// Act on the state: let an agent move, record a game, find scores.
function next() {
  trouble = null;
  stopSearching();
  if (hinted && hinted.moves !== shown()) hinted = null;
  keepInAddress();
  render();
  if (state.mode === "play" && over()) record();
  else if (
    state.mode === "play" &&
    live() &&
    !state.held &&
    state.players[state.moves.length % 2] !== HUMAN
  )
    askMove();
  if (state.analysis || reviewing()) analyse();
  else stopAnalysing();
}

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

// Play a person's column on the person's turn; otherwise say why not. At an earlier position, the game's own
// next column steps on, and another column begins a variation.
function choose(column) {
  const moves = shown(),
    board = boardOf(moves),
    seat = moves.length % 2;
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

// Go on from an earlier position; the rest of the game stays as a variation. In a person's own game this is a take-back.
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
  document.querySelector("#moves [aria-current]").focus(); // the line's button is gone
}

// The length of the game before the latest turn of a person, or of anyone if no person plays.
function beforeTurn() {
  const free = state.mode === "set up" || !state.players.includes(HUMAN);
  for (
    let ply = state.moves.length - 1;
    ply >= (state.mode === "set up" ? 0 : state.opening.length);
    ply--
  )
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
  const moves = shown(),
    exact = offer.hint === "perfect";
  if (boardOf(moves).over) return;
  search({ kind: "hint", moves, seed: state.seed }, (message) => {
    searching = null;
    if (live()) helped("hint");
    const why = exact
      ? verdict(message.value, moves)
      : `value ${rounded(message.value)} at depth ${message.depth}`;
    hinted = {
      moves,
      column: message.column - 1,
      text: `Hint: column ${DIGITS[message.column - 1]}. ${why}${exact ? "" : "."} Line: ${lineOf(message.line)}`,
    };
    say(hinted.text);
    render();
  });
}

const lineOf = (columns) => [...columns.slice(0, 12)].join(" ") + (columns.length > 12 ? " …" : "");
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

// Record a finished game of a person, if the person agrees.
async function record() {
  const { id, players, opening, moves, forfeit } = state;
  const help = Object.fromEntries(
    Object.entries(state.help).map(([kind, positions]) => [kind, positions.length]),
  );
  if (
    !state.recording ||
    offer.record === null ||
    state.recorded ||
    moves.length === opening.length ||
    !players.includes(HUMAN)
  )
    return;
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

function helped(kind) {
  if (state.mode === "play") state.help[kind] = [...new Set(state.help[kind]).add(state.moves)];
}

function newGame(opening = "", mode = "play") {
  begin(opening, mode);
  next();
}

function look(ply) {
  state.view = Math.max(0, Math.min(state.moves.length, ply));
  stopSearching();
  next();
}

// -- showing --------------------------------------------------------------------------------

function say(text) {
  $("live").textContent = "";
  setTimeout(() => {
    $("live").textContent = text;
  }, 30);
}

const board = makeBoard($("board"), choose);
const replay = makeReplay({ steps: $("steps"), list: $("game-moves"), graph: $("values") }, look);

function headline() {
  const moves = shown(),
    board = boardOf(moves),
    seat = moves.length % 2;
  const alone = state.players[0] !== state.players[1]; // two people are told apart by their colours
  const names =
    state.mode === "look"
      ? state.look.names
      : state.mode === "play"
        ? state.players.map((player) => (player === HUMAN && !alone ? "" : title(player)))
        : ["", ""];
  const name = (side) => (names[side] ? `${names[side]} (${COLOURS[side]})` : COLOURS[side]);
  const does = (side, you, other) => `${name(side)} ${names[side] === "You" ? you : other}`;
  if (state.forfeit && live())
    return `${does(state.forfeit.by, "forfeit", "forfeits")}: ${state.forfeit.reason}`;
  if (board.winner !== null) return does(board.winner, "win", "wins");
  if (board.over) return "A draw";
  if (state.mode === "set up") return `${COLOURS[seat]} to move: set up by hand`;
  if (!live() && state.mode === "play")
    return `Looking back at disc ${state.view} of ${state.moves.length}`;
  if (state.mode === "play" && state.players[seat] === HUMAN)
    return alone ? `Your turn (${COLOURS[seat]})` : `${COLOURS[seat]}'s turn`;
  if (searching?.kind === "move") return `${name(seat)} is thinking`;
  return `${name(seat)} to move`;
}

function renderStatus() {
  const moves = shown(),
    board = boardOf(moves),
    seat = board.winner ?? moves.length % 2;
  const over = board.over || (state.forfeit && live());
  $("status").classList.toggle("thinking", Boolean(searching));
  $("turn").dataset.disc = board.over && board.winner === null ? "" : seat;
  $("headline").replaceChildren(...named(headline(), namesNow()));
  let detail = "";
  if (searching) {
    const what = searching.kind === "hint" ? "Looking for a hint" : "Searching";
    detail = searching.ahead
      ? `Waiting for a free process, ${searching.ahead} ahead`
      : searching.seconds
        ? `${what}, ${searching.seconds.toFixed(1)} s`
        : "";
  } else if (hinted?.moves === moves) detail = hinted.text;
  else if (state.look) detail = state.look.result;
  else if (over && state.recorded === "recorded") detail = `Recorded in ${offer.record}`;
  $("detail").textContent = detail;
  const held =
    state.mode === "play" && live() && !over && state.held && state.players[seat] !== HUMAN;
  const goOn = state.moves.length > state.opening.length || !watching() ? "Go on" : "Start";
  $("stop").hidden = watching() || (!searching && !held);
  $("stop").textContent = searching ? "Stop" : goOn;
  $("watch").hidden = !watching();
  $("pause").textContent = searching?.kind === "move" ? "Pause" : goOn;
  $("pause").disabled = over || !live();
  const elsewhere = state.mode !== "play" || !live();
  $("again").hidden = !(elsewhere && !board.over) && !(over && state.mode === "play" && live());
  $("again").textContent = elsewhere ? "Play from here" : "New game";
}

// The meaning of an exact score for the side to move, in words.
function verdict(score, moves) {
  const best = bestPlay(score, moves.length);
  if (!best) return "With best play on both sides: a draw.";
  const you =
    state.mode === "play" &&
    state.players[best.winner] === HUMAN &&
    state.players[1 - best.winner] !== HUMAN;
  return `With best play on both sides: ${you ? `you (${COLOURS[best.winner]}) win` : `${COLOURS[best.winner]} wins`} in ${plural(best.discs, "disc")}.`;
}

function renderBoard() {
  const moves = shown(),
    { over: ended } = boardOf(moves),
    side = moves.length % 2;
  const over = ended || Boolean(state.forfeit && live());
  const scores = state.analysis && known.moves === moves ? known.scores : null;
  board.show({
    moves,
    over,
    scores: state.analysis ? (scores ?? []) : null,
    done: scores !== null && known.done,
    ready: !over && (state.mode !== "play" || state.players[side] === HUMAN),
    hint: hinted?.moves === moves ? hinted.column : null,
    next: state.view < state.moves.length ? DIGITS.indexOf(state.moves[state.view]) : null,
  });
  $("verdict").hidden = !(scores && known.done && !ended);
  if (!$("verdict").hidden)
    $("verdict").textContent =
      `${verdict(greatest(scores), moves)} Scores are ${COLOURS[side]}'s: positive wins, the greater the sooner.`;
}

function renderGame() {
  const { moves, view, opening, lines } = state;
  const values =
    state.analysis || reviewing()
      ? range(moves.length + 1).map((discs) => valueAt(moves.slice(0, discs)))
      : null;
  replay.show({
    moves,
    view,
    opening: opening.length,
    values,
    scores: known.done && known.moves === shown() ? known.scores : null,
  });
  renderMistakes(values);
  $("no-moves").hidden = Boolean(moves);
  $("lines").hidden = !lines.length;
  $("lines")
    .querySelector("ul")
    .replaceChildren(
      ...lines.map((line) =>
        element(
          "li",
          {},
          element(
            "button",
            { class: "do", type: "button", on: { click: () => openLine(line) } },
            `${line.names.join(" – ")} `,
            element("code", {}, line.moves),
          ),
        ),
      ),
    );
}

// After a person's game: each blunder of a person, as a button that plays on from the position before it.
function renderMistakes(values) {
  const known = reviewing() && !values.slice(state.opening.length).includes(null);
  const mine = known ? replay.blunders().filter((ply) => state.players[ply % 2] === HUMAN) : [];
  $("mistakes").hidden = !reviewing();
  tell(
    $("mistakes").firstElementChild,
    !known
      ? "Judging your moves …"
      : mine.length
        ? `${plural(mine.length, "mistake")}: try again.`
        : "No mistake: you gave away neither a win nor a draw.",
  );
  $("mistakes").lastElementChild.replaceChildren(
    ...mine.map((ply) =>
      element(
        "li",
        {},
        element(
          "button",
          {
            class: "do",
            type: "button",
            on: {
              click: () => {
                branch(state.moves.slice(0, ply));
                next();
                toBoard();
              },
            },
          },
          `Disc ${ply + 1}: ${replay.told(ply)}`,
        ),
      ),
    ),
  );
}

// The agents' last search results before the position on the board.
function renderThoughts() {
  const moves = shown(),
    rows = [];
  for (const seat of [0, 1]) {
    const last = moves.length - 1 - ((moves.length - 1 - seat) & 1),
      seen = last >= 0 && thoughts.get(moves.slice(0, last));
    if (!seen) continue;
    const parts = [`column ${seen.column}`];
    if (seen.value !== undefined) parts.push(`value ${rounded(seen.value)}`, `depth ${seen.depth}`);
    if (seen.nodes) parts.push(`${plural(seen.nodes, "position")}`);
    if (seen.line) parts.push(`line ${lineOf(seen.line)}`);
    rows.push(
      element(
        "p",
        { class: "thought" },
        element("strong", {}, ...named(`${COLOURS[seat]}, ${seen.agent}: `, [seen.agent])),
        parts.join(", "),
      ),
    );
  }
  $("thoughts").replaceChildren(...rows);
}

function render() {
  renderBoard();
  renderStatus();
  renderGame();
  renderThoughts();
  $("banner").hidden = !trouble;
  $("trouble").textContent = trouble ?? "";
  $("takeback").disabled =
    beforeTurn() === null || state.mode === "look" || Boolean(state.recorded);
  $("hint").disabled = boardOf(shown()).over || searching?.kind === "move";
  $("scores").setAttribute("aria-checked", String(state.analysis));
  $("recording").setAttribute("aria-checked", String(state.recording));
  document.title = `${headline()} · Connect Four`;
}

// -- choosing players -------------------------------------------------------------------------

const splitSpec = (spec) => {
  const [name, rest = ""] = spec.split(/:(.*)/s);
  return {
    name,
    values: Object.fromEntries(
      rest
        .split(",")
        .filter(Boolean)
        .map((part) => part.split(/=(.*)/s)),
    ),
  };
};
const agentOf = (spec) =>
  offer.agents.find((agent) => agent.spec === spec) ??
  offer.agents.find((agent) => agent.spec === splitSpec(spec).name);
const usual = () => offer.levels[1].spec; // the opponent until another is chosen

// The reason why the server would refuse this agent, in words; null if it would not.
function specTrouble(player) {
  const agent = player === HUMAN ? { options: [] } : agentOf(player);
  if (!agent) return `no agent here is called '${player}'`;
  for (const [key, value] of agent.spec === player || player === HUMAN
    ? []
    : Object.entries(splitSpec(player).values)) {
    const option = agent.options.find(({ name }) => name === key);
    if (!option) return `'${player}': ${agent.spec} has no option '${key}' here`;
    const { low = -Infinity, high = Infinity, choices } = option;
    if (
      choices.length
        ? !choices.includes(value)
        : !(value && Number(value) >= low && Number(value) <= high)
    )
      return `'${player}': expected ${key} ${choices.length ? choices.join(", ") : `from ${low} to ${high}`}`;
  }
  return null;
}

function renderPlayers() {
  const looking = state.mode === "look";
  for (const seat of [0, 1]) {
    const player = state.players[seat],
      agent = player === HUMAN ? null : agentOf(player);
    const option = (value, words = value) => element("option", { value }, words);
    const level = $(`seat${seat}`).querySelector("select");
    level.replaceChildren(
      ...(looking
        ? [option("", state.look.names[seat])]
        : [
            option(HUMAN, "You"),
            ...offer.levels.map(({ name, spec }) => option(spec, name)),
            ...offer.named.map((spec) => option(spec)),
          ]),
    );
    if (!looking && ![...level.options].some(({ value }) => value === player))
      level.append(option(player));
    level.value = looking ? "" : player;
    level.disabled = looking;
    const box = $(`options${seat}`),
      choice = box.querySelector("select");
    choice.replaceChildren(
      option(HUMAN, "none: you play"),
      ...offer.agents.map(({ spec }) => option(spec)),
    );
    choice.value = agent?.spec ?? HUMAN;
    const values = agent ? splitSpec(player).values : {};
    const fields = box.querySelector(".options");
    if (fields.dataset.of !== (agent?.spec ?? ""))
      fields.replaceChildren(
        ...(agent?.options ?? []).map((setting) => {
          const field = setting.choices.length
            ? element("select", {}, ...setting.choices.map((value) => option(value)))
            : element("input", {
                type: "number",
                min: setting.low,
                max: setting.high,
                step: setting.kind === "int" ? 1 : "any",
              });
          if (setting.default === null) field.placeholder = "not set";
          field.name = setting.name;
          field.title = setting.help;
          field.dataset.default = setting.default;
          field.addEventListener("change", () => readOptions(seat));
          return element(
            "label",
            {},
            setting.name,
            field,
            element("small", { "aria-hidden": "true" }, setting.help),
          );
        }),
      );
    fields.dataset.of = agent?.spec ?? "";
    for (const field of fields.querySelectorAll("[name]"))
      field.value =
        values[field.name] ?? (field.dataset.default === "null" ? "" : field.dataset.default);
  }
  $("options").hidden = looking;
  const about = looking
    ? ["To play on yourself, drop a disc or press Play from here."]
    : state.players
        .filter((player) => player !== HUMAN)
        .map(
          (player) => `${title(player)}: ${(levelOf(player) ?? agentOf(player))?.summary ?? ""}.`,
        );
  $("about").textContent = [...new Set(about)].join(" ");
}

function readOptions(seat) {
  const box = $(`options${seat}`),
    spec = box.querySelector("select").value;
  const fields = [...box.querySelectorAll(".options [name]")].filter(
    (field) =>
      !field.checkValidity() || (field.value !== "" && field.value !== field.dataset.default),
  );
  const bad = fields.find((field) => !field.checkValidity());
  if (bad) {
    bad.reportValidity();
    return;
  }
  setPlayer(
    seat,
    spec +
      (fields.length ? ":" + fields.map((field) => `${field.name}=${field.value}`).join(",") : ""),
  );
}

// Another player goes on from here, in a new game.
function setPlayer(seat, player) {
  state.players[seat] = player;
  if (state.mode === "play") begin(state.moves);
  renderPlayers();
  next();
}

for (const seat of [0, 1])
  for (const box of ["seat", "options"])
    $(box + seat)
      .querySelector("select")
      .addEventListener("change", (event) => setPlayer(seat, event.target.value));

// -- what people do ---------------------------------------------------------------------------

function wrong(text) {
  $("wrong").hidden = !text;
  $("wrong").textContent = text;
}

$("paste").addEventListener("submit", async (event) => {
  event.preventDefault();
  wrong("");
  try {
    const text = $("text").value;
    if (/^[\d\s]*$/.test(text)) boardOf(text.replace(/\s/g, "")); // its errors count columns from 1
    const { moves } = await (await call("/api/position", { text })).json();
    newGame(moves);
    say(`Position set up. ${headline()}.`);
  } catch (error) {
    wrong(error.message);
  }
});
$("hand").addEventListener("click", () => {
  newGame(shown(), "set up");
});
$("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    say("Link copied.");
    $("copy").textContent = "Copied";
  } catch {
    $("copy").textContent = "Copy the address above";
  }
  setTimeout(() => {
    $("copy").textContent = "Copy link";
  }, 1500);
});
// Go to the board from a button that vanishes.
function toBoard() {
  board.columns[3].focus({ preventScroll: true });
  bringIntoSight($("game"));
}

// A new game starts at once, also between two agents.
function startAnew() {
  begin();
  state.held = false;
  renderPlayers();
  next();
}
$("new").addEventListener("click", startAnew);
$("again").addEventListener("click", () => {
  if (state.mode === "play" && live()) startAnew();
  else {
    branch(shown());
    next();
  }
  toBoard();
});
$("dismiss").addEventListener("click", () => notice([]));
$("pace").replaceChildren(
  ...Object.keys(PACES).map((name) => element("option", { value: name }, name)),
);
$("pace").value = "Normal";
$("swap").addEventListener("click", () => {
  state.players.reverse();
  begin();
  renderPlayers();
  next();
});
$("takeback").addEventListener("click", () => {
  takeBack();
  if ($("takeback").disabled) toBoard();
});
$("hint").addEventListener("click", askHint);
const pauseOrGoOn = () => {
  if (searching) stop();
  else {
    state.held = false;
    next();
  }
};
for (const id of ["stop", "pause"]) $(id).addEventListener("click", pauseOrGoOn);
$("retry").addEventListener("click", settle);
$("scores").addEventListener("click", () => {
  state.analysis = !state.analysis;
  localStorage.setItem("analysis", state.analysis);
  next();
});
$("recording").addEventListener("click", () => {
  state.recording = !state.recording;
  localStorage.setItem("recording", state.recording);
  next();
});
addEventListener("hashchange", () => {
  readAddress(false);
  renderPlayers();
  next();
});

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") return stop();
  const focus = document.activeElement,
    list = focus.tagName === "SELECT";
  if (focus.tagName === "TEXTAREA" || focus.tagName === "INPUT") return;
  const column = DIGITS.split("").indexOf(event.key);
  if (list && column < 0) return; // its own keys choose in it
  const at = board.columns.indexOf(focus),
    step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step && at >= 0) board.columns[(at + step + COLUMNS) % COLUMNS].focus();
  else if (replay.key(event));
  else if (column >= 0) choose(column);
  else if (event.key === "u") takeBack();
  else if (event.key === "h" && !$("hint").disabled) askHint();
  else if (event.key === "a") $("scores").click();
  else if (event.key === "p" && watching()) $("pause").click();
  else return;
  event.preventDefault();
});

// Ask the server what it offers, then go on; also after a lost connection.
let begun = false;
async function settle() {
  try {
    offer = await (await call("/api/settings")).json();
    if (!begun) readAddress(true);
    begun = true;
    $("consent").hidden = offer.record === null;
    $("record").textContent =
      offer.record === null
        ? "Games are not recorded."
        : `Only if you want it, games that you finish are kept in ${offer.record}: agent, colours, moves, result, and what you were helped with.`;
    renderPlayers();
    next();
  } catch (error) {
    inTrouble(error);
  }
}

render();
settle();
