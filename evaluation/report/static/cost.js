"use strict";
// Strength against cost: a point for each agent, with its name where there is room.

/** Whether any cost is known; games of other programs have none. */
const MEASURED = RUN.standings.some((row) => row.ms > 0 || row.nodes > 0);
/** Whether this card and the accuracy's stand side by side. */
const PAIRED = MEASURED && AGENTS.length <= 8 && RUN.quality !== null;
/** Height and rows of the accuracy's panels, beside which the figure is as high. */
const PANEL =
  AGENTS.length <= 2
    ? [130, AGENTS.length]
    : AGENTS.length <= 4
      ? [130, 2]
      : [100, Math.ceil(AGENTS.length / 2)];

/** @typedef {[number, number, number, number]} Box left, top, right, bottom */
/** @typedef {{i: number, cost: number, elo: number}} Spent */
/** @typedef {{left: number, top: number, right: number, bottom: number}} Area */

/** The costs of a move by the unit that the page offers. */
const UNITS = {
  nodes: { axis: "nodes per move", of: /** @param {Standing} row */ (row) => row.nodes },
  seconds: { axis: "seconds per move", of: /** @param {Standing} row */ (row) => row.ms / 1000 },
};

/**
 * A power of ten in words.
 * @param {keyof UNITS} unit
 * @param {number} power
 */
function powerOfTen(unit, power) {
  if (unit === "nodes") {
    if (power >= 6) return `${10 ** (power - 6)}M`;
    return power >= 3 ? `${10 ** (power - 3)}k` : `${10 ** power}`;
  }
  if (power >= 0) return `${10 ** power} s`;
  return power >= -3 ? `${10 ** (power + 3)} ms` : `${10 ** (power + 6)} µs`;
}

function heightOfCosts() {
  if (PAIRED && innerWidth > 928) return Math.max(300, PANEL[1] * (PANEL[0] + 32) - 10);
  return Math.max(320, Math.min(460, 200 + 16 * AGENTS.length));
}

/** @param {number} room */
function drawCosts(room) {
  const unit = /** @type {keyof UNITS} */ ($("unit").value);
  const height = heightOfCosts();
  const area = { left: 52, top: 24, right: room - 16, bottom: height - 42 };
  const svg = picture(room, height, "Elo of each agent against the cost of its moves");
  const points = RUN.standings
    .map((row, i) => ({ i, cost: UNITS[unit].of(row), elo: row.Elo }))
    .filter(({ cost }) => cost > 0);
  if (!points.length) {
    svg.append(text(20, 40, "start", "nothing was measured"));
    return svg;
  }
  const { x, y } = costAxes(svg, area, points, unit);
  svg.append(text((area.left + area.right) / 2, height - 6, "middle", UNITS[unit].axis));
  svg.append(text(4, 12, "start", "Elo"));
  const places = points.map(({ cost, elo }) => [x(cost), y(elo)]);
  const numbered = nameCosts(svg, area, room, points, places);
  points.forEach(({ i, cost, elo }, k) => {
    const [cx, cy] = places[k];
    const about = `${i + 1} ${AGENTS[i]}: ${cost.toPrecision(3)} ${unit} per move`;
    const circle = drawn("circle", { cx, cy, r: 5, class: "point" });
    svg.append(titled(circle, `${about}, ${signed(elo)} Elo`));
  });
  $("costs").textContent = numbered ? "The numbers are the same as in the other figures." : "";
  return svg;
}

/**
 * Draw the axes; return the functions from values to places.
 * @param {Element} svg
 * @param {Area} area
 * @param {Spent[]} points
 * @param {keyof UNITS} unit
 */
