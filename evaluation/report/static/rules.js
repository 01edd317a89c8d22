"use strict";
// The rules, and the meaning of exact scores, without any page.

const COLUMNS = 7, ROWS = 6, CELLS = COLUMNS * ROWS, COLOURS = ["Red", "Yellow"];
const DIGITS = "123456789abcdef".slice(0, COLUMNS);  // the columns, as moves are written

// The board after some moves ("4455"): grid[column] lists its discs from the bottom, 0 or 1.
function boardOf(moves) {
  const grid = Array.from({ length: COLUMNS }, () => []);
  let four = [];
  for (let ply = 0; ply < moves.length; ply++) {
    const column = DIGITS.indexOf(moves[ply]);
    if (column < 0) throw new Error(`'${moves[ply]}' is not a column 1..${DIGITS.at(-1)}`);
    if (four.length) throw new Error(`move ${ply + 1}: the game is over`);
    if (grid[column].length === ROWS) throw new Error(`move ${ply + 1}: column ${moves[ply]} is full`);
    grid[column].push(ply % 2);
    four = foursThrough(grid, column);
  }
  const last = moves ? DIGITS.indexOf(moves.at(-1)) : null;
  const winner = four.length ? (moves.length - 1) % 2 : null;
  return { grid, four, last, winner, over: winner !== null || moves.length === CELLS };
}

// The cells "column,height" of all lines of four or more through a column's top disc.
function foursThrough(grid, column) {
  const height = grid[column].length - 1, side = grid[column][height];
  const found = new Set();
  for (const [right, up] of [[1, 0], [0, 1], [1, 1], [1, -1]]) {
    const line = [`${column},${height}`];
    for (const way of [1, -1]) {
      for (let step = way; grid[column + right * step]?.[height + up * step] === side; step += way)
        line.push(`${column + right * step},${height + up * step}`);
    }
    if (line.length >= 4) line.forEach((cell) => found.add(cell));
  }
  return [...found];
}

const forfeited = (ending) => !["four", "full board"].includes(ending);
const points = (winner) => (winner === null ? "½–½" : winner === 0 ? "1–0" : "0–1");
const resultOf = (winner, ending) => points(winner) + (forfeited(ending) ? ` (${ending})` : "");

// -- exact scores: of the side to move, positive where it wins, the greater the sooner ---------

const forRed = (score, discs) => (discs % 2 ? -score : score);
const greatest = (scores) => Math.max(...scores.filter((score) => score !== null && score !== undefined));

// The value of a finished game for Red, as the solver counts; null for an unfinished one.
function valueOfEnd(moves) {
  const board = boardOf(moves);
  if (!board.over) return null;
  return board.winner === null ? 0 : forRed(-(CELLS / 2 + 1 - Math.ceil(moves.length / 2)), moves.length);
}

// The verdict on a move, from the values of the positions before and after it (null if unknown): "blunder" if it
// gave away a win or a draw, "slip" if it keeps the result but wins later or loses sooner, else "".
function verdictOf(before, after) {
  if (before === null || after === null || before === after) return "";
  return Math.sign(before) === Math.sign(after) ? "slip" : "blunder";
}

// An exact score in words, for the side to move after some discs: "wins in 3 discs (+18)".
function wordsOf(score, discs) {
  if (score === 0) return "draws (0)";
  return `${score > 0 ? "wins" : "loses"} in ${plural(bestPlay(score, discs).discs, "disc")} (${signed(score)})`;
}
const bestColumns = (scores) => range(COLUMNS).filter((column) => scores[column] === greatest(scores)).map((column) => column + 1).join(" or ");

// The winner under best play and the number of discs until then; null for a draw.
function bestPlay(score, discs) {
  if (score === 0) return null;
  const winner = score > 0 ? discs % 2 : 1 - (discs % 2);
  const own = CELLS / 2 + 1 - Math.abs(score);  // the winner's last disc leaves |score| - 1 of its own in hand
  return { winner, discs: 2 * own - 1 + winner - discs };
}
