"use strict";
// The win table, the list of games and the replay.

const PAGE = 100; // games that the list shows at a time
const WEB = "http://127.0.0.1:8044/"; // where c4 web answers

let chosen = /** @type {number[]} */ ([]); // the games in the list
let shownRows = 0;
let game = 0;
let ply = 0;
const board = makeBoard($("board"));
const replay = makeReplay({ steps: $("steps"), list: $("game-moves"), graph: $("values") }, look);

// -- what is known of a game -------------------------------------------------------------------

/** @param {number} n */
const movesOf = (n) => RUN.games.moves[n];
/** @param {number} n */
const begins = (n) => RUN.games.opening[n].length;
/** @param {number} n */
const playersOf = (n) => [RUN.games.first[n], RUN.games.second[n]];

/** @param {string} letter */
function scoreOf(letter) {
  if (letter === ".") return null;
  return letter.charCodeAt(0) - (letter >= "a" ? 97 : 39) - 22;
}

/**
 * The scores after `at` discs, of the columns or of the finished game; [] if they are not known.
 * @param {number} n
 * @param {number} at
 */
function scoresOf(n, at) {
  if (!RUN.scores || at < begins(n)) return [];
  const start = COLUMNS * (at - begins(n));
  return [...RUN.scores[n].slice(start, start + COLUMNS)].map(scoreOf);
}

/**
 * The scores of the seven columns after `at` discs, or null.
 * @param {number} n
 * @param {number} at
 * @returns {Scores | null}
 */
function scoresAt(n, at) {
  const scores = scoresOf(n, at);
  return scores.length < COLUMNS ? null : scores;
}

/**
 * The values of a game's positions for Red, undefined in the opening; null without scores.
 * @param {number} n
 */
function valuesOf(n) {
  if (!RUN.scores) return null;
  return range(movesOf(n).length + 1).map((at) =>
    at < begins(n) ? undefined : forRed(greatest(scoresOf(n, at)), at),
  );
}

// -- the win table -----------------------------------------------------------------------------

function showCross() {
  const run = {
    players: AGENTS,
    elo: RUN.standings.map((row) => row.Elo),
    totals: RUN.results.map(({ total }) => total),
    cells: cellsOf(RUN.pairs, AGENTS.length),
  };
  const wanted = () => $("filter").value.trim().toLowerCase();
  const cross = winTable($("cross"), run, showPair, (name) =>
    name.toLowerCase().includes(wanted()),
  );
  $("filter").addEventListener("input", cross);
  FIGURES.push(cross);
  $("pairs").append(...RUN.pairs_in_words.map((words) => element("li", {}, ...whole(words))));
  $("pairs").hidden = !RUN.pairs_in_words.length;
}

/**
 * @param {Pairs} pairs
 * @param {number} count of agents
 */
function cellsOf({ first, second, wins, draws, losses, score }, count) {
  const cells = range(count).map(() => range(count).map(() => /** @type {Cell | null} */ (null)));
  first.forEach((one, n) => {
    cells[one][second[n]] = {
      wins: wins[n],
      draws: draws[n],
      losses: losses[n],
      score: score[n],
    };
  });
  return cells;
}

// -- the list ----------------------------------------------------------------------------------

function showFilters() {
  for (const id of ["one", "two"]) {
    const options = AGENTS.map((name, i) => element("option", { value: i }, name));
    $(id).append(element("option", { value: "" }, "any"), ...options);
    $(id).addEventListener("change", list);
  }
  $("result").addEventListener("change", list);
  $("more").addEventListener("click", () => {
    const next = shownRows;
    more();
    $("list").tBodies[0].rows[next].querySelector("button").focus();
  });
}

/**
 * @param {number} i
 * @param {number} j
 */
function showPair(i, j) {
  $("one").value = i;
  $("two").value = j;
  $("result").value = "";
  list();
  if (chosen.length) openGame(chosen[0]);
  $("h-games").scrollIntoView({ block: "start" });
}

/**
 * Whether a game has a result that the page offers.
 * @param {number} n
 * @param {string} wanted
 */
function hasResult(n, wanted) {
  const { winner, ending } = RUN.games;
  if (wanted === "") return true;
  if (wanted === "forfeit") return forfeited(ending[n]);
  return wanted === "draw" ? ending[n] === "full board" : winner[n] === Number(wanted);
}

function list() {
  const [one, two, wanted] = ["one", "two", "result"].map((id) => $(id).value);
  chosen = range(GAMES).filter(
    (n) =>
      (one === "" || RUN.games.first[n] === Number(one)) &&
      (two === "" || RUN.games.second[n] === Number(two)) &&
      hasResult(n, wanted),
  );
  $("count").textContent = plural(chosen.length, "game");
  $("list").tBodies[0].replaceChildren();
  shownRows = 0;
  more();
}