function costAxes(svg, { left, top, right, bottom }, points, unit) {
  const logs = points.map(({ cost }) => Math.log10(cost));
  const elos = points.map(({ elo }) => elo);
  const from = Math.floor(Math.min(...logs));
  const to = Math.max(Math.ceil(Math.max(...logs)), from + 1);
  const margin = Math.max(30, (Math.max(...elos) - Math.min(...elos)) / 12);
  const [low, high] = [Math.min(...elos) - margin, Math.max(...elos) + margin];
  /** @param {number} value */
  const x = (value) => left + ((Math.log10(value) - from) / (to - from)) * (right - left - 16);
  /** @param {number} elo */
  const y = (elo) => top + ((high - elo) / (high - low)) * (bottom - top);
  for (let power = from; power <= to; power++) {
    const at = x(10 ** power);
    svg.append(line("grid", at, top, at, bottom));
    svg.append(text(at, bottom + 17, "middle", powerOfTen(unit, power)));
  }
  for (const elo of ticks(low, high, 6)) {
    svg.append(line("grid", left, y(elo), right, y(elo)));
    svg.append(text(left - 6, y(elo) + 4, "end", signed(elo)));
  }
  svg.append(line("axis", left, bottom, right, bottom), line("axis", left, top, left, bottom));
  return { x, y };
}

/**
 * Write each name as near to its point as it fits, else its number; whether any is a number.
 * @param {Element} svg
 * @param {Area} area
 * @param {number} room
 * @param {Spent[]} points
 * @param {number[][]} places
 */
function nameCosts(svg, area, room, points, places) {
  const taken = places.map(([px, py]) => /** @type {Box} */ ([px - 6, py - 6, px + 6, py + 6]));
  let numbered = false;
  points.forEach(({ i }, k) => {
    const [px, py] = places[k];
    const number = String(i + 1);
    const tries = room < 500 && AGENTS.length > 8 ? [number] : [AGENTS[i], number];
    const place = tries
      .flatMap((words) => around(px, py, words, words === number ? 70 : 45))
      .find(({ box }) => isFree(box, area, room, taken));
    if (!place) return;
    const { words, box, far } = place;
    taken.push(box);
    numbered ||= words === number;
    const inside = (
      /** @type {number} */ at,
      /** @type {number} */ low,
      /** @type {number} */ up,
    ) => Math.min(Math.max(at, low), up);
    if (far)
      svg.append(
        line("lead", px, py, inside(px, box[0], box[2]), inside(py, box[1] + 2, box[3] - 2)),
      );
    svg.append(nameAt(box[0], (box[1] + box[3]) / 2, words, AGENTS[i]));
  });
  return numbered;
}

/**
 * @param {Box} box
 * @param {Area} area
 * @param {number} room
 * @param {Box[]} taken
 */
function isFree(box, area, room, taken) {
  const [left, top, right, bottom] = box;
  if (left <= area.left || right >= room - 2) return false;
  if (top <= area.top - 12 || bottom >= area.bottom) return false;
  return !taken.some((t) => left < t[2] && t[0] < right && top < t[3] && t[1] < bottom);
}

/**
 * Places for words beside a point, the nearest first.
 * @param {number} px
 * @param {number} py
 * @param {string} words
 * @param {number} most the greatest distance
 */
function around(px, py, words, most) {
  const width = roomOf(words);
  const diagonal = [0.7, -0.7].flatMap((dx) => [-0.7, 0.7].map((dy) => [dx, dy]));
  const ways = [[1, 0], [-1, 0], ...diagonal, [0, -1], [0, 1]];
  const places = [];
  for (let away = 9; away <= most; away += 9)
    for (const [dx, dy] of ways) {
      const left = px + dx * away - (dx < 0 ? width : dx === 0 ? width / 2 : 0);
      const middle = py + dy * (away + 6);
      const box = /** @type {Box} */ ([left, middle - 8, left + width, middle + 8]);
      places.push({ words, box, far: away > 9 });
    }
  return places;
}

function showCosts() {
  if (!RUN.standings.some((row) => row.ms > 0)) $("unit").value = "nodes";
  for (const card of $("curves").children) card.classList.toggle("whole", !PAIRED);
  $("cost-card").hidden = !MEASURED;
  if (!MEASURED) return;
  figure("cost", drawCosts);
  $("unit").addEventListener("change", () =>
    $("cost").replaceChildren(drawCosts($("cost").clientWidth)),
  );
}

showCosts();
