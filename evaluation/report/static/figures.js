"use strict";
// Parts of figures, and the win table.

const titled = (shape, words) => { shape.append(drawn("title", {}, words)); return shape; };
const line = (kind, x1, y1, x2, y2) => drawn("line", { class: kind, x1, y1, x2, y2 });
const text = (x, y, anchor, words, kind = "") => drawn("text", { x, y, "text-anchor": anchor, class: kind }, words);
const picture = (width, height, label) => drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });

// Round values for an axis, about `wish` of them.
function ticks(low, high, wish) {
  const raw = (high - low) / wish, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((x) => x * power).find((x) => x >= raw), found = [];
  for (let x = Math.ceil(low / step) * step; x <= high + 1e-9; x += step) found.push(Math.round(x * 1e6) / 1e6);
  return found;
}

const added = (counts) => counts.reduce((sum, each) => sum.map((n, k) => n + each[k]), [0, 0, 0]);
const share = ([wins, draws, losses]) => { const games = wins + draws + losses; return games ? (wins + draws / 2) / games : null; };
// The results of an agent against the others, moving first and moving second, from its view.
function byColour({ cells }, i) {
  const others = range(cells.length).filter((j) => j !== i);
  return [added(others.map((j) => cells[i][j])), added(others.map((j) => [...cells[j][i]].reverse()))];
}

// Percent of the points of the row's agent, moving first, against the column's. Numbers are places.
// `run` has players (the strongest first), elo and cells [first][second] of wins, draws, losses; `label` shortens a
// player's name; `pick` is called with the two players of a cell; `filter` chooses the players to show.
function winTable(table, run, label, pick, filter = () => true) {
  let by = "elo", down = true;
  const totals = run.players.map((_, i) => added(byColour(run, i)));
  const keys = { elo: (i) => -i, name: (i) => run.players[i], total: (i) => share(totals[i]) ?? -1 };
  function show() {
    const shown = range(run.players.length).filter((i) => filter(run.players[i]));
    const key = keys[by] ?? ((i) => share(run.cells[i][by]) ?? -1);
    const order = (i, j) => (key(i) < key(j) ? -1 : key(i) > key(j) ? 1 : 0) * (down ? -1 : 1) || i - j;
    const heading = (words, column, title, kind = null) => {
      const on = by === column, turn = () => {
        [down, by] = [on ? !down : column !== "name", column];
        show();
        table.querySelector("[aria-sort] button").focus();
      };
      return element("th", { scope: "col", class: kind, title, "aria-sort": on ? (down ? "descending" : "ascending") : null },
        element("button", { type: "button", on: { click: turn } }, words + (on ? (down ? " ▾" : " ▴") : "")));
    };
    const head = element("tr", {}, heading("agent", "name", "by name"), heading("Elo", "elo", "by Elo", "wide"),
      heading("score", "total", "by share of all points", "wide"), ...shown.map((j) => heading(String(j + 1), j, "against " + run.players[j])));
    const body = [...shown].sort(order).map((i) => element("tr", {},
      element("th", { scope: "row", title: run.players[i] }, element("span", { class: "place" }, String(i + 1)), " ", label(i)),
      element("td", { class: "wide" }, signed(run.elo[i])), element("td", { class: "wide", title: totals[i].join("/") }, percent(share(totals[i])).replace("%", "")),
      ...shown.map((j) => cell(i, j))));
    table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...body));
  }
  function cell(i, j) {
    const counts = run.cells[i][j], value = share(counts);
    if (value === null) return element("td", { class: "self" }, i === j ? "–" : "");
    const said = `${run.players[i]} first against ${run.players[j]}: ${counts[0]} wins, ${counts[1]} draws, ${counts[2]} losses`;
    const made = element("td", {}, element("button", { type: "button", title: said, "aria-label": `${said}, ${percent(value)}`, on: { click: () => pick(i, j) } }, fixed(100 * value)));
    made.style.background = `rgb(var(${value >= 0.5 ? "--more" : "--less"}) / ${(0.04 + 0.9 * Math.abs(value - 0.5)).toFixed(3)})`;
    return made;
  }
  table.classList.add("cross");
  show();
  return show;
}
