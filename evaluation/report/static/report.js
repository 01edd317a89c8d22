"use strict";
// The page of a run: R is its content, from evaluation/report/page.py.
const R = JSON.parse($("data").textContent);
const N = R.players.length;
const pen = document.createElement("canvas").getContext("2d");
pen.font = "12px system-ui, sans-serif";
const wide = words => pen.measureText(words).width;
const label = (i) => R.labels[i]; // one label an agent, in every figure and table
const from_to = (low, high) => `${signed(low)} to ${signed(high)}`;

// Figures are drawn in screen pixels, so that texts keep their size, and again after a resize.
const FIGURES = [];
function figure(id, draw) {
  const again = () => { const room = $(id).clientWidth; if (room) $(id).replaceChildren(...[draw(room)].flat()); };
  FIGURES.push(again);
  again();
}
let known = innerWidth;
addEventListener("resize", () => { if (innerWidth !== known) { known = innerWidth; FIGURES.forEach(again => again()); } });

// -- head ----------------------------------------------------------------------------
document.title = R.title;
$("run").textContent = R.title + (R.date ? `, ${R.date}` : "");
const NAMES = innerWidth < 544 ? R.labels : R.players; // in sentences: labels where whole names do not fit
function whole(words) { // no break inside a name, an option or a quantity
  const options = words.match(/--\w+ \d+/g) ?? [];
  return named(words.replace(/(\d) (Elo|%)/g, "$1\u00a0$2"), [...R.players, ...options], [...NAMES, ...options]);
}
$("title").replaceChildren(...whole(R.headline[0]));
$("sure").replaceChildren(...whole(R.headline.slice(1).join(" ")));
$("summary").textContent = `${plural(R.games.length, "game")} of ${plural(N, "agent")} over ${plural(R.openings.length, "opening")}; ` +
  (R.seed === null ? "" : `seed ${R.seed}; `) + `digest ${R.digest}` + (R.version ? `; c4env ${R.version}` : "");
$("command").hidden = !R.command;
$("command").open = R.command && R.command.length < 120;
$("command").querySelector("code").replaceChildren(...(R.command || "").split(" ").flatMap(word => [element("span", {class: "unbroken"}, word), " "]));
$("method_note").replaceChildren(...whole(R.method_note));
$("notes").replaceChildren(...whole(R.notes.join(" ")));

// -- axes ----------------------------------------------------------------------------
// A line for each agent over a common axis: number and name, the drawing of `row`, and words on the right.
function rows(room, name, low, high, format, unit, words, row) {
  const names = R.players.map((_, i) => label(i)), step = 24, top = 6, bottom = top + step * N;
  const left = 30 + Math.max(...names.map(wide)), end = room - 16 - Math.max(...R.players.map((_, i) => wide(words(i))));
  const svg = picture(room, bottom + 40, name), x = v => left + 14 + (v - low) / (high - low) * (end - left - 20);
  for (const v of ticks(low, high, Math.max(1.5, (end - left) / 40)))
    svg.append(line("grid", x(v), top, x(v), bottom + 4), text(x(v), bottom + 18, "middle", format(v)));
  svg.append(line("axis", left + 6, bottom + 4, end, bottom + 4), text((left + end) / 2, bottom + 34, "middle", unit));
  R.players.forEach((player, i) => {
    const y = top + step * (i + .5);
    svg.append(text(18, y + 4, "end", i + 1), titled(text(25, y + 4, "start", names[i], "name"), player), text(room - 4, y + 4, "end", words(i), "name"));
    svg.append(...row(i, x, y));
  });
  return svg;
}

