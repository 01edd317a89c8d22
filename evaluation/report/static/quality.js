"use strict";
// Moves against exact play: the accuracy along the game, the table, where an agent loses.

/**
 * @param {number} i
 * @param {number} room
 */
function drawAccuracy(i, room) {
  const { points, few, bottom: low } = RUN.curves;
  const [height, left] = [PANEL[0], 40];
  const bottom = height - 20;
  const about = `Accuracy of ${AGENTS[i]} by discs on the board`;
  const svg = picture(room, height, about);
  /** @param {number} ply */
  const x = (ply) => left + (ply / CELLS) * (room - left - 10);
  /** @param {number} share */
  const y = (share) => 12 + ((1 - share) / (1 - low)) * (bottom - 12);
  for (const share of [low, (1 + low) / 2, 1]) {
    svg.append(line("grid", left, y(share), room - 4, y(share)));
    svg.append(text(left - 5, y(share) + 4, "end", percent(share)));
  }
  for (const ply of [0, 14, 28, 42]) {
    svg.append(line("axis", x(ply), bottom, x(ply), bottom + 3));
    svg.append(text(x(ply), bottom + 16, "middle", String(ply)));
  }
  svg.append(line("axis", left, bottom, room - 4, bottom));
  /** @param {CurvePoint} point */
  const place = (point) => [x((point.first_ply + point.last_ply + 1) / 2), y(point.accuracy)];
  /**
   * @param {string} agent
   * @param {string} kind
   */
  const path = (agent, kind) => {
    const places = points.filter((point) => point.agent === agent).map(place);
    return drawn("polyline", { points: places.map(String).join(" "), class: kind });
  };
  const others = AGENTS.filter((agent) => agent !== AGENTS[i]);
  svg.append(...others.map((agent) => path(agent, "others")), path(AGENTS[i], "line"));
  for (const point of points.filter(({ agent }) => agent === AGENTS[i])) {
    const [cx, cy] = place(point);
    const kind = point.critical < few ? "point few" : "point";
    svg.append(titled(drawn("circle", { cx, cy, r: 3, class: kind }), pointInWords(point)));
  }
  return svg;
}

/** @param {CurvePoint} point */
function pointInWords(point) {
  const { agent, first_ply: first, last_ply: last, critical, accuracy } = point;
  const [low, high] = [point.accuracy_low, point.accuracy_high];
  const interval = low === null ? "" : ` (${percent(low, 1)} to ${percent(high, 1)})`;
  const plies = `${agent}, plies ${first} to ${last}`;
  return `${plies}: ${percent(accuracy, 1)} of ${critical} critical moves${interval}`;
}

function showCurves() {
  $("few").textContent = String(RUN.curves.few);
  const panels = AGENTS.map((name, i) => {
    const drawing = element("div", { id: `panel-${i}` });
    const number = element("span", { class: "place" }, String(i + 1));
    const caption = element("figcaption", { class: "cut", title: name }, number, " ", name);
    $("accuracy").append(element("figure", {}, caption, drawing));
    return drawing;
  });
  if (AGENTS.length <= 8) $("accuracy").classList.add(AGENTS.length <= 2 ? "two" : "few");
  panels.forEach((drawing, i) => figure(drawing.id, (room) => drawAccuracy(i, room)));
}

/** @type {[string, string, (value: number) => string][]} */
const MEASURES = [
  ["accuracy", "accuracy", (value) => percent(value, 1)],
  ["optimal", "optimal", (value) => percent(value, 1)],
  ["loss", "mean loss", (value) => fixed(value, 2)],
];
const COUNTS = ["moves", "critical", "blunders"];

/** @param {string[]} headings */
const headOf = (headings) =>
  element(
    "thead",
    {},
    element("tr", {}, ...headings.map((words) => element("th", { scope: "col" }, words))),
  );

/**
 * A value with its interval below it.
 * @param {Quality} row
 * @param {string} name
 * @param {(value: number) => string} show
 */
function measure(row, name, show) {
  const [value, low, high] = [row[name], row[`${name}_low`], row[`${name}_high`]];
  if (value === null || value === undefined) return element("td");
  if (low === null || low === undefined) return element("td", {}, show(value));
  const interval = element("span", { class: "soft" }, `(${show(low)}–${show(high)})`);
  return element("td", {}, show(value), element("br"), interval);
}