/** @param {number} n */
function gameRow(n) {
  /** @param {number} i */
  const name = (i) => element("td", { class: "left cut", title: AGENTS[i] }, AGENTS[i]);
  const open = () => {
    openGame(n);
    bringIntoSight($("replay"));
  };
  const button = element("button", { "aria-label": `replay game ${n + 1}` }, String(n + 1));
  const result = resultOf(RUN.games.winner[n], RUN.games.ending[n]);
  return element(
    "tr",
    { "data-game": n, on: { click: open } },
    element("td", {}, button),
    element("td", { class: "left" }, result),
    ...playersOf(n).map(name),
    element("td", { class: "wide" }, RUN.games.opening[n] || "–"),
    element("td", { class: "wide" }, String(movesOf(n).length)),
  );
}

function more() {
  const rows = chosen.slice(shownRows, shownRows + PAGE).map(gameRow);
  $("list").tBodies[0].append(...rows);
  shownRows += rows.length;
  $("more").hidden = shownRows >= chosen.length;
  mark();
}

function mark() {
  for (const row of $("list").tBodies[0].rows)
    row.setAttribute("aria-current", String(Number(row.dataset.game) === game));
}

// -- the replay --------------------------------------------------------------------------------

/**
 * @param {number} n
 * @param {number} at
 */
function openGame(n, at = begins(n)) {
  game = n;
  mark();
  look(at);
}

/** @param {number} at */
function look(at) {
  ply = at;
  history.replaceState(null, "", `#game=${game + 1}&ply=${ply}`);
  draw();
}

function draw() {
  const moves = movesOf(game);
  const scores = scoresAt(game, ply);
  const seats = playersOf(game);
  board.show({
    moves: moves.slice(0, ply),
    scores,
    next: ply < moves.length ? DIGITS.indexOf(moves[ply]) : null,
  });
  const values = valuesOf(game);
  replay.show({ moves, view: ply, opening: begins(game), values, scores });
  /** @param {number} seat */
  const name = (seat) => {
    const title = AGENTS[seats[seat]];
    return element("span", { class: "cut", title }, disc(seat), " ", title);
  };
  const result = resultOf(RUN.games.winner[game], RUN.games.ending[game]);
  $("who").replaceChildren(`Game ${game + 1}, ${result}: `, name(0), " against ", name(1));
  $("play").href = addressOfPlay();
  $("said").replaceChildren(...whole(gameInWords()));
}

/** The address in c4 web at which a person goes on from here. */
function addressOfPlay() {
  const players = playersOf(game).map((i) => encodeURIComponent(AGENTS[i]));
  players[ply % 2] = "human";
  const moves = movesOf(game).slice(0, ply);
  return `${WEB}#moves=${moves}&red=${players[0]}&yellow=${players[1]}`;
}

/** What stands below the board. */
function gameInWords() {
  const { winner, ending, reason } = RUN.games;
  const moves = movesOf(game);
  const [first, second] = playersOf(game).map((i) => AGENTS[i]);
  const mover = ply % 2 ? second : first;
  if (ply < moves.length && scoresAt(game, ply))
    return `Exact scores for ${mover}, to move; it played ${moves[ply]}.`;
  if (ply === moves.length) {
    if (forfeited(ending[game])) return `Forfeit: ${reason[game] || ending[game]}`;
    if (ending[game] === "cut") return "The record ends here, without a result.";
    return winner[game] === null ? "A draw." : `${winner[game] ? second : first} wins.`;
  }
  return ply < begins(game) ? "In the opening." : "";
}

// Arrows step wherever the focus is, except where they have work already.
addEventListener("keydown", (event) => {
  const focus = /** @type {HTMLElement} */ (document.activeElement);
  const all = $("replay").contains(focus) || event.key.startsWith("Arrow");
  if (event.ctrlKey || event.metaKey || event.altKey || !all) return;
  if (focus.matches("input, select, .scroll:not(.tall)")) return;
  if (replay.key(event)) event.preventDefault();
});

/** Show the game and ply of an address such as #game=156&ply=9; whether the game exists. */
function openAddress() {
  const fields = new URLSearchParams(location.hash.slice(1));
  const n = Number(fields.get("game")) - 1;
  if (movesOf(n) === undefined) return false;
  const at = fields.has("ply") ? Math.trunc(Number(fields.get("ply"))) || 0 : begins(n);
  [game, ply] = [n, Math.max(0, Math.min(at, movesOf(n).length))];
  mark();
  draw();
  bringIntoSight($("replay"));
  return true;
}

function showGames() {
  showCross();
  showFilters();
  list();
  addEventListener("hashchange", openAddress);
  if (!GAMES || openAddress()) return;
  // The first move that the strongest agent should fix, if any.
  const [worst] = RUN.mistakes?.[AGENTS[0]]?.mistakes ?? [];
  [game, ply] = worst ? [worst.game - 1, worst.moves.length] : [0, begins(0)];
  mark();
  draw();
}

showGames();