// -- ratings -------------------------------------------------------------------------
{
  const low = Math.min(...R.ratings.map(r => r[1])), high = Math.max(...R.ratings.map(r => r[2]), low + 50);
  const ranks = i => { const [, , , best, worst] = R.ratings[i]; return best === worst ? `rank ${best}` : `rank ${best}–${worst}`; };
  figure("ratings", room => rows(room, "Elo of each agent with its interval", low, high, signed, "Elo",
    i => signed(R.ratings[i][0]) + (room < 420 ? "" : `, ${ranks(i)}`), (i, x, y) => {
      const [elo, from, to, , , , score, games] = R.ratings[i];
      return [line("span", x(from), y, x(to), y), titled(drawn("circle", {cx: x(elo), cy: y, r: 5, class: "point"}),
        `${R.players[i]}: ${signed(elo)} Elo (${from_to(from, to)}), ${ranks(i)}, ${percent(score)} of ${games} games`)];
    }));
}

// -- moving first --------------------------------------------------------------------
{
  const totals = R.players.map((_, i) => byColour(R, i));
  figure("colours", room => rows(room, "Score of each agent moving first, and moving second", 0, 1, percent, "share of the points",
    i => totals[i].map(share).map(v => v === null ? "–" : percent(v)).join(" | "), (i, x, y) => {
      const [first, second] = totals[i], [a, b] = totals[i].map(share), shapes = [];
      if (a !== null && b !== null) shapes.push(line("lead", x(a), y, x(b), y));
      if (b !== null) shapes.push(titled(drawn("rect", {x: x(b) - 4.5, y: y - 4.5, width: 9, height: 9, class: "square"}), `${R.players[i]} moving second: ${second.join("/")}`));
      if (a !== null) shapes.push(titled(drawn("circle", {cx: x(a), cy: y, r: 5, class: "point"}), `${R.players[i]} moving first: ${first.join("/")}`));
      return shapes;
    }));
  const [value, low, high] = R.first_move;
  $("firstmove").textContent = `Blue circle and first number: moving first; orange square and second number: moving second. ` +
    `Moving first, which means ${R.first}, is worth ${signed(value)} Elo (${from_to(low, high)}).`;
}

// -- the course of a test ------------------------------------------------------------
if (R.course) {
  const {llr, bounds: [lower, upper], question} = R.course;
  $("question").textContent = `Log likelihood ratio (LLR) after each pair of games: the test ends where it leaves the bounds, above with H1 and below with H0: ${question}.`;
  figure("course", room => {
    const height = 260, left = 44, right = room - 14, bottom = height - 40, high = Math.max(upper, ...llr) * 1.12, low = Math.min(lower, ...llr) * 1.12;
    const x = n => left + n / Math.max(llr.length, 1) * (right - left), y = v => 10 + (high - v) / (high - low) * (bottom - 10);
    const svg = picture(room, height, `Log likelihood ratio after each of ${llr.length} pairs, between ${fixed(lower, 2)} and ${fixed(upper, 2)}`);
    for (const v of ticks(low, high, 6)) svg.append(line("grid", left, y(v), right, y(v)), text(left - 6, y(v) + 4, "end", signed(v, Number.isInteger(v) ? 0 : 1)));
    for (const n of ticks(0, llr.length, Math.min(room / 70, llr.length)))
      svg.append(line("axis", x(n), bottom, x(n), bottom + 4), text(x(n), bottom + 17, "middle", n));
    svg.append(line("axis", left, bottom, right, bottom), text((left + right) / 2, height - 6, "middle", "pairs of games"));
    for (const [v, words, up] of [[upper, `H1 accepted from ${signed(upper, 2)}`, -6], [lower, `H0 accepted from ${signed(lower, 2)}`, 15]])
      svg.append(line("bound", left, y(v), right, y(v)), text(left + 6, y(v) + up, "start", words, "name"));
    const points = [[0, 0], ...llr.map((v, i) => [i + 1, v])].map(([n, v]) => [x(n), y(v)]);
    svg.append(drawn("polyline", {points: points.map(p => p.join(",")).join(" "), class: "line"}));
    if (llr.length) svg.append(titled(drawn("circle", {cx: points.at(-1)[0], cy: points.at(-1)[1], r: 5, class: "point"}), `${signed(llr.at(-1), 2)} after ${llr.length} pairs`));
    return svg;
  });
} else $("course-card").hidden = true;

