"use strict";
// Parts of figures, and the win table.

const pen = document.createElement("canvas").getContext("2d");
pen.font = "12px system-ui, sans-serif";
/** @param {string} words */
const wide = (words) => pen.measureText(words).width;

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
 * The pixels that a name takes; a longer one is cut.
 * @param {string} name
 */
const roomOf = (name) => Math.min(240, 0.3 * innerWidth, Math.ceil(wide(name)) + 2);
/**
 * A name, which the style sheet cuts.
 * @param {number} x
 * @param {number} y of its middle
 * @param {string} name
 * @param {string} title
 */
function nameAt(x, y, name, title = name) {
  const words = element("div", { class: "cut", title }, name);
  return drawn("foreignObject", { x, y: y - 8, width: roomOf(name), height: 16 }, words);
}
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

/**
 * The players, the strongest first, and their results; `cells[first][second]`.
 * @typedef {{players: string[], elo: number[], totals: Results[], cells: (Cell | null)[][]}} Field
 * @typedef {"elo" | "name" | "total" | number} Order what sorts the rows; a number is an opponent
 */

/**
 * Percent of the points of the row's agent, moving first, against the column's. Numbers are places.
 * @param {HTMLTableElement} table
 * @param {Field} run
 * @param {(first: number, second: number) => void} pick called with the players of a cell
 * @param {(name: string) => boolean} filter chooses the players to show
 */
function winTable(table, run, pick, filter) {
  /** @type {{by: Order, down: boolean}} */
  let sorting = { by: "elo", down: true };
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
      rowHead(run.players[i], placeOf(i), " "),
      element("td", { class: "wide" }, signed(run.elo[i])),
      element("td", { class: "wide", title: run.totals[i].counts }, inPercent(run.totals[i].score)),
      ...shownPlayers().map((j) => winCell(run, i, j, pick)),
    );
  const shownPlayers = () => range(run.players.length).filter((i) => filter(run.players[i]));
  function show() {
    const order = orderOf(run, sorting);
    const head = headings(run, shownPlayers(), sorting, sortBy);
    const body = shownPlayers().sort(order).map(row);
    table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...body));
  }
  table.classList.add("cross");
  show();
  return show;
}

/**
 * The head of an agent's row in a table.
 * @param {string} name
 * @param {...(Node | string)} before
 */
const rowHead = (name, ...before) =>
  element("th", { scope: "row", class: "cut", title: name }, ...before, name);
/** @param {number} i */
const placeOf = (i) => element("span", { class: "place" }, String(i + 1));
/** @param {number | null} score */
const inPercent = (score) => percent(score).replace("%", "");

/**
 * How two rows are sorted.
 * @param {Field} run
 * @param {{by: Order, down: boolean}} sorting
 */
function orderOf(run, { by, down }) {
  /** @param {number} i */
  const key = (i) => {
    if (by === "elo") return -i;
    if (by === "name") return run.players[i];
    return (by === "total" ? run.totals[i] : run.cells[i][by])?.score ?? -1;
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
  const cell = cells[i][j];
  if (!cell) return element("td", { class: "self" }, i === j ? "–" : "");
  const { wins, draws, losses, score } = cell;
  const results = `${wins} wins, ${draws} draws, ${losses} losses`;
  const title = `${players[i]} first against ${players[j]}: ${results}`;
  const label = `${title}, ${percent(score)}`;
  const act = { click: () => pick(i, j) };
  const button = element("button", { type: "button", title, "aria-label": label, on: act });
  button.append(fixed(100 * score));
  const made = element("td", {}, button);
  const colour = score >= 0.5 ? "--more" : "--less";
  const strong = (0.04 + 0.9 * Math.abs(score - 0.5)).toFixed(3);
  made.style.background = `rgb(var(${colour}) / ${strong})`;
  return made;
}
