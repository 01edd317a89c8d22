"use strict";
// Showing the state: board, headline, verdicts, mistakes and thoughts.

/** @param {string} text */
function say(text) {
  $("live").textContent = "";
  setTimeout(() => {
    $("live").textContent = text;
  }, 30);
}

const board = makeBoard($("board"), choose);
const replay = makeReplay({ steps: $("steps"), list: $("game-moves"), graph: $("values") }, look);

/** The names of both sides for the headline; "" where the colour says it. */
function namesInHeadline() {
  if (state.mode === "look") return state.look.names;
  if (state.mode !== "play") return ["", ""];
  const alone = state.players[0] !== state.players[1]; // two people: told apart by their colours
  return state.players.map((player) => (player === HUMAN && !alone ? "" : title(player)));
}

function headline() {
  if (gettingReady()) return "Getting ready";
  const moves = shown();
  const board = boardOf(moves);
  const seat = moves.length % 2;
  const names = namesInHeadline();
  /** @param {number} side */
  const name = (side) => (names[side] ? `${names[side]} (${COLOURS[side]})` : COLOURS[side]);
  /**
   * @param {number} side
   * @param {string} does
   */
  const sentence = (side, does) => `${name(side)} ${does}${names[side] === "You" ? "" : "s"}`;
  if (state.forfeit && live())
    return `${sentence(state.forfeit.by, "forfeit")}: ${state.forfeit.reason}`;
  if (board.winner !== null) return sentence(board.winner, "win");
  if (board.over) return "A draw";
  if (state.mode === "set up") return `${COLOURS[seat]} to move: set up by hand`;
  if (!live() && state.mode === "play")
    return `Looking back at disc ${state.view} of ${state.moves.length}`;
  if (state.mode === "play" && state.players[seat] === HUMAN)
    return names[seat] ? `Your turn (${COLOURS[seat]})` : `${COLOURS[seat]}'s turn`;
  return `${name(seat)} ${searching?.kind === "move" ? "is thinking" : "to move"}`;
}

/**
 * The line below the headline.
 * @param {boolean} over
 */
function detail(over) {
  if (gettingReady()) return "The first start compiles native code, which takes a minute or two.";
  if (searching) {
    if (searching.ahead) return `Waiting for a free process, ${searching.ahead} ahead`;
    const what = searching.kind === "hint" ? "Looking for a hint" : "Searching";
    return searching.seconds ? `${what}, ${searching.seconds.toFixed(1)} s` : "";
  }
  if (hinted?.moves === shown()) return hinted.text;
  if (state.look) return state.look.result;
  return over && state.recorded === "recorded" ? `Recorded in ${offer.record}` : "";
}

function renderStatus() {
  const moves = shown();
  const board = boardOf(moves);
  const seat = board.winner ?? moves.length % 2;
  const over = board.over || Boolean(state.forfeit && live());
  $("status").classList.toggle("thinking", Boolean(searching) || gettingReady());
  $("turn").dataset.disc = board.over && board.winner === null ? "" : seat;
  $("headline").replaceChildren(...named(headline(), namesNow()));
  $("detail").textContent = detail(over);
  const playing = state.mode === "play" && live();
  const held = playing && !over && state.held && state.players[seat] !== HUMAN;
  const goOn = state.moves.length > state.opening.length || !watching() ? "Go on" : "Start";
  $("stop").hidden = watching() || (!searching && !held);
  $("stop").textContent = searching ? "Stop" : goOn;
  $("watch").hidden = !watching();
  $("pause").textContent = searching?.kind === "move" ? "Pause" : goOn;
  $("pause").disabled = over || !live();
  $("again").hidden = !(!playing && !board.over) && !(over && playing);
  $("again").textContent = playing ? "New game" : "Play from here";
}

/**
 * The meaning of an exact score for the side to move, in words.
 * @param {number} score
 * @param {string} moves
 */
function verdict(score, moves) {
  const best = bestPlay(score, moves.length);
  if (!best) return "With best play on both sides: a draw.";
  const { winner, discs } = best;
  const [player, other] = [state.players[winner], state.players[1 - winner]];
  const you = state.mode === "play" && player === HUMAN && other !== HUMAN;
  const wins = you ? `you (${COLOURS[winner]}) win` : `${COLOURS[winner]} wins`;
  return `With best play on both sides: ${wins} in ${plural(discs, "disc")}.`;
}

