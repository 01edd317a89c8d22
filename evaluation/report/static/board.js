"use strict";
// The board of both pages. With `choose`, its columns are buttons that call it.

function makeBoard(root, choose = null) {
  const columns = range(COLUMNS).map((column) => {
    const cells = range(ROWS).map(() => element("span", { class: "cell" }));
    const ghost = element("span", { class: "disc" }), score = element("span", { class: "score" });
    const button = element(choose ? "button" : "div",
      choose ? { class: "column", type: "button", on: { click: () => choose(column) } } : { class: "column", role: "img" },
      element("span", { class: "ghost" }, ghost), ...[...cells].reverse(),
      element("span", { class: "number", "data-number": DIGITS[column] }), score);
    return { button, cells, ghost, score };
  });
  root.classList.add("board");
  root.append(...columns.map(({ button }) => button));

  // Show the position after `moves`. `scores` has a score for each column, undefined while the search goes
  // on (until `done`); null shows no scores. `next` is the column played from here.
  function show({ moves, scores = null, done = true, ready = false, over = false, hint = null, next = null }) {
    const board = boardOf(moves), side = moves.length % 2, best = scores && greatest(scores);
    root.classList.toggle("ready", ready);
    root.classList.toggle("decided", board.winner !== null);
    root.classList.toggle("with-scores", scores !== null);
    columns.forEach(({ button, cells, ghost, score }, column) => {
      const discs = board.grid[column], full = discs.length === ROWS;
      cells.forEach((cell, height) => {
        let there = cell.querySelector(".disc");
        if (height >= discs.length) { there?.remove(); return; }
        const last = column === board.last && height === discs.length - 1;
        if (!there || there.dataset.disc !== String(discs[height])) {
          there?.remove();
          there = cell.appendChild(element("span", { class: "disc", "data-disc": discs[height] }));
          if (last) {
            there.style.setProperty("--rows", ROWS - height + 0.2);
            there.style.setProperty("--time", `${Math.round(210 * Math.sqrt(ROWS - height))}ms`);
            there.classList.add("drop");
          }
        }
        there.classList.toggle("last", last);
        there.classList.toggle("four", board.four.includes(`${column},${height}`));
      });
      const value = scores?.[column], found = value !== null && value !== undefined;
      const kind = !found ? (scores && !done && !full && !over ? "sought" : "none") : value > 0 ? "win" : value < 0 ? "loss" : "even";
      const finest = found && done && value === best;
      (cells[discs.length] ?? button).append(score);  // where its disc would fall
      score.textContent = found ? signed(value) : "";
      score.className = `score ${kind}${finest ? " best" : ""}`;
      button.classList.toggle("hinted", hint === column && !over);
      button.classList.toggle("next", next === column);
      if (choose) button.setAttribute("aria-disabled", String(!ready || full));
      ghost.dataset.disc = over ? "" : side;
      const stack = discs.map((seat) => COLOURS[seat].toLowerCase()).join(", ") || "empty";
      button.setAttribute("aria-label", `Column ${DIGITS[column]}${full ? ", full" : ""}: ${stack}` +
        (found ? `. Score ${signed(value)}${finest ? ", best" : ""}` : "") + (next === column ? ". Played" : ""));
    });
  }
  return { show, columns: columns.map(({ button }) => button) };
}
