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
 * The scores of the seven columns after `at` discs, or null.
 * @param {number} n
 * @param {number} at
 * @returns {Scores | null}
 */
function scoresAt(n, at) {
  if (!RUN.scores || at < begins(n)) return null;
  const start = COLUMNS * (at - begins(n));
  const code = RUN.scores[n].slice(start, start + COLUMNS);
  return code.length < COLUMNS ? null : [...code].map(scoreOf);
}

/**
 * The values of a game's positions for Red, undefined in the opening; null without scores.
 * @param {number} n
 */
function valuesOf(n) {
  const moves = movesOf(n);
  if (!RUN.scores) return null;
  return range(moves.length + 1).map((at) => {
    const scores = scoresAt(n, at);
    if (at < begins(n)) return undefined;
    return scores ? forRed(greatest(scores), at) : valueOfEnd(moves);
  });
}

/** The game and ply of the strongest agent's costliest blunder, else the first game's beginning. */
function mostTelling() {
  let [place, most] = [[0, begins(0)], 0];
  for (const n of range(GAMES)) {
    const seat = playersOf(n).indexOf(0);
    const values = seat < 0 ? null : valuesOf(n);
    if (!values) continue;
    for (let at = begins(n); at < movesOf(n).length; at++) {
      const cost = Math.abs(values[at] - values[at + 1]);
      const blunder = verdictOf(values[at], values[at + 1]) === "blunder";
      if (at % 2 === seat && cost > most && blunder) [place, most] = [[n, at], cost];
    }
  }
  return place;
}

// -- the win table -----------------------------------------------------------------------------

function showCross() {
  const run = { players: AGENTS, elo: RUN.standings.map((row) => row.Elo), cells: CELLS_OF };
  const wanted = () => $("filter").value.trim().toLowerCase();
  const cross = winTable(
    $("cross"),
    run,
    (i) => RUN.labels[i],
    showPair,
    (name) => name.toLowerCase().includes(wanted()),
  );
  $("filter").addEventListener("input", cross);
  FIGURES.push(cross);
  const few = AGENTS.length <= 4 ? range(AGENTS.length) : []; // else there is no room
  const pairs = few.flatMap((i) => few.slice(i + 1).map((j) => pairInWords(i, j)));
  $("pairs").append(...pairs.filter(Boolean).map((words) => element("li", {}, ...whole(words))));
  $("pairs").hidden = !$("pairs").children.length;
}

/**
 * The results of one agent against another, or "" if they did not meet.
 * @param {number} i
 * @param {number} j
 */
function pairInWords(i, j) {
  const games = range(GAMES).filter((n) => {
    const players = playersOf(n);
    return players.includes(i) && players.includes(j) && i !== j;
  });
  if (!games.length) return "";
  const first = CELLS_OF[i][j];
  const second = turned(CELLS_OF[j][i]);
  const all = added([first, second]);
  const points = `${fixed(games.length * share(all), 1)} of ${plural(games.length, "point")}`;
  const { ahead, behind, met } = leadsOf(games, i);
  return (
    `${AGENTS[i]} scores ${points} (${percent(share(all))}) against ${AGENTS[j]}: ` +
    `${first.join("/")} moving first, ${second.join("/")} moving second (wins/draws/losses). ` +
    `It is ahead over ${ahead} of ${plural(met, "opening")} and behind over ${behind}.` +
    (RUN.scores ? ` Blunders a game: ${blundersOf(games, i).join(" against ")}.` : "")
  );
}

/**
 * The numbers of openings over which an agent is ahead, is behind, and played.
 * @param {number[]} games
 * @param {number} i
 */
function leadsOf(games, i) {
  /** @type {Map<string, number>} */
  const leads = new Map();
  for (const n of games) {
    const { opening, winner, first } = RUN.games;
    const result = winner[n] === null ? 0 : (winner[n] === 0) === (first[n] === i) ? 1 : -1;
    leads.set(opening[n], (leads.get(opening[n]) ?? 0) + result);
  }
  const all = [...leads.values()];
  const ahead = all.filter((lead) => lead > 0).length;
  return { ahead, behind: all.filter((lead) => lead < 0).length, met: all.length };
}

/**
 * Blunders a game of an agent and of its opponent.
 * @param {number[]} games
 * @param {number} i
 */
function blundersOf(games, i) {
  const counts = [0, 0];
  for (const n of games) {
    const values = valuesOf(n);
    for (let at = begins(n); at < movesOf(n).length; at++)
      if (verdictOf(values[at], values[at + 1]) === "blunder")
        counts[Number(playersOf(n)[at % 2] !== i)]++;
  }
  return counts.map((count) => fixed(count / games.length, 1));
}

// -- the list ----------------------------------------------------------------------------------

function showFilters() {
  for (const id of ["one", "two"]) {
    const options = AGENTS.map((name, i) =>
      element("option", { value: i, title: name }, RUN.labels[i]),
    );
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
  return wanted === "draw" ? winner[n] === null : winner[n] === Number(wanted);
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
  const name = (i) => element("td", { class: "left", title: AGENTS[i] }, RUN.labels[i]);
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
    return element("span", { class: "unbroken", title }, disc(seat), " ", NAMES[seats[seat]]);
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
  [game, ply] = mostTelling();
  mark();
  draw();
}

showGames();
