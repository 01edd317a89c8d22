"use strict";
// What people do on the page of c4 web.

/** @param {string} text */
function wrong(text) {
  $("wrong").hidden = !text;
  $("wrong").textContent = text;
}

$("paste").addEventListener("submit", async (/** @type {Event} */ event) => {
  event.preventDefault();
  wrong("");
  try {
    const text = $("text").value;
    if (/^[\d\s]*$/.test(text)) boardOf(text.replace(/\s/g, "")); // its errors count columns from 1
    const { moves } = await (await call("/api/position", { text })).json();
    newGame(moves);
    say(`Position set up. ${headline()}.`);
  } catch (error) {
    wrong(error.message);
  }
});
$("hand").addEventListener("click", () => {
  newGame(shown(), "set up");
});
$("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    say("Link copied.");
    $("copy").textContent = "Copied";
  } catch {
    $("copy").textContent = "Copy the address above";
  }
  setTimeout(() => {
    $("copy").textContent = "Copy link";
  }, 1500);
});
/** Go to the board from a button that vanishes. */
function toBoard() {
  board.columns[3].focus({ preventScroll: true });
  bringIntoSight($("game"));
}

/** A new game starts at once, also between two agents. */
function startAnew() {
  begin();
  state.held = false;
  renderPlayers();
  next();
}
$("new").addEventListener("click", startAnew);
$("again").addEventListener("click", () => {
  if (state.mode === "play" && live()) startAnew();
  else {
    branch(shown());
    next();
  }
  toBoard();
});
$("dismiss").addEventListener("click", () => notice([]));
$("pace").replaceChildren(
  ...Object.keys(PACES).map((name) => element("option", { value: name }, name)),
);
$("pace").value = "Normal";
$("swap").addEventListener("click", () => {
  state.players.reverse();
  begin();
  renderPlayers();
  next();
});
$("takeback").addEventListener("click", () => {
  takeBack();
  if ($("takeback").disabled) toBoard();
});
$("hint").addEventListener("click", askHint);
const pauseOrGoOn = () => {
  if (searching) stop();
  else {
    state.held = false;
    next();
  }
};
for (const id of ["stop", "pause"]) $(id).addEventListener("click", pauseOrGoOn);
$("retry").addEventListener("click", settle);
$("scores").addEventListener("click", () => {
  state.analysis = !state.analysis;
  localStorage.setItem("analysis", String(state.analysis));
  next();
});
$("recording").addEventListener("click", () => {
  state.recording = !state.recording;
  localStorage.setItem("recording", String(state.recording));
  next();
});
addEventListener("hashchange", () => {
  if (!begun) return;
  readAddress(false);
  renderPlayers();
  next();
});

/** What keys do. */
const LETTERS = {
  u: takeBack,
  h: () => $("hint").disabled || askHint(),
  a: () => $("scores").click(),
  p: () => watching() && $("pause").click(),
};

/**
 * Act on a key; whether it has a meaning.
 * @param {KeyboardEvent} event
 * @param {HTMLElement} focus
 */
function act(event, focus) {
  const column = DIGITS.split("").indexOf(event.key);
  if (focus.tagName === "SELECT" && column < 0) return false; // its own keys choose in it
  const at = board.columns.indexOf(focus);
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step && at >= 0) board.columns[(at + step + COLUMNS) % COLUMNS].focus();
  else if (replay.key(event)) return true;
  else if (column >= 0) choose(column);
  else if (event.key in LETTERS) LETTERS[/** @type {keyof typeof LETTERS} */ (event.key)]();
  else return false;
  return true;
}

addEventListener("keydown", (event) => {
  if (!begun || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") return stop();
  const focus = /** @type {HTMLElement} */ (document.activeElement);
  if (focus.tagName === "TEXTAREA" || focus.tagName === "INPUT") return;
  if (act(event, focus)) event.preventDefault();
});

const recordInWords = () =>
  `Only if you want it, games that you finish are kept in ${offer.record}: ` +
  "agent, colours, moves, result, and what you were helped with.";

// Ask the server what it offers, then go on; also after a lost connection.
async function settle() {
  trouble = null;
  render();
  setTimeout(() => begun || say(headline()), 1000);
  try {
    let answer;
    do answer = await (await call("/api/settings")).json();
    while (!answer.ready);
    offer = answer;
    if (!begun) readAddress(true);
    begun = true;
    $("consent").hidden = offer.record === null;
    $("record").textContent = offer.record === null ? "Games are not recorded." : recordInWords();
    renderPlayers();
    next();
  } catch (error) {
    inTrouble(error);
  }
}

settle();
