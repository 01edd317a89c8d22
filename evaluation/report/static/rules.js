"use strict";
// The rules, and the meaning of exact scores, without any page.

const COLUMNS = 7;
const ROWS = 6;
const CELLS = COLUMNS * ROWS;
const COLOURS = ["Red", "Yellow"];
const DIGITS = "123456789abcdef".slice(0, COLUMNS); // the columns, as moves are written
const WAYS = [
  [1, 0],
  [0, 1],
  [1, 1],
  [1, -1],
]; // right, up

/**
 * A score for each column, for the side to move: positive where it wins, the greater the sooner;
 * null if the column is full, undefined while it is unknown.
 * @typedef {(number | null | undefined)[]} Scores
 */

/**
 * The board after some moves ("4455"): grid[column] lists its discs from the bottom, 0 or 1.
 * @param {string} moves
 */
function boardOf(moves) {
  const grid = range(COLUMNS).map(() => /** @type {number[]} */ ([]));
  /** @type {string[]} */
  let four = [];
  for (let ply = 0; ply < moves.length; ply++) {
    const column = DIGITS.indexOf(moves[ply]);
    if (column < 0)
      throw new Error(`move ${ply + 1}, '${moves[ply]}', is not a column (1 to ${DIGITS.at(-1)})`);
    if (four.length) throw new Error(`move ${ply + 1}: the game is over`);
    if (grid[column].length === ROWS)
      throw new Error(`move ${ply + 1}: column ${moves[ply]} is full`);
    grid[column].push(ply % 2);
    four = foursThrough(grid, column);
  }
  const last = moves ? DIGITS.indexOf(moves.at(-1)) : null;
  const winner = four.length ? (moves.length - 1) % 2 : null;
  return { grid, four, last, winner, over: winner !== null || moves.length === CELLS };
}

/**
 * The cells "column,height" of all lines of four or more through a column's top disc.
 * @param {number[][]} grid
 * @param {number} column
 */
function foursThrough(grid, column) {
  const height = grid[column].length - 1;
  const side = grid[column][height];
  /** @type {Set<string>} */
  const cells = new Set();
  for (const [right, up] of WAYS) {
    const line = [`${column},${height}`];
    for (const way of [1, -1]) {
      for (let step = way; grid[column + right * step]?.[height + up * step] === side; step += way)
        line.push(`${column + right * step},${height + up * step}`);
    }
    if (line.length >= 4) line.forEach((cell) => cells.add(cell));
  }
  return [...cells];
}

/** @param {string} ending */
const forfeited = (ending) => !["four", "full board", "cut"].includes(ending);
/** @param {number | null} winner */
const points = (winner) => (winner === null ? "½–½" : winner === 0 ? "1–0" : "0–1");
/**
 * @param {number | null} winner
 * @param {string} ending
 */
const resultOf = (winner, ending) =>
  ending === "cut" ? "*" : points(winner) + (forfeited(ending) ? ` (${ending})` : "");

// -- exact scores ------------------------------------------------------------------------------

/**
 * @param {number} score of the side to move
 * @param {number} discs on the board
 */
const forRed = (score, discs) => (discs % 2 ? -score : score);
/** @param {Scores} scores */
const greatest = (scores) =>
  Math.max(...scores.filter((score) => score !== null && score !== undefined));

/**
 * The verdict on a move, from the values of the positions before and after it (null if unknown):
 * "blunder" if it gave away a win or a draw, "slip" if it keeps the result but wins later or loses
 * sooner, else "".
 * @param {number | null} before
 * @param {number | null} after
 */
function verdictOf(before, after) {
  if (before === null || after === null || before === after) return "";
  return Math.sign(before) === Math.sign(after) ? "slip" : "blunder";
}

/**
 * An exact score in words, for the side to move after some discs: "wins in 3 discs (+18)".
 * @param {number} score
 * @param {number} discs
 */
function wordsOf(score, discs) {
  const best = bestPlay(score, discs);
  if (best === null) return "draws (0)";
  return `${score > 0 ? "wins" : "loses"} in ${plural(best.discs, "disc")} (${signed(score)})`;
}

/** @param {Scores} scores */
const bestColumns = (scores) =>
  range(COLUMNS)
    .filter((column) => scores[column] === greatest(scores))
    .map((column) => column + 1)
    .join(" or ");

/**
 * The winner under best play and the number of discs until then; null for a draw.
 * @param {number} score
 * @param {number} discs
 */
function bestPlay(score, discs) {
  if (score === 0) return null;
  const winner = score > 0 ? discs % 2 : 1 - (discs % 2);
  // The winner's last disc leaves |score| - 1 of its own in hand.
  const own = CELLS / 2 + 1 - Math.abs(score);
  return { winner, discs: 2 * own - 1 + winner - discs };
}
