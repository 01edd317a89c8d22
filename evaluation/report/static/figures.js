"use strict";
// Parts of figures, and the win table.

/** @typedef {[number, number, number]} Counts wins, draws, losses */

/**
 * @template {Element} Shape
 * @param {Shape} shape
 * @param {string} words
 */
function titled(shape, words) {
  shape.append(drawn("title", {}, words));
  return shape;
}
/**
 * @param {string} kind
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 */
const line = (kind, x1, y1, x2, y2) => drawn("line", { class: kind, x1, y1, x2, y2 });
/**
 * @param {number} x
 * @param {number} y
 * @param {string} anchor
 * @param {string} words
 * @param {string} kind
 */
const text = (x, y, anchor, words, kind = "") =>
  drawn("text", { x, y, "text-anchor": anchor, class: kind }, words);
/**
 * @param {number} width
 * @param {number} height
 * @param {string} label
 */
function picture(width, height, label) {
  const viewBox = `0 0 ${width} ${height}`;
  return drawn("svg", { viewBox, width, height, role: "img", "aria-label": label });
}

/**
 * Round values for an axis, about `wish` of them.
 * @param {number} low
 * @param {number} high
 * @param {number} wish
 */
function ticks(low, high, wish) {
  const raw = (high - low) / wish;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((x) => x * power).find((x) => x >= raw);
  const values = [];
  for (let x = Math.ceil(low / step) * step; x <= high + 1e-9; x += step)
    values.push(Math.round(x * 1e6) / 1e6);
  return values;
}

/** @param {Counts[]} counts */
const added = (counts) =>
  counts.reduce(([a, b, c], [d, e, f]) => /** @type {Counts} */ ([a + d, b + e, c + f]), [0, 0, 0]);
/**
 * From the other side.
 * @param {Counts} counts
 */
const turned = ([wins, draws, losses]) => /** @type {Counts} */ ([losses, draws, wins]);
/** @param {Counts} counts */
function share([wins, draws, losses]) {
  const games = wins + draws + losses;
  return games ? (wins + draws / 2) / games : null;
}
/**
 * The results of an agent against the others, moving first and moving second, from its view.
 * @param {Counts[][]} cells `[first][second]`
 * @param {number} i
 */
function byColour(cells, i) {
  const others = range(cells.length).filter((j) => j !== i);
  return [added(others.map((j) => cells[i][j])), added(others.map((j) => turned(cells[j][i])))];
}

/**
 * The players, the strongest first, and their results.
 * @typedef {{players: string[], elo: number[], cells: Counts[][]}} Field
 * @typedef {"elo" | "name" | "total" | number} Order what sorts the rows; a number is an opponent
 */

/**
 * Percent of the points of the row's agent, moving first, against the column's. Numbers are places.
 * @param {HTMLTableElement} table
 * @param {Field} run
 * @param {(i: number) => string} label
 * @param {(first: number, second: number) => void} pick called with the players of a cell
 * @param {(name: string) => boolean} filter chooses the players to show
 */
function winTable(table, run, label, pick, filter = () => true) {
  /** @type {{by: Order, down: boolean}} */
  let sorting = { by: "elo", down: true };
  const totals = run.players.map((_, i) => added(byColour(run.cells, i)));
  /** @param {Order} by */
  const sortBy = (by) => {
    sorting = { by, down: sorting.by === by ? !sorting.down : by !== "name" };
    show();
    /** @type {HTMLElement} */ (table.querySelector("[aria-sort] button")).focus();
  };
  /** @param {number} i */
  const row = (i) =>
    element(
      "tr",
      {},
      element("th", { scope: "row", title: run.players[i] }, placeOf(i), " ", label(i)),
      element("td", { class: "wide" }, signed(run.elo[i])),
      element("td", { class: "wide", title: totals[i].join("/") }, inPercent(totals[i])),
      ...shownPlayers().map((j) => winCell(run, i, j, pick)),
    );
  const shownPlayers = () => range(run.players.length).filter((i) => filter(run.players[i]));
  function show() {
    const order = orderOf(run, totals, sorting);
    const head = headings(run, shownPlayers(), sorting, sortBy);
    const body = shownPlayers().sort(order).map(row);
    table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...body));
  }
  table.classList.add("cross");
  show();
  return show;
}

/** @param {number} i */
const placeOf = (i) => element("span", { class: "place" }, String(i + 1));
/** @param {Counts} counts */
const inPercent = (counts) => percent(share(counts)).replace("%", "");

/**
 * How two rows are sorted.
 * @param {Field} run
 * @param {Counts[]} totals
 * @param {{by: Order, down: boolean}} sorting
 */
function orderOf(run, totals, { by, down }) {
  /** @param {number} i */
  const key = (i) => {
    if (by === "elo") return -i;
    if (by === "name") return run.players[i];
    return share(by === "total" ? totals[i] : run.cells[i][by]) ?? -1;
  };
  /**
   * @param {number} i
   * @param {number} j
   */
  const order = (i, j) => (key(i) < key(j) ? -1 : key(i) > key(j) ? 1 : 0) * (down ? -1 : 1);
  return (/** @type {number} */ i, /** @type {number} */ j) => order(i, j) || i - j;
}

/**
 * @param {Field} run
 * @param {number[]} shown
 * @param {{by: Order, down: boolean}} sorting
 * @param {(by: Order) => void} sortBy
 */
function headings(run, shown, sorting, sortBy) {
  /**
   * @param {string} words
   * @param {Order} by
   * @param {string} title
   * @param {string | null} kind
   */
  const heading = (words, by, title, kind = null) => {
    const on = sorting.by === by;
    const mark = on ? (sorting.down ? " ▾" : " ▴") : "";
    const way = on ? (sorting.down ? "descending" : "ascending") : null;
    const button = element("button", { type: "button", on: { click: () => sortBy(by) } });
    button.append(words + mark);
    return element("th", { scope: "col", class: kind, title, "aria-sort": way }, button);
  };
  return element(
    "tr",
    {},
    heading("agent", "name", "by name"),
    heading("Elo", "elo", "by Elo", "wide"),
    heading("score", "total", "by share of all points", "wide"),
    ...shown.map((j) => heading(String(j + 1), j, "against " + run.players[j])),
  );
}

/**
 * @param {Field} run
 * @param {number} i
 * @param {number} j
 * @param {(first: number, second: number) => void} pick
 */
function winCell({ players, cells }, i, j, pick) {
  const [wins, draws, losses] = cells[i][j];
  const value = share(cells[i][j]);
  if (value === null) return element("td", { class: "self" }, i === j ? "–" : "");
  const results = `${wins} wins, ${draws} draws, ${losses} losses`;
  const title = `${players[i]} first against ${players[j]}: ${results}`;
  const label = `${title}, ${percent(value)}`;
  const act = { click: () => pick(i, j) };
  const button = element("button", { type: "button", title, "aria-label": label, on: act });
  button.append(fixed(100 * value));
  const made = element("td", {}, button);
  const colour = value >= 0.5 ? "--more" : "--less";
  const strong = (0.04 + 0.9 * Math.abs(value - 0.5)).toFixed(3);
  made.style.background = `rgb(var(${colour}) / ${strong})`;
  return made;
}