function showQuality() {
  const rows = AGENTS.map((agent) => {
    const row = RUN.quality.find(({ player }) => player === agent);
    const head = rowHead(agent);
    if (!row) return element("tr", {}, head);
    const measures = MEASURES.map(([name, , show]) => measure(row, name, show));
    const counts = COUNTS.map((name) => element("td", {}, String(row[name])));
    return element("tr", {}, head, ...measures, ...counts);
  });
  const heads = headOf(["agent", ...MEASURES.map(([, words]) => words), ...COUNTS]);
  $("quality").append(heads, element("tbody", {}, ...rows));
}

function showFirstLosses() {
  const kinds = Object.values(RUN.mistakes)[0].first_losses.map(({ kind }) => kind);
  const rows = AGENTS.map((agent) => {
    const losses = RUN.mistakes[agent]?.first_losses;
    if (!losses) return element("tr", {}, rowHead(agent));
    const [any, ...cells] = losses.map((loss) => element("td", {}, gamesOf(loss)));
    const median = element("td", {}, String(losses[0].ply ?? ""));
    return element("tr", {}, rowHead(agent), any, median, ...cells);
  });
  const names = kinds.slice(1, -1);
  const heads = headOf(["agent", "with one", "median ply", ...names, "without"]);
  $("first-losses").append(heads, element("tbody", {}, ...rows));
}

/**
 * The number of games, as a link to the game with the earliest move, if there is one.
 * @param {FirstLoss} loss
 */
function gamesOf({ games, earliest, game }) {
  if (game === null) return String(games);
  const link = linkTo(game, earliest, String(games));
  link.title = link.ariaLabel = `${games}, the earliest in game ${game} at ply ${earliest}`;
  return link;
}

/** @type {[string, (part: Part) => string][]} */
const PART_COLUMNS = [
  ["games", (part) => String(part.games ?? "")],
  ["score", (part) => percent(part.score, 1)],
  ["critical", (part) => String(part.critical)],
  ["blunders", (part) => String(part.blunders)],
  ["points given away", (part) => fixed(part.given_away, 1)],
  ["accuracy", (part) => percent(part.accuracy, 1)],
  ["of opponents", (part) => percent(part.opponents, 1)],
];

function showCauses() {
  /** @type {Causes} */
  const nothing = { parts: [], first_losses: [], mistakes: [], words: [] };
  const { parts, mistakes, words } = RUN.mistakes[$("whose").value] ?? nothing;
  const rows = parts.map((part) => {
    const cells = PART_COLUMNS.map(([, show]) => element("td", {}, show(part)));
    return element("tr", {}, element("th", { scope: "row" }, part.where), ...cells);
  });
  const heads = headOf(["where", ...PART_COLUMNS.map(([words]) => words)]);
  $("parts").replaceChildren(heads, element("tbody", {}, ...rows));
  $("costly").replaceChildren(...mistakes.map((mistake, i) => costly(mistake, words[i])));
}

/**
 * A link that opens a game in the replay; games count from 1.
 * @param {number} game
 * @param {number} ply
 * @param {string} words
 */
function linkTo(game, ply, words) {
  const open = () => {
    openGame(game - 1, ply);
    bringIntoSight($("replay"));
  };
  return element("a", { href: `#game=${game}&ply=${ply}`, on: { click: open } }, words);
}

/**
 * A costly move, with its position and a link to its game; games and columns count from 1.
 * @param {Mistake} mistake
 * @param {string} words
 */
function costly({ moves, column, game }, words) {
  const drawing = element("div", { "aria-hidden": "true" });
  makeBoard(drawing).show({ moves, next: DIGITS.indexOf(column) });
  const link = linkTo(game, moves.length, `Game ${game}, disc ${moves.length + 1}`);
  const code = element("code", {}, `c4 solve ${moves || "-"}`);
  return element("li", {}, drawing, element("div", {}, element("p", {}, words), link, code));
}

function showMoves() {
  $("accuracy-card").hidden = $("quality-card").hidden = !RUN.quality;
  if (!RUN.quality) return;
  showCurves();
  showQuality();
  showFirstLosses();
  $("whose").append(...AGENTS.map((name) => element("option", { value: name }, name)));
  $("whose").addEventListener("change", showCauses);
  showCauses();
}

showMoves();
