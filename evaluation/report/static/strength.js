"use strict";
// Figures of strength: Elo, moving first and second, the course of a test.

/**
 * A line for each agent over a common axis: number and name, the drawing of `row`, words.
 * @param {number} room
 * @param {{
 *   name: string, unit: string, low: number, high: number, format: (value: number) => string,
 *   words: (i: number) => string,
 *   row: (i: number, x: (value: number) => number, y: number) => Element[],
 * }} figure
 */
function rows(room, { name, unit, low, high, format, words, row }) {
  const step = 24;
  const top = 6;
  const bottom = top + step * AGENTS.length;
  const left = 30 + Math.max(...AGENTS.map(roomOf));
  const end = room - 16 - Math.max(...AGENTS.map((_, i) => wide(words(i))));
  const svg = picture(room, bottom + 40, name);
  /** @param {number} value */
  const x = (value) => left + 14 + ((value - low) / (high - low)) * (end - left - 20);
  for (const value of ticks(low, high, Math.max(1.5, (end - left) / 40))) {
    svg.append(line("grid", x(value), top, x(value), bottom + 4));
    svg.append(text(x(value), bottom + 18, "middle", format(value)));
  }
  svg.append(line("axis", left + 6, bottom + 4, end, bottom + 4));
  svg.append(text((left + end) / 2, bottom + 34, "middle", unit));
  AGENTS.forEach((agent, i) => {
    const y = top + step * (i + 0.5);
    svg.append(text(18, y + 4, "end", String(i + 1)));
    svg.append(nameAt(25, y, agent));
    svg.append(text(room - 4, y + 4, "end", words(i), "name"));
    svg.append(...row(i, x, y));
  });
  return svg;
}

/** @param {Standing} row */
const rankOf = ({ rank_best: best, rank_worst: worst }) => {
  if (best === undefined) return ""; // a rank is of other openings too, which exact runs leave open
  return best === worst ? `, rank ${best}` : `, rank ${best}–${worst}`;
};

/** @param {number} room */
function drawRatings(room) {
  const low = Math.min(...RUN.standings.map((row) => row.Elo_low));
  const high = Math.max(...RUN.standings.map((row) => row.Elo_high), low + 50);
  return rows(room, {
    name: "Elo of each agent with its interval",
    unit: "Elo",
    low,
    high,
    format: signed,
    words: (i) =>
      signed(RUN.standings[i].Elo) + (room < 420 ? "" : rankOf(RUN.standings[i])),
    row: (i, x, y) => {
      const { agent, Elo, Elo_low: from, Elo_high: to, score, games } = RUN.standings[i];
      const about = `${signed(Elo)} Elo (${fromTo(from, to)})${rankOf(RUN.standings[i])}`;
      const point = drawn("circle", { cx: x(Elo), cy: y, r: 5, class: "point" });
      return [
        line("span", x(from), y, x(to), y),
        titled(point, `${agent}: ${about}, ${percent(score)} of ${games} games`),
      ];
    },
  });
}

/** @param {number} room */
function drawColours(room) {
  return rows(room, {
    name: "Score of each agent moving first, and moving second",
    unit: "share of the points",
    low: 0,
    high: 1,
    format: percent,
    words: (i) =>
      [RUN.results[i].first, RUN.results[i].second]
        .map(({ score }) => (score === null ? "–" : percent(score)))
        .join(" | "),
    row: (i, x, y) => colourMarks(AGENTS[i], RUN.results[i], x, y),
  });
}

/**
 * @param {string} agent
 * @param {{first: Results, second: Results}} results
 * @param {(value: number) => number} x
 * @param {number} y
 */
function colourMarks(agent, { first, second }, x, y) {
  const [a, b] = [first.score, second.score];
  const shapes = [];
  if (a !== null && b !== null) shapes.push(line("lead", x(a), y, x(b), y));
  if (b !== null) {
    const box = { x: x(b) - 4.5, y: y - 4.5, width: 9, height: 9, class: "square" };
    shapes.push(titled(drawn("rect", box), `${agent} moving second: ${second.counts}`));
  }
  if (a !== null) {
    const circle = drawn("circle", { cx: x(a), cy: y, r: 5, class: "point" });
    shapes.push(titled(circle, `${agent} moving first: ${first.counts}`));
  }
  return shapes;
}

/** @param {number} room */
function drawTest(room) {
  const { llr, lower, upper } = RUN.test;
  const [height, left, right] = [260, 44, room - 14];
  const bottom = height - 40;
  const high = Math.max(upper, ...llr) * 1.12;
  const low = Math.min(lower, ...llr) * 1.12;
  /** @param {number} n */
  const x = (n) => left + (n / Math.max(llr.length, 1)) * (right - left);
  /** @param {number} value */
  const y = (value) => 10 + ((high - value) / (high - low)) * (bottom - 10);
  const bounds = `between ${fixed(lower, 2)} and ${fixed(upper, 2)}`;
  const about = `Log likelihood ratio after each of ${llr.length} pairs, ${bounds}`;
  const svg = picture(room, height, about);
  for (const value of ticks(low, high, 6)) {
    svg.append(line("grid", left, y(value), right, y(value)));
    const words = signed(value, Number.isInteger(value) ? 0 : 1);
    svg.append(text(left - 6, y(value) + 4, "end", words));
  }
  for (const n of ticks(0, llr.length, Math.min(room / 70, llr.length))) {
    svg.append(line("axis", x(n), bottom, x(n), bottom + 4));
    svg.append(text(x(n), bottom + 17, "middle", String(n)));
  }
  svg.append(line("axis", left, bottom, right, bottom));
  svg.append(text((left + right) / 2, height - 6, "middle", "pairs of games"));
  for (const [value, hypothesis, up] of /** @type {[number, string, number][]} */ ([
    [upper, "H1", -6],
    [lower, "H0", 15],
  ])) {
    svg.append(line("bound", left, y(value), right, y(value)));
    const words = `${hypothesis} accepted from ${signed(value, 2)}`;
    svg.append(text(left + 6, y(value) + up, "start", words, "name"));
  }
  svg.append(...courseOf(llr, x, y));
  return svg;
}

/**
 * @param {number[]} llr
 * @param {(n: number) => number} x
 * @param {(value: number) => number} y
 */
function courseOf(llr, x, y) {
  const points = [0, ...llr].map((value, n) => [x(n), y(value)]);
  const path = points.map((point) => point.join(",")).join(" ");
  const shapes = [drawn("polyline", { points: path, class: "line" })];
  if (llr.length) {
    const [cx, cy] = points.at(-1);
    const circle = drawn("circle", { cx, cy, r: 5, class: "point" });
    shapes.push(titled(circle, `${signed(llr.at(-1), 2)} after ${llr.length} pairs`));
  }
  return shapes;
}

function showStrength() {
  figure("ratings", drawRatings);
  figure("colours", drawColours);
  const { value, low, high } = RUN.first_move;
  $("firstmove").textContent =
    "Blue circle and first number: moving first; orange square and second number: moving second. " +
    `${RUN.first}: ${signed(value)} Elo (${fromTo(low, high)}).`;
  $("course-card").hidden = !RUN.test;
  if (!RUN.test) return;
  $("question").textContent =
    "Log likelihood ratio (LLR) after each pair of games: the test ends where it leaves the " +
    `bounds, above with H1 and below with H0: ${RUN.test.question}.`;
  figure("course", drawTest);
}

showStrength();
