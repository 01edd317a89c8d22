"use strict";
// The board of both pages. With `choose`, its columns are buttons that call it.

/**
 * The position after `moves`. `scores` are shown unless null; they are complete when `done`.
 * `next` is the column played from here.
 * @typedef {{
 *   moves: string, scores?: Scores | null, done?: boolean, ready?: boolean, over?: boolean,
 *   hint?: number | null, next?: number | null,
 * }} Shown
 *
 * @typedef {{button: HTMLElement, cells: HTMLElement[], ghost: HTMLElement, score: HTMLElement}}
 *   ColumnParts
 */

/**
 * @param {HTMLElement} root
 * @param {((column: number) => void) | null} choose
 */
function makeBoard(root, choose = null) {
  const columns = range(COLUMNS).map((column) => makeColumn(column, choose));
  root.classList.add("board");
  root.append(...columns.map(({ button }) => button));

  /** @param {Shown} shown */
  function show({ ready = false, ...shown }) {
    const position = boardOf(shown.moves);
    root.classList.toggle("ready", ready);
    root.classList.toggle("decided", position.winner !== null);
    root.classList.toggle("with-scores", (shown.scores ?? null) !== null);
    columns.forEach((parts, column) => {
      showDiscs(parts, column, position);
      showColumn(parts, column, position.grid[column], shown);
      const full = position.grid[column].length === ROWS;
      if (choose) parts.button.setAttribute("aria-disabled", String(!ready || full));
    });
  }
  return { show, columns: columns.map(({ button }) => button) };
}

/**
 * @param {number} column
 * @param {((column: number) => void) | null} choose
 * @returns {ColumnParts}
 */
function makeColumn(column, choose) {
  const cells = range(ROWS).map(() => element("span", { class: "cell" }));
  const ghost = element("span", { class: "disc" });
  const score = element("span", { class: "score" });
  const button = element(
    choose ? "button" : "div",
    choose
      ? { class: "column", type: "button", on: { click: () => choose(column) } }
      : { class: "column", role: "img" },
    element("span", { class: "ghost" }, ghost),
    ...[...cells].reverse(),
    element("span", { class: "number", "data-number": DIGITS[column] }),
    score,
  );
  return { button, cells, ghost, score };
}

/**
 * Show the discs of a column; a new last disc falls.
 * @param {ColumnParts} parts
 * @param {number} column
 * @param {ReturnType<typeof boardOf>} position
 */
function showDiscs({ cells }, column, { grid, last, four }) {
  const discs = grid[column];
  cells.forEach((cell, height) => {
    let shown = /** @type {HTMLElement | null} */ (cell.querySelector(".disc"));
    if (shown && shown.dataset.disc !== String(discs[height])) {
      shown.remove();
      shown = null;
    }
    if (height >= discs.length) return;
    const isLast = column === last && height === discs.length - 1;
    if (!shown) {
      shown = cell.appendChild(element("span", { class: "disc", "data-disc": discs[height] }));
      if (isLast) letFall(shown, height);
    }
    shown.classList.toggle("last", isLast);
    shown.classList.toggle("four", four.includes(`${column},${height}`));
  });
}

/**
 * @param {HTMLElement} shown
 * @param {number} height
 */
function letFall(shown, height) {
  shown.style.setProperty("--rows", String(ROWS - height + 0.2));
  shown.style.setProperty("--time", `${Math.round(210 * Math.sqrt(ROWS - height))}ms`);
  shown.classList.add("drop");
}

/**
 * Show the score of a column, its marks and its description.
 * @param {ColumnParts} parts
 * @param {number} column
 * @param {number[]} discs
 * @param {Shown} shown
 */
function showColumn({ button, cells, ghost, score }, column, discs, shown) {
  const { moves, scores = null, done = true, over = false, hint = null, next = null } = shown;
  const full = discs.length === ROWS;
  const value = scores?.[column] ?? null;
  const best = value !== null && done && value === greatest(scores);
  const sought = scores && !done && !full && !over;
  (cells[discs.length] ?? button).append(score); // where its disc would fall
  score.textContent = value === null ? "" : signed(value);
  score.className = `score ${kindOf(value) || (sought ? "sought" : "none")}${best ? " best" : ""}`;
  button.classList.toggle("hinted", hint === column && !over);
  button.classList.toggle("next", next === column);
  ghost.dataset.disc = over ? "" : String(moves.length % 2);
  const stack = discs.map((seat) => COLOURS[seat].toLowerCase()).join(", ") || "empty";
  const words = [`Column ${DIGITS[column]}${full ? ", full" : ""}: ${stack}`];
  if (value !== null) words.push(`Score ${signed(value)}${best ? ", best" : ""}`);
  if (next === column) words.push("Played");
  button.setAttribute("aria-label", words.join(". "));
}

/** @param {number | null} value */
function kindOf(value) {
  if (value === null) return "";
  return value > 0 ? "win" : value < 0 ? "loss" : "even";
}