// -- strength against cost -----------------------------------------------------------
const PAIRED = N <= 8 && R.quality !== null; // this card and the blunders' stand side by side
const PANEL = N <= 2 ? [130, N] : N <= 4 ? [130, 2] : [100, Math.ceil(N / 2)]; // height and rows of the panels there
function cost(room) {
  const unit = Number($("unit").value), top = 24, left = 52, right = room - 16;
  const height = PAIRED && innerWidth > 928 ? Math.max(300, PANEL[1] * (PANEL[0] + 32) - 10) : Math.max(320, Math.min(460, 200 + 16 * N)), bottom = height - 42;
  const points = R.players.map((name, i) => [i, R.cost[i][unit], R.ratings[i][0]]).filter(p => p[1] > 0);
  const svg = picture(room, height, "Elo of each agent against what a move costs");
  if (!points.length) { svg.append(text(20, 40, "start", "nothing was measured")); return svg; }
  const logs = points.map(p => Math.log10(p[1])), elos = points.map(p => p[2]);
  const from = Math.floor(Math.min(...logs)), to = Math.max(Math.ceil(Math.max(...logs)), from + 1);
  const margin = Math.max(30, (Math.max(...elos) - Math.min(...elos)) / 12), low = Math.min(...elos) - margin, high = Math.max(...elos) + margin;
  const x = v => left + (Math.log10(v) - from) / (to - from) * (right - left - 16);
  const y = elo => top + (high - elo) / (high - low) * (bottom - top);
  const named = p => unit === 0 ? (p >= 6 ? `${10 ** (p - 6)}M` : p >= 3 ? `${10 ** (p - 3)}k` : `${10 ** p}`)
    : p >= 0 ? `${10 ** p} s` : p >= -3 ? `${10 ** (p + 3)} ms` : `${10 ** (p + 6)} µs`;
  for (let p = from; p <= to; p++)
    svg.append(line("grid", x(10 ** p), top, x(10 ** p), bottom), text(x(10 ** p), bottom + 17, "middle", named(p)));
  for (const elo of ticks(low, high, 6))
    svg.append(line("grid", left, y(elo), right, y(elo)), text(left - 6, y(elo) + 4, "end", signed(elo)));
  svg.append(line("axis", left, bottom, right, bottom), line("axis", left, top, left, bottom), text((left + right) / 2, height - 6, "middle", unit ? "seconds a move" : "nodes a move"), text(4, 12, "start", "Elo"));
  const dots = points.map(([, v, elo]) => [x(v), y(elo)]), taken = dots.map(([px, py]) => [px - 6, py - 6, px + 6, py + 6]);
  let numbered = false;
  points.forEach(([i, v, elo], k) => {
    const [px, py] = dots[k], full = label(i);
    // The name as near to the point as it fits; otherwise the number.
    const found = (room < 500 && N > 8 ? [String(i + 1)] : [full, String(i + 1)]).flatMap(words => around(px, py, wide(words), words === full ? 45 : 70).map(at => [words, at]))
      .find(([, [box]]) => box[0] > left && box[2] < room - 2 && box[1] > top - 12 && box[3] < bottom && !taken.some(t => box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3]));
    if (found) {
      const [words, [box, far]] = found;
      taken.push(box);
      numbered ||= words !== full;
      if (far) svg.append(line("lead", px, py, Math.min(Math.max(px, box[0]), box[2]), Math.min(Math.max(py, box[1] + 2), box[3] - 2)));
      svg.append(text(box[0], box[3] - 4, "start", words, "name"));
    }
    svg.append(titled(drawn("circle", {cx: px, cy: py, r: 5, class: "point"}), `${i + 1} ${R.players[i]}: ${v.toPrecision(3)} ${unit ? "seconds" : "nodes"} a move, ${signed(elo)} Elo`));
  });
  $("costs").textContent = numbered ? "Numbers are those of the other figures." : "";
  return svg;
}
function around(px, py, width, most) { // places for a text beside a point, the nearest first
  const places = [];
  for (let away = 9; away <= most; away += 9)
    for (const [dx, dy] of [[1, 0], [-1, 0], [.7, -.7], [.7, .7], [-.7, -.7], [-.7, .7], [0, -1], [0, 1]]) {
      const left = px + dx * away - (dx < 0 ? width : dx === 0 ? width / 2 : 0), middle = py + dy * (away + 6);
      places.push([[left, middle - 8, left + width, middle + 8], away > 9]);
    }
  return places;
}
if (!R.cost.some(c => c[1] > 0)) $("unit").value = "0";
for (const card of $("curves").children) card.classList.toggle("whole", !PAIRED);
figure("cost", cost);
$("unit").addEventListener("change", () => $("cost").replaceChildren(cost($("cost").clientWidth)));

