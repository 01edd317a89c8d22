"use strict";
// Replay a game: buttons, the list of moves with slips and blunders, the graph of values.
// `look` is called with the number of discs to show; `steps`, `list` and `graph` hold the parts.

function makeReplay({ steps, list, graph }, look) {
  let game = { moves: "", view: 0, opening: 0, values: null, scores: null };
  const verdict = (ply) => (ply < game.opening || ply >= game.moves.length || !game.values ? "" : verdictOf(game.values[ply], game.values[ply + 1]));
  const blunders = () => range(game.moves.length).filter((ply) => verdict(ply) === "blunder");
  const places = {  // the number of discs that a button leads to, or undefined
    first: ["«", "To the beginning", () => (game.view ? 0 : undefined)],
    back: ["‹", "One disc back", () => (game.view ? game.view - 1 : undefined)],
    forth: ["›", "One disc forth", () => (game.view < game.moves.length ? game.view + 1 : undefined)],
    last: ["»", "To the last disc", () => (game.view < game.moves.length ? game.moves.length : undefined)],
    blunder: ["Next blunder", null, () => blunders().find((ply) => ply > game.view) ?? blunders().find((ply) => ply < game.view)],
  };
  // The blunder or slip that the disc after `ply` discs is, in words, or ""; `scores` of the columns, if known.
  function told(ply, scores = null) {
    const kind = verdict(ply), best = kind && forRed(game.values[ply], ply), own = kind && forRed(game.values[ply + 1], ply);
    const others = scores ? `best ${bestColumns(scores)}:` : "the best column";
    return kind && `column ${game.moves[ply]} ${wordsOf(own, ply)}; ${others} ${wordsOf(best, ply)}`;
  }
  function go(where) {
    const ply = places[where][2]();
    if (ply !== undefined) look(ply);
    return ply !== undefined;
  }
  const judged = element("p", { class: "soft", id: "judged", role: "status" });
  const buttons = Object.entries(places).map(([id, [sign, words]]) =>
    element("button", { id, class: "do", type: "button", "aria-label": words, on: { click: () => go(id) } }, sign));
  const moves = element("ol", { class: "moves", id: "moves" }), marks = element("p", { class: "soft marks", id: "marks" },
    element("b", { class: "slip" }, "slip"), ": same result, but a win later or a loss sooner. ",
    element("b", { class: "blunder" }, "blunder"), ": gives away a win or a draw.");
  const output = element("output", { id: "ply" }), drawing = drawn("svg", { class: "graph", id: "graph", viewBox: "0 0 336 112", role: "img" });
  const worth = element("p", { class: "soft", id: "worth" });
  steps.append(...buttons.slice(0, 2), output, ...buttons.slice(2));
  list.append(judged, moves, marks);
  graph.append(drawing, worth);
  drawing.addEventListener("click", (event) => {
    const box = drawing.getBoundingClientRect(), edge = 10, wide = 336;
    const ply = Math.round(((event.clientX - box.left) / box.width * wide - edge) / (wide - 2 * edge) * game.moves.length);
    look(Math.max(0, Math.min(game.moves.length, ply)));
  });

  // `values` has the value for Red of the positions after 0, 1, ... discs: null while unknown, undefined if not
  // wanted; or is null without any. `scores` are those of the columns on the board, if known.
  function show(now) {
    game = now;
    const kind = verdict(game.view), held = moves.contains(document.activeElement);
    tell(judged, kind && `A ${kind}: ${told(game.view, game.scores)}.`);
    output.textContent = `disc ${game.view} of ${game.moves.length}`;
    for (const button of buttons) button.setAttribute("aria-disabled", String(places[button.id][2]() === undefined));
    buttons.at(-1).hidden = graph.hidden = !game.values;
    marks.hidden = !range(game.moves.length).some(verdict);
    moves.replaceChildren(...[...game.moves].map((column, ply) => {
      const button = element("button", {
        type: "button", class: verdict(ply), "aria-current": ply + 1 === game.view ? "step" : null,
        "aria-label": `Disc ${ply + 1}, ${COLOURS[ply % 2]}: column ${column}${verdict(ply) && `, a ${verdict(ply)}`}`,
        on: { click: () => look(ply + 1) },
      }, disc(ply % 2), column);
      return element("li", { class: ply < game.opening ? "set-up" : null }, button);
    }));
    if (held) moves.children[Math.max(game.view, 1) - 1]?.firstChild.focus();  // the button it was on is gone
    if (game.values) showGraph();
  }

  // Above the line Red wins, below it Yellow.
  function showGraph() {
    const wide = 336, high = 112, edge = 10, count = game.moves.length;
    const x = (discs) => edge + (discs / Math.max(count, 1)) * (wide - 2 * edge);
    // Every win keeps a distance from the line of draws, an early win a large one.
    const y = (value) => high / 2 - Math.sign(value) * (10 + Math.abs(value)) * ((high / 2 - edge) / 28);
    const asked = game.values.map((value, discs) => [discs, value]).filter(([, value]) => value !== undefined);
    const known = asked.filter(([, value]) => value !== null);
    const pieces = [];  // a value that is not known yet breaks the line
    known.forEach(([discs, value], i) => {
      if (!i || known[i - 1][0] !== discs - 1) pieces.push([]);
      pieces.at(-1).push(`${x(discs)},${y(value)}`);
    });
    drawing.replaceChildren(
      drawn("text", { x: edge, y: 13 }, "Red wins"), drawn("text", { x: edge, y: high - 5 }, "Yellow wins"),
      drawn("line", { class: "zero", x1: edge, x2: wide - edge, y1: high / 2, y2: high / 2 }),
      drawn("line", { class: "here", x1: x(game.view), x2: x(game.view), y1: 0, y2: high }),
      ...pieces.map((piece) => drawn("polyline", { class: "value", points: piece.join(" ") })),
      ...known.map(([discs, value]) => drawn("circle", { class: "dot", cx: x(discs), cy: y(value), r: 2.5 })),
    );
    const words = (value) => (value > 0 ? "Red wins" : value < 0 ? "Yellow wins" : "a draw");
    const changes = known.filter(([, value], i) => i && Math.sign(value) !== Math.sign(known[i - 1][1]));
    const told = changes.map(([discs, value]) => `${COLOURS[(discs - 1) % 2]}'s disc ${discs} (${words(value)})`);
    drawing.setAttribute("aria-label", `Exact value of ${known.length} positions of the game`);
    let all = told.length ? `The result of best play changes at ${told.join(", ")}.` : "";
    if (known.length < asked.length) all = `Best play is known from ${known.length} of ${asked.length} positions so far.`;
    else if (known.length && !all) all = `Best play ends the same from every position: ${words(known[0][1])}.`;
    worth.textContent = all;
  }

  // Take the step of an arrow key; returns whether there was one.
  const key = (event) => {
    const where = { ArrowLeft: "back", ArrowRight: "forth", Home: "first", End: "last" }[event.key];
    return where !== undefined && go(where);
  };
  return { show, key, blunders, told };
}