function renderBoard() {
  const moves = shown();
  const { over: ended } = boardOf(moves);
  const side = moves.length % 2;
  const over = ended || Boolean(state.forfeit && live());
  const scores = state.analysis && known.moves === moves ? known.scores : null;
  board.show({
    moves,
    over,
    scores: state.analysis ? (scores ?? []) : null,
    done: scores !== null && known.done,
    ready: begun && !over && (state.mode !== "play" || state.players[side] === HUMAN),
    hint: hinted?.moves === moves ? hinted.column : null,
    next: state.view < state.moves.length ? DIGITS.indexOf(state.moves[state.view]) : null,
  });
  $("verdict").hidden = !(scores && known.done && !ended);
  if ($("verdict").hidden) return;
  const wins = "a positive score wins, and a greater score wins sooner";
  const about = `The scores are ${COLOURS[side]}'s: ${wins}.`;
  $("verdict").textContent = `${verdict(greatest(scores), moves)} ${about}`;
}

function renderGame() {
  const { moves, view, opening, lines } = state;
  const values =
    state.analysis || reviewing()
      ? range(moves.length + 1).map((discs) => valueAt(moves.slice(0, discs)))
      : null;
  const scores = known.done && known.moves === shown() ? known.scores : null;
  replay.show({ moves, view, opening: opening.length, values, scores });
  renderMistakes(values);
  $("no-moves").hidden = Boolean(moves);
  $("lines").hidden = !lines.length;
  const items = lines.map((line) => {
    const names = `${line.names.join(" – ")} `;
    return itemOf(() => openLine(line), names, element("code", {}, line.moves));
  });
  $("lines")
    .querySelector("ul")
    .replaceChildren(...items);
}

/**
 * An item of a list that is a button.
 * @param {() => void} click
 * @param {...(Node | string)} children
 */
const itemOf = (click, ...children) =>
  element("li", {}, element("button", { class: "do", type: "button", on: { click } }, ...children));

/**
 * After a person's game: each blunder of a person, as a button that plays on from the position
 * before it.
 * @param {(number | null | undefined)[] | null} values
 */
function renderMistakes(values) {
  $("mistakes").hidden = !reviewing();
  const judged = reviewing() && !values.slice(state.opening.length).includes(null);
  const mine = judged ? replay.blunders().filter((ply) => state.players[ply % 2] === HUMAN) : [];
  let words = "Judging your moves …";
  if (mine.length) words = `${plural(mine.length, "mistake")}: try again.`;
  else if (judged) words = "No mistake: you gave away neither a win nor a draw.";
  tell($("mistakes").firstElementChild, words);
  const items = mine.map((ply) => {
    const again = () => {
      branch(state.moves.slice(0, ply));
      next();
      toBoard();
    };
    return itemOf(again, `Disc ${ply + 1}: ${replay.told(ply)}`);
  });
  $("mistakes").lastElementChild.replaceChildren(...items);
}

/** The agents' last search results before the position on the board. */
function renderThoughts() {
  const moves = shown();
  const rows = [];
  for (const seat of [0, 1]) {
    const last = moves.length - 1 - ((moves.length - 1 - seat) & 1);
    const seen = last >= 0 && thoughts.get(moves.slice(0, last));
    if (!seen) continue;
    const parts = [`column ${seen.column}`];
    if (seen.value !== undefined) parts.push(`value ${rounded(seen.value)}`, `depth ${seen.depth}`);
    if (seen.nodes) parts.push(`${plural(seen.nodes, "position")}`);
    if (seen.line) parts.push(`line ${lineOf(seen.line)}`);
    rows.push(
      element(
        "p",
        { class: "thought" },
        element("strong", {}, ...named(`${COLOURS[seat]}, ${seen.agent}: `, [seen.agent])),
        parts.join(", "),
      ),
    );
  }
  $("thoughts").replaceChildren(...rows);
}

function render() {
  $("panel").inert = !begun;
  renderBoard();
  renderStatus();
  renderGame();
  renderThoughts();
  $("banner").hidden = !trouble;
  $("trouble").textContent = trouble ?? "";
  $("takeback").disabled =
    beforeTurn() === null || state.mode === "look" || Boolean(state.recorded);
  $("hint").disabled = boardOf(shown()).over || searching?.kind === "move";
  $("scores").setAttribute("aria-checked", String(state.analysis));
  $("recording").setAttribute("aria-checked", String(state.recording));
  document.title = `${headline()} · Connect Four`;
}