// -- win table -----------------------------------------------------------------------
const cross = winTable($("cross"), { ...R, elo: R.ratings.map((r) => r[0]) }, (i) => label(i), showPair,
  (name) => name.toLowerCase().includes($("filter").value.trim().toLowerCase()));
$("filter").addEventListener("input", cross);
FIGURES.push(cross);

// Each pair in words, where few agents leave room for it.
if (N <= 4) for (const i of range(N)) for (const j of range(N).slice(i + 1)) {
  const games = range(R.games.length).filter(n => String([...R.games[n].slice(0, 2)].sort()) === String([i, j]));
  if (!games.length) continue;
  const first = R.cells[i][j], second = [...R.cells[j][i]].reverse(), leads = R.openings.map(() => null), blunders = [0, 0];
  for (const n of games) {
    const [one, , opening, , winner] = R.games[n], values = valuesOf(n);
    leads[opening] += winner === null ? 0 : (winner === 0) === (one === i) ? 1 : -1;
    for (const at of values ? range(movesOf(n).length).slice(begins(n)) : [])
      blunders[Number((at % 2 === 0) !== (one === i))] += verdictOf(values[at], values[at + 1]) === "blunder";
  }
  const points = added([first, second]), met = leads.filter(lead => lead !== null);
  $("pairs").append(element("li", {}, ...whole(`${R.players[i]} scores ${fixed(games.length * share(points), 1)} of ${plural(games.length, "point")} (${percent(share(points))}) against ${R.players[j]}: ` +
    `${first.join("/")} moving first, ${second.join("/")} moving second (wins/draws/losses). It is ahead over ${met.filter(lead => lead > 0).length} of ${plural(met.length, "opening")} and behind over ${met.filter(lead => lead < 0).length}.` +
    (R.scores ? ` Blunders a game: ${blunders.map(count => fixed(count / games.length, 1)).join(" against ")}.` : ""))));
}
$("pairs").hidden = !$("pairs").children.length;

