"use strict";
// The page of c4 web: the game, what is known of it, and its storage.

const HUMAN = "human";
const SEATS = ["red", "yellow"];
/** The least time per move in milliseconds when two agents play. */
const PACES = { Slow: 2500, Normal: 700, Fast: 0 };

/**
 * Another way that a game went.
 * @typedef {{moves: string, names: string[]}} Line
 *
 * A question to the server.
 * @typedef {{kind: string, moves: string, agent?: string, seed?: number, since?: number}} Question
 *
 * An option of an agent, and an agent, as the server offers them.
 * @typedef {{
 *   name: string, kind: string, default: string | null, help: string, choices: string[],
 *   low?: number, high?: number,
 * }} Setting
 * @typedef {{spec: string, summary: string, options: Setting[]}} Agent
 *
 * A request that can be stopped; `goal` says what for.
 * @typedef {{
 *   stop: () => void, kind?: string, ahead?: number, seconds?: number, goal?: string,
 * }} Request_
 */

const state = {
  mode: "play", // or "set up": discs by hand; or "look": another line of the game
  players: [HUMAN, ""], // "" until the server has said who is there
  opening: "", // what was set up; nobody here played it
  moves: "", // of the whole game
  view: 0, // discs shown
  forfeit: /** @type {{by: number, ending: string, reason: string} | null} */ (null),
  held: false, // an agent's turn that waits for "Go on"
  id: "",
  seed: 0,
  recorded: "",
  // the positions in which the person was helped, by the kinds that the server knows
  help: /** @type {Record<string, string[]>} */ ({}),
  // of a game looked at
  look: /** @type {{names: string[], result: string} | null} */ (null),
  lines: /** @type {Line[]} */ ([]), // other ways the game went
  analysis: localStorage.getItem("analysis") === "true",
  recording: localStorage.getItem("recording") === "true", // only if the person wants it
};
/** What the server has. */
let offer = {
  levels: /** @type {{name: string, spec: string, summary: string}[]} */ ([]),
  named: /** @type {string[]} */ ([]),
  agents: /** @type {Agent[]} */ ([]),
  hint: "",
  record: /** @type {string | null} */ (null),
};
/** Whether the server has said what it has. */
let begun = false;
/** The move or hint being searched. */
let searching = /** @type {Request_ | null} */ (null);
/** The same of the scores. */
let analysing = /** @type {Request_ | null} */ (null);
/** Scores by column. */
let known = {
  moves: /** @type {string | null} */ (null),
  scores: /** @type {Scores} */ ([]),
  done: false,
};
let hinted = /** @type {{moves: string, column: number, text: string} | null} */ (null);
/** What went wrong, in words. */
let trouble = /** @type {string | null} */ (null);
/** By moves: the exact score of the position, for Red. */
const worth = /** @type {Map<string, number>} */ (new Map());
/** By moves: what the agent to move saw there: agent, column, value, nodes, depth, line. */
const thoughts = /** @type {Map<string, any>} */ (new Map());

const gettingReady = () => !begun && !trouble;
const shown = () => state.moves.slice(0, state.view);
const live = () => state.view === state.moves.length && state.mode !== "look";
const watching = () => state.mode === "play" && !state.players.includes(HUMAN);
const over = () => boardOf(state.moves).over || Boolean(state.forfeit);
const reviewing = () =>
  state.mode === "play" && over() && state.players.includes(HUMAN) && state.moves !== state.opening;
/** @param {string} player */
const levelOf = (player) => offer.levels.find(({ spec }) => spec === player);
/** @param {string} player */
const title = (player) => (player === HUMAN ? "You" : (levelOf(player)?.name ?? player));
const namesNow = () => (state.mode === "look" ? state.look.names : state.players);

/**
 * @param {string} opening
 * @param {string} mode
 */
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

/**
 * A text for an address, in which the signs of specs stay readable.
 * @param {string} text
 */
const plain = (text) =>
  encodeURIComponent(text).replace(/%(3A|3D|2C|20)/g, (code) => decodeURIComponent(code));

function keepInAddress() {
  const players = namesNow().map((player, seat) => `${SEATS[seat]}=${plain(player)}`);
  history.replaceState(null, "", "#" + [`moves=${shown()}`, ...players].join("&"));
  // People may share the address, so the identity of this tab's game stays in the tab.
  if (state.mode !== "play") return;
  const { analysis: _, recording: __, ...game } = state;
  sessionStorage.setItem("game", JSON.stringify(game));
}

/**
 * Open the position in the address: this tab's own game after a reload, else a new one. Agents must
 * be offered by the server; others are reported.
 * @param {boolean} again
 */
function readAddress(again) {
  const hash = location.hash.slice(1);
  // #4455 is a position, too
  const fields = new URLSearchParams(/^[^=&]+$/.test(hash) ? `moves=${hash}` : hash);
  const bad = [...fields.keys()]
    .filter((key) => !["moves", ...SEATS].includes(key))
    .map((key) => `It says '${key}': expected moves, red or yellow`);
  const moves = movesOfAddress(fields.get("moves") ?? "", bad);
  SEATS.forEach((key, seat) => {
    const player = fields.get(key);
    const wrong = player && specTrouble(player);
    if (wrong) bad.push(`${COLOURS[seat]}: ${wrong}`);
    else if (player) state.players[seat] = player;
  });
  state.players = state.players.map((player) =>
    player && !specTrouble(player) ? player : usual(),
  );
  const kept = JSON.parse(sessionStorage.getItem("game") ?? "null");
  const same = kept?.moves.slice(0, kept.view) === moves;
  if (again && same && String(kept.players) === String(state.players)) Object.assign(state, kept);
  else begin(moves);
  notice(bad);
}

/**
 * The moves, or "" and a sentence if they are not a position.
 * @param {string} moves
 * @param {string[]} bad
 */
function movesOfAddress(moves, bad) {
  try {
    boardOf(moves);
    return moves;
  } catch (error) {
    bad.push(`'${moves.slice(0, CELLS)}' is not a position: ${error.message}`);
    return "";
  }
}

/** @param {string[]} sentences */
function notice(sentences) {
  const words = `The address cannot be followed. ${sentences.join(". ")}.`;
  $("notice").hidden = !sentences.length;
  $("notice").firstChild.textContent = sentences.length ? words : "";
}
