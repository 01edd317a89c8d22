"use strict";
// The page of a run: RUN is its content, from evaluation/report/page.py.

/**
 * @typedef {{value: number, low: number, high: number}} Interval
 *
 * A row of the ratings, as `c4 run --format json` has it; ms and nodes are those of a move.
 * @typedef {{
 *   agent: string, rank_best?: number, rank_worst?: number, Elo: number, Elo_low: number,
 *   Elo_high: number, score: number, games: number, LOS?: number | null,
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
 *   score: number[],
 * }} Pairs
 * @typedef {{wins: number, draws: number, losses: number, score: number}} Cell a pairing
 * @typedef {{score: number | null, counts: string}} Results as share, and as wins/draws/losses
 *
 * A row of `c4 quality --format json`; each share and loss has its low and high end beside it.
 * @typedef {Record<string, any> & {player: string}} Quality
 * @typedef {{
 *   agent: string, first_ply: number, last_ply: number, critical: number, accuracy: number,
 *   accuracy_low: number | null, accuracy_high: number | null,
 * }} CurvePoint
 * @typedef {Record<string, any>} Part a row of `c4 report --agent NAME`
 * @typedef {Record<string, any>} Mistake
 * @typedef {{
 *   kind: string, games: number, ply: number | null, earliest: number | null,
 *   game: number | null,
 * }} FirstLoss games by the kind of their first losing move
 * @typedef {{
 *   parts: Part[], first_losses: FirstLoss[], mistakes: Mistake[], words: string[],
 * }} Causes of an agent's losses
 *
 * @typedef {{
 *   title: string, summary: string, date: string | null, command: string | null,
 *   headline: string[], first: string, first_move: Interval, method_note: string, notes: string[],
 *   standings: Standing[], results: {first: Results, second: Results, total: Results}[],
 *   pairs: Pairs, pairs_in_words: string[], games: Games, quality: Quality[] | null,
 *   test: {question: string, lower: number, upper: number, llr: number[]} | null,
 *   curves: {points: CurvePoint[], few: number, bottom: number} | null,
 *   mistakes: Record<string, Causes> | null,
 *   scores: string[] | null,
 * }} Run
 */

/** @type {Run} */
const RUN = JSON.parse($("data").textContent);
const AGENTS = RUN.standings.map((row) => row.agent);
const GAMES = RUN.games.moves.length;

/**
 * Words in which no name, option or quantity breaks.
 * @param {string} words
 */
function whole(words) {
  const options = words.match(/--\w+ \d+/g) ?? [];
  const joined = words.replace(/(\d) (Elo|%)/g, "$1\u00a0$2");
  return named(joined, [...AGENTS, ...options]);
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
  $("summary").textContent = RUN.summary;
  $("method_note").replaceChildren(...whole(RUN.method_note));
  $("notes").replaceChildren(...whole(RUN.notes.join(" ")));
  showCommand(RUN.command ?? "");
}

/** @param {string} command */
function showCommand(command) {
  $("command").hidden = !command;
  $("command").open = command.length < 120;
  $("command").querySelector("code").textContent = command;
}

showHead();