// -- moves against exact play --------------------------------------------------------
if (R.quality) {
  const { by_ply: shown, few, top: high } = R.quality;
  $("few").textContent = few;
  const panels = R.players.map((name, i) => {
    const drawing = element("div", {id: `panel-${i}`});
    $("blunders").append(element("figure", {}, element("figcaption", {title: name}, element("span", {class: "place"}, String(i + 1)), " ", label(i)), drawing));
    return drawing;
  });
  if (N <= 8) $("blunders").classList.add(N <= 2 ? "two" : "few");
  panels.forEach((drawing, i) => figure(drawing.id, room => {
    const height = PANEL[0], left = 40, bottom = height - 20;
    const svg = picture(room, height, `Blunders of ${R.players[i]} per critical move, by discs on the board`);
    const x = ply => left + ply / 42 * (room - left - 10), y = v => 12 + (high - v) / high * (bottom - 12);
    for (const v of [0, high / 2, high]) svg.append(line("grid", left, y(v), room - 4, y(v)), text(left - 5, y(v) + 4, "end", percent(v)));
    for (const ply of [0, 14, 28, 42]) svg.append(line("axis", x(ply), bottom, x(ply), bottom + 3), text(x(ply), bottom + 16, "middle", ply));
    svg.append(line("axis", left, bottom, room - 4, bottom));
    const curve = k => shown.filter(r => r[0] === k).map(r => [x((r[1] + r[2] + 1) / 2), y(r[4]), r]);
    const path = (k, kind) => drawn("polyline", {points: curve(k).map(p => p.slice(0, 2).join(",")).join(" "), class: kind});
    svg.append(...R.players.map((_, k) => k).filter(k => k !== i).map(k => path(k, "others")), path(i, "line"));
    for (const [px, py, r] of curve(i))
      svg.append(titled(drawn("circle", {cx: px, cy: py, r: 3, class: r[3] < few ? "point few" : "point"}), `${R.players[i]}, plies ${r[1]} to ${r[2]}: ${percent(r[4], 1)} of ${r[3]} critical moves` + (r[5] === null ? "" : ` (${percent(r[5], 1)} to ${percent(r[6], 1)})`)));
    return svg;
  }));
  const range = (v, low, high, show) => v === null ? "" : [show(v), ...(low === null ? [] : [element("br"), element("span", {class: "soft"}, `(${show(low)}–${show(high)})`)])];
  const share1 = v => percent(v, 1), two = v => fixed(v, 2);
  $("quality").append(
    element("thead", {}, element("tr", {}, ...["agent", "moves", "critical", "blunders", "optimal", "keep the value", "blunders per critical", "mean loss"].map(t => element("th", {scope: "col"}, t)))),
    element("tbody", {}, ...R.quality.overall.map((q, i) => element("tr", {}, element("th", {scope: "row", title: R.players[i]}, label(i)), ...(!q ? [] : [
      ...q.slice(0, 3).map(n => element("td", {}, String(n))),
      ...[3, 6, 9].map(k => element("td", {}, ...range(q[k], q[k + 1], q[k + 2], share1))), element("td", {}, ...range(q[12], q[13], q[14], two))])))));
  function costly([n, at, times, cost, best, own, column, kind]) {
    const moves = movesOf(n).slice(0, at), drawing = element("div", {"aria-hidden": "true"});
    makeBoard(drawing).show({moves, next: column});
    return element("li", {}, drawing, element("div", {},
      element("p", {}, `${kind}, ${plural(cost, "point")}, ${plural(times, "time")}: column ${column + 1} ${wordsOf(own, at)}; best ${bestColumns(scoresAt(n, at))}: ${wordsOf(best, at)}.`),
      element("a", {href: `#game=${n + 1}&ply=${at}`, on: {click: () => { open_(n, at); bringIntoSight($("replay")); }}}, `Game ${n + 1}, disc ${at + 1}`),
      element("code", {}, `c4 solve ${moves || "-"}`)));
  }
  function causes() {
    const [parts, moves] = R.mistakes[Number($("whose").value)];
    $("parts").replaceChildren(
      element("thead", {}, element("tr", {}, ...["where", "games", "score", "critical", "blunders", "points given away", "blunder rate", "of opponents"].map(words => element("th", {scope: "col"}, words)))),
      element("tbody", {}, ...parts.map(([where, games, score, critical, blunders, given, ...rates]) => element("tr", {}, element("th", {scope: "row"}, where),
        ...[games ?? "", percent(score, 1), critical, blunders, fixed(given, 1), ...rates.map(rate => percent(rate, 1))].map(words => element("td", {}, String(words)))))));
    $("costly").replaceChildren(...moves.map(costly));
  }
  $("whose").append(...R.players.map((name, i) => element("option", {value: i, title: name}, label(i))));
  $("whose").addEventListener("change", causes);
  causes();
} else { $("blunders-card").hidden = true; $("quality-card").hidden = true; }

