"use strict";
// The page of a run: RUN is its content, from evaluation/report/page.py.

/**
 * @typedef {{value: number, low: number, high: number}} Interval
 *
 * A row of the ratings, as `c4 run --format json` has it; ms and nodes are those of a move.
 * @typedef {{
 *   agent: string, rank_best: number, rank_worst: number, Elo: number, Elo_low: number,
 *   Elo_high: number, score: number, games: number, LOS: number | null,
 *   nodes: number, ms: number,
 * }} Standing
 *
 * Columns; agents are numbers, the strongest is 0. Moves include the opening.
 * @typedef {{
 *   first: number[], second: number[], opening: string[], moves: string[],
 *   winner: (number | null)[], ending: string[], reason: string[],
 * }} Games
 * @typedef {{
 *   first: number[], second: number[], wins: number[], draws: number[], losses: number[],
 * }} Pairs
 *
 * A row of `c4 quality --format json`; each share and loss has its low and high end beside it.
 * @typedef {Record<string, any> & {player: string}} Quality
 * @typedef {{
 *   agent: string, first_ply: number, last_ply: number, critical: number, blunder_rate: number,
 *   blunder_rate_low: number | null, blunder_rate_high: number | null,
 * }} CurvePoint
 * @typedef {Record<string, any>} Part a row of `c4 report --agent NAME`
 * @typedef {Record<string, any>} Mistake
 *
 * @typedef {{
 *   title: string, version: string, seed: number | null, digest: string, date: string | null,
 *   command: string | null, headline: string[], first: string, first_move: Interval,
 *   method_note: string, notes: string[], labels: string[], standings: Standing[], pairs: Pairs,
 *   games: Games, quality: Quality[] | null,
 *   test: {question: string, lower: number, upper: number, llr: number[]} | null,
 *   curves: {points: CurvePoint[], few: number, top: number} | null,
 *   mistakes: Record<string, {parts: Part[], mistakes: Mistake[]}> | null,
 *   scores: string[] | null,
 * }} Run
 */

/** @type {Run} */
const RUN = JSON.parse($("data").textContent);
const AGENTS = RUN.standings.map((row) => row.agent);
/** Wins, draws and losses, `[first][second]`. */
const CELLS_OF = cellsOf(RUN.pairs, AGENTS.length);
const GAMES = RUN.games.moves.length;
/** What stands for a name in a sentence: a label where whole names do not fit. */
const NAMES = innerWidth < 544 ? RUN.labels : AGENTS;

/**
 * @param {Pairs} pairs
 * @param {number} count of agents
 * @returns {Counts[][]}
 */
function cellsOf(pairs, count) {
  const cells = range(count).map(() => range(count).map(() => /** @type {Counts} */ ([0, 0, 0])));
  pairs.first.forEach((one, n) => {
    cells[one][pairs.second[n]] = [pairs.wins[n], pairs.draws[n], pairs.losses[n]];
  });
  return cells;
}

/**
 * Words in which no name, option or quantity breaks.
 * @param {string} words
 */
function whole(words) {
  const options = words.match(/--\w+ \d+/g) ?? [];
  const joined = words.replace(/(\d) (Elo|%)/g, "$1\u00a0$2");
  return named(joined, [...AGENTS, ...options], [...NAMES, ...options]);
}

/**
 * @param {number} low
 * @param {number} high
 */
const fromTo = (low, high) => `${signed(low)} to ${signed(high)}`;

// Figures are drawn in screen pixels, so that texts keep their size, and again after a resize.

/** @type {(() => void)[]} */
const FIGURES = [];
let knownWidth = innerWidth;

/**
 * @param {string} id of the figure's place
 * @param {(room: number) => Element} draw
 */
function figure(id, draw) {
  const again = () => {
    const room = $(id).clientWidth;
    if (room) $(id).replaceChildren(draw(room));
  };
  FIGURES.push(again);
  again();
}

addEventListener("resize", () => {
  if (innerWidth === knownWidth) return;
  knownWidth = innerWidth;
  for (const again of FIGURES) again();
});

function showHead() {
  document.title = RUN.title;
  $("run").textContent = RUN.title + (RUN.date ? `, ${RUN.date}` : "");
  $("title").replaceChildren(...whole(RUN.headline[0]));
  $("sure").replaceChildren(...whole(RUN.headline.slice(1).join(" ")));
  const openings = plural(new Set(RUN.games.opening).size, "opening");
  const size = `${plural(GAMES, "game")} of ${plural(AGENTS.length, "agent")} over ${openings}`;
  const facts = [size, RUN.seed === null ? "" : `seed ${RUN.seed}`, `digest ${RUN.digest}`];
  if (RUN.version) facts.push(`c4env ${RUN.version}`);
  $("summary").textContent = facts.filter(Boolean).join("; ");
  $("method_note").replaceChildren(...whole(RUN.method_note));
  $("notes").replaceChildren(...whole(RUN.notes.join(" ")));
  $("short-names").hidden = AGENTS.every((name, i) => name === RUN.labels[i]);
  showCommand(RUN.command ?? "");
}

/** @param {string} command */
function showCommand(command) {
  $("command").hidden = !command;
  $("command").open = command.length < 120;
  const words = command.split(" ").map((word) => element("span", { class: "unbroken" }, word));
  $("command")
    .querySelector("code")
    .replaceChildren(...words.flatMap((word) => [word, " "]));
}

showHead();
