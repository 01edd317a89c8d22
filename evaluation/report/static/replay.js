"use strict";
// Replay a game: buttons, the list of moves with slips and blunders, the graph of values.

/**
 * A game and how many of its discs are shown. `values` has the value for Red of the positions after
 * 0, 1, ... discs: null while unknown, undefined if not wanted; or is null without any. `scores`
 * are those of the columns on the board, if known.
 * @typedef {{
 *   moves: string, view: number, opening: number, values: (number | null | undefined)[] | null,
 *   scores: Scores | null,
 * }} Replayed
 */

const WIDE = 336; // the graph's units
const HIGH = 112;
const EDGE = 10;
const KEYS = { ArrowLeft: "back", ArrowRight: "forth", Home: "first", End: "last" };

/**
 * The verdict on the disc after `ply` discs.
 * @param {Replayed} game
 * @param {number} ply
 */
function verdictAt({ moves, opening, values }, ply) {
  if (ply < opening || ply >= moves.length || !values) return "";
  return verdictOf(values[ply], values[ply + 1]);
}

/** @param {Replayed} game */
const blundersIn = (game) =>
  range(game.moves.length).filter((ply) => verdictAt(game, ply) === "blunder");

/**
 * The blunder or slip that the disc after `ply` discs is, in words, or "".
 * @param {Replayed} game
 * @param {number} ply
 * @param {Scores | null} scores of the columns, if known
 */
function mistakeInWords(game, ply, scores = null) {
  if (!verdictAt(game, ply)) return "";
  const best = wordsOf(forRed(game.values[ply], ply), ply);
  const own = wordsOf(forRed(game.values[ply + 1], ply), ply);
  const others = scores ? `best ${bestColumns(scores)}:` : "the best column";
  return `column ${game.moves[ply]} ${own}; ${others} ${best}`;
}

/**
 * The buttons: sign, label, and the number of discs that it leads to, or undefined.
 * @type {Record<string, [string, string | null, (game: Replayed) => number | undefined]>}
 */
const STEPS = {
  first: ["«", "To the beginning", ({ view }) => (view ? 0 : undefined)],
  back: ["‹", "One disc back", ({ view }) => (view ? view - 1 : undefined)],
  forth: ["›", "One disc forth", (game) => (isOver(game) ? undefined : game.view + 1)],
  last: ["»", "To the last disc", (game) => (isOver(game) ? undefined : game.moves.length)],
  blunder: ["Next blunder", null, nextBlunder],
};

/** @param {Replayed} game */
const isOver = ({ view, moves }) => view >= moves.length;

/** @param {Replayed} game */
function nextBlunder(game) {
  const blunders = blundersIn(game);
  return blunders.find((ply) => ply > game.view) ?? blunders.find((ply) => ply < game.view);
}

/**
 * @param {{steps: HTMLElement, list: HTMLElement, graph: HTMLElement}} places of the parts
 * @param {(discs: number) => void} look called with the number of discs to show
 */
function makeReplay({ steps, list, graph }, look) {
  /** @type {Replayed} */
  let game = { moves: "", view: 0, opening: 0, values: null, scores: null };
  /** @param {string} step */
  function go(step) {
    const ply = STEPS[step][2](game);
    if (ply !== undefined) look(ply);
    return ply !== undefined;
  }
  const judged = element("p", { class: "soft", id: "judged", role: "status" });
  const buttons = Object.entries(STEPS).map(([id, [sign, words]]) => {
    const act = { click: () => go(id) };
    const attributes = { id, class: "do", type: "button", "aria-label": words, on: act };
    return element("button", attributes, sign);
  });
  const moves = element("ol", { class: "moves", id: "moves" });
  const marks = legend();
  const output = element("output", { id: "ply" });
  const viewBox = `0 0 ${WIDE} ${HIGH}`;
  const drawing = drawn("svg", { class: "graph", id: "graph", viewBox, role: "img" });
  const worth = element("p", { class: "soft", id: "worth" });
  steps.append(...buttons.slice(0, 2), output, ...buttons.slice(2));
  list.append(judged, moves, marks);
  graph.append(drawing, worth);
  drawing.addEventListener("click", (/** @type {any} */ { clientX }) => {
    const box = drawing.getBoundingClientRect();
    const across = ((clientX - box.left) / box.width) * WIDE;
    const ply = Math.round(((across - EDGE) / (WIDE - 2 * EDGE)) * game.moves.length);
    look(Math.max(0, Math.min(game.moves.length, ply)));
  });

  /** @param {Replayed} now */
  function show(now) {
    game = now;
    const kind = verdictAt(game, game.view);
    tell(judged, kind && `A ${kind}: ${mistakeInWords(game, game.view, game.scores)}.`);
    output.textContent = `disc ${game.view} of ${game.moves.length}`;
    for (const button of buttons)
      button.setAttribute("aria-disabled", String(STEPS[button.id][2](game) === undefined));
    buttons.at(-1).hidden = graph.hidden = !game.values;
    marks.hidden = !range(game.moves.length).some((ply) => verdictAt(game, ply));
    listMoves(moves, game, look);
    if (!game.values) return;
    drawing.setAttribute("aria-label", drawGraph(drawing, game));
    worth.textContent = changesInWords(game);
  }

  /**
   * Take the step of an arrow key; whether there was one.
   * @param {KeyboardEvent} event
   */
  function key(event) {
    const step = KEYS[/** @type {keyof typeof KEYS} */ (event.key)];
    return step !== undefined && go(step);
  }
  const blunders = () => blundersIn(game);
  return { show, key, blunders, told: (/** @type {number} */ ply) => mistakeInWords(game, ply) };
}