// -- games ---------------------------------------------------------------------------
const PAGE = 100, WEB = "http://127.0.0.1:8044/"; // where c4 web answers
let chosen = [], shownRows = 0, game = 0, ply = 0;
const board = makeBoard($("board"));
const replay = makeReplay({steps: $("steps"), list: $("game-moves"), graph: $("values")}, look);
for (const id of ["one", "two"]) {
  $(id).append(element("option", {value: ""}, "any"), ...R.players.map((name, i) => element("option", {value: i, title: name}, label(i))));
  $(id).addEventListener("change", list);
}
$("result").addEventListener("change", list);
function showPair(i, j) {
  $("one").value = i; $("two").value = j; $("result").value = "";
  list();
  if (chosen.length) open_(chosen[0]);
  $("h-games").scrollIntoView({block: "start"});
}
function list() {
  const one = $("one").value, two = $("two").value, wanted = $("result").value;
  chosen = range(R.games.length).filter(n => {
    const g = R.games[n];
    return (one === "" || g[0] === Number(one)) && (two === "" || g[1] === Number(two)) &&
      (wanted === "" || (wanted === "forfeit" ? forfeited(g[5]) : wanted === "draw" ? g[4] === null : g[4] === Number(wanted)));
  });
  $("count").textContent = plural(chosen.length, "game");
  $("list").tBodies[0].replaceChildren();
  shownRows = 0;
  more();
}
function more() {
  const rows = chosen.slice(shownRows, shownRows + PAGE).map(n => {
    const g = R.games[n], name = i => element("td", {class: "left", title: R.players[i]}, label(i));
    return element("tr", {"data-game": n, on: {click: () => { open_(n); bringIntoSight($("replay")); }}},
      element("td", {}, element("button", {"aria-label": `replay game ${n + 1}`}, String(n + 1))), element("td", {class: "left"}, resultOf(g[4], g[5])), name(g[0]), name(g[1]),
      element("td", {class: "wide"}, R.openings[g[2]] || "–"), element("td", {class: "wide"}, String(movesOf(n).length)));
  });
  $("list").tBodies[0].append(...rows);
  shownRows += rows.length;
  $("more").hidden = shownRows >= chosen.length;
  mark();
}
$("more").addEventListener("click", () => { const next = shownRows; more(); $("list").tBodies[0].rows[next].querySelector("button").focus(); });
function mark() {
  for (const row of $("list").tBodies[0].rows) row.setAttribute("aria-current", String(Number(row.dataset.game) === game));
}
function movesOf(n) { return R.openings[R.games[n][2]] + R.games[n][3]; }
function begins(n) { return R.openings[R.games[n][2]].length; }
function scoresAt(n, at) { // of the seven columns before move number `at`, or null
  if (!R.scores || at < begins(n)) return null;
  const code = R.scores[n].slice(7 * (at - begins(n)), 7 * (at - begins(n)) + 7);
  return code.length < 7 ? null : [...code].map(c => c === "." ? null : (c >= "a" ? c.charCodeAt(0) - 97 : c.charCodeAt(0) - 39) - 22);
}
function valuesOf(n) { // of the positions from the opening on, for Red; null without scores
  const moves = movesOf(n);
  return R.scores && range(moves.length + 1).map(at => {
    const scores = scoresAt(n, at);
    return at < begins(n) ? undefined : scores ? forRed(greatest(scores), at) : valueOfEnd(moves);
  });
}
function mostTelling() { // the game and ply of the strongest agent's most costly blunder, else the first game's beginning
  let [found, most] = [[0, begins(0)], 0];
  R.games.forEach((g, n) => {
    if (g[0] && g[1]) return; // neither is the strongest
    const values = valuesOf(n);
    for (let at = begins(n); values && at < movesOf(n).length; at++) {
      const cost = Math.abs(values[at] - values[at + 1]);
      if (g[at % 2] === 0 && cost > most && verdictOf(values[at], values[at + 1]) === "blunder") [found, most] = [[n, at], cost];
    }
  });
  return found;
}

function open_(n, at = begins(n)) { game = n; mark(); look(at); }
function look(at) {
  ply = at;
  history.replaceState(null, "", `#game=${game + 1}&ply=${ply}`);
  draw();
}
function draw() {
  const g = R.games[game], moves = movesOf(game), scores = scoresAt(game, ply), players = [R.players[g[0]], R.players[g[1]]];
  board.show({moves: moves.slice(0, ply), scores, next: ply < moves.length ? Number(moves[ply]) - 1 : null});
  replay.show({moves, view: ply, opening: begins(game), values: valuesOf(game), scores});
  const name = seat => element("span", {class: "unbroken", title: players[seat]}, disc(seat), " ", NAMES[g[seat]]);
  $("who").replaceChildren(`Game ${game + 1}, ${resultOf(g[4], g[5])}: `, name(0), " against ", name(1));
  $("play").href = `${WEB}#moves=${moves.slice(0, ply)}&red=${encodeURIComponent(ply % 2 ? players[0] : "human")}&yellow=${encodeURIComponent(ply % 2 ? "human" : players[1])}`;
  let said = ply < begins(game) ? "In the opening." : "";
  if (scores && ply < moves.length) said = `Exact scores for ${players[ply % 2]}, to move; it played ${moves[ply]}.`;
  else if (ply === moves.length) said = forfeited(g[5]) ? `Forfeit: ${g[6] || g[5]}` : g[4] === null ? "A draw." : `${players[g[4]]} wins.`;
  $("said").replaceChildren(...whole(said));
  talk(moves.length > ply ? players[ply % 2] : g[4] === null ? "" : players[1 - g[4]]);
}
function talk(player) { // what a language model was asked and answered for the move at `ply`
  const said = (R.talk[game] || []).filter(t => t[0] === ply), parts = [];
  for (const [, asked, answer, column, problem, tokens, seconds] of said) {
    for (const [role, text] of asked) parts.push(element("h3", {}, `asked, as ${role}`), element("pre", {}, text));
    const cost = [`${seconds.toPrecision(2)} s`, ...(tokens ? [`${tokens[0]} and ${tokens[1]} tokens`] : [])].join(", ");
    parts.push(element("h3", {}, `${player} answered (${cost}): ${column === null ? "no legal move: " + problem : "column " + column}`), element("pre", {}, answer));
  }
  $("talk").replaceChildren(...parts);
  $("talk").hidden = !parts.length;
}

addEventListener("keydown", event => { // arrows step wherever the focus is, except where they have work already
  const focus = document.activeElement, all = $("replay").contains(focus) || event.key.startsWith("Arrow");
  if (event.ctrlKey || event.metaKey || event.altKey || !all || focus.matches("input, select, .scroll:not(.tall)")) return;
  if (replay.key(event)) event.preventDefault();
});

// Show the game and ply of an address such as #game=156&ply=9; returns whether the game exists.
function openAddress() {
  const fields = new URLSearchParams(location.hash.slice(1)), n = Number(fields.get("game")) - 1;
  if (!R.games[n]) return false;
  const at = fields.has("ply") ? Number(fields.get("ply")) : begins(n);
  [game, ply] = [n, Math.max(0, Math.min(Math.trunc(at) || 0, movesOf(n).length))];
  mark();
  draw();
  bringIntoSight($("replay"));
  return true;
}
addEventListener("hashchange", openAddress);
list();
if (R.games.length && !openAddress()) { [game, ply] = mostTelling(); mark(); draw(); }