const legend = () =>
  element(
    "p",
    { class: "soft marks", id: "marks" },
    element("b", { class: "slip" }, "slip"),
    ": same result, but a win later or a loss sooner. ",
    element("b", { class: "blunder" }, "blunder"),
    ": gives away a win or a draw.",
  );

/**
 * List the moves as buttons; the focus stays at the move that is shown.
 * @param {HTMLElement} list
 * @param {Replayed} game
 * @param {(discs: number) => void} look
 */
function listMoves(list, game, look) {
  const held = list.contains(document.activeElement);
  const items = [...game.moves].map((column, ply) => {
    const kind = verdictAt(game, ply);
    const label = `Disc ${ply + 1}, ${COLOURS[ply % 2]}: column ${column}`;
    const attributes = {
      type: "button",
      class: kind,
      "aria-current": ply + 1 === game.view ? "step" : null,
      "aria-label": kind ? `${label}, a ${kind}` : label,
      on: { click: () => look(ply + 1) },
    };
    const button = element("button", attributes, disc(ply % 2), column);
    return element("li", { class: ply < game.opening ? "set-up" : null }, button);
  });
  list.replaceChildren(...items);
  if (!held) return; // else the button that it was on is gone
  /** @type {HTMLElement | undefined} */ (items[Math.max(game.view, 1) - 1]?.firstChild)?.focus();
}

/**
 * The known values as pairs of discs and value, and how many are wanted.
 * @param {Replayed} game
 */
function knownValues({ values }) {
  const asked = values
    .map((value, discs) => /** @type {[number, number | null]} */ ([discs, value]))
    .filter(([, value]) => value !== undefined);
  return { known: asked.filter(([, value]) => value !== null), asked: asked.length };
}

/**
 * Draw the values: above the line Red wins, below it Yellow. Returns a description.
 * @param {Element} drawing
 * @param {Replayed} game
 */
function drawGraph(drawing, game) {
  const { known } = knownValues(game);
  const count = Math.max(game.moves.length, 1);
  /** @param {number} discs */
  const x = (discs) => EDGE + (discs / count) * (WIDE - 2 * EDGE);
  // Every win keeps a distance from the line of draws, an early win a large one.
  const unit = (HIGH / 2 - EDGE) / 28;
  /** @param {number} value */
  const y = (value) => HIGH / 2 - Math.sign(value) * (10 + Math.abs(value)) * unit;
  /** @type {string[][]} */
  const pieces = []; // a value that is not known yet breaks the line
  known.forEach(([discs, value], i) => {
    if (!i || known[i - 1][0] !== discs - 1) pieces.push([]);
    pieces.at(-1).push(`${x(discs)},${y(value)}`);
  });
  const here = x(game.view);
  drawing.replaceChildren(
    drawn("text", { x: EDGE, y: 13 }, "Red wins"),
    drawn("text", { x: EDGE, y: HIGH - 5 }, "Yellow wins"),
    drawn("line", { class: "zero", x1: EDGE, x2: WIDE - EDGE, y1: HIGH / 2, y2: HIGH / 2 }),
    drawn("line", { class: "here", x1: here, x2: here, y1: 0, y2: HIGH }),
    ...pieces.map((piece) => drawn("polyline", { class: "value", points: piece.join(" ") })),
    ...known.map(([discs, value]) =>
      drawn("circle", { class: "dot", cx: x(discs), cy: y(value), r: 2.5 }),
    ),
  );
  return `Exact value of ${known.length} positions of the game`;
}

/**
 * Where the result of best play changes.
 * @param {Replayed} game
 */
function changesInWords(game) {
  const { known, asked } = knownValues(game);
  /** @param {number} value */
  const result = (value) => (value > 0 ? "Red wins" : value < 0 ? "Yellow wins" : "a draw");
  if (known.length < asked)
    return `Best play is known from ${known.length} of ${asked} positions so far.`;
  const changes = known
    .filter(([, value], i) => i && Math.sign(value) !== Math.sign(known[i - 1][1]))
    .map(([discs, value]) => `${COLOURS[(discs - 1) % 2]}'s disc ${discs} (${result(value)})`);
  if (changes.length) return `The result of best play changes at ${changes.join(", ")}.`;
  if (!known.length) return "";
  return `Best play ends the same from every position: ${result(known[0][1])}.`;
}
