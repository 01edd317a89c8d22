"use strict";
// Choosing players and their options.

/**
 * The name of a spec, and the values of its options.
 * @param {string} spec
 */
function splitSpec(spec) {
  const [name, rest = ""] = spec.split(/:(.*)/s);
  const options = rest.split(",").filter(Boolean);
  const pairs = options.map((part) => part.split(/=(.*)/s));
  return { name, values: /** @type {Record<string, string>} */ (Object.fromEntries(pairs)) };
}

/** @param {string} spec */
const agentOf = (spec) =>
  offer.agents.find((agent) => agent.spec === spec) ??
  offer.agents.find((agent) => agent.spec === splitSpec(spec).name);
const usual = () => offer.levels[1].spec; // the opponent until another is chosen

/**
 * The reason why the server would refuse this agent, in words; null if it would not.
 * @param {string} player
 */
function specTrouble(player) {
  if (player === HUMAN) return null;
  const agent = agentOf(player);
  if (!agent) return `no agent here is called '${player}'`;
  const values = agent.spec === player ? {} : splitSpec(player).values;
  for (const [key, value] of Object.entries(values)) {
    const option = agent.options.find(({ name }) => name === key);
    if (!option) return `'${player}': ${agent.spec} has no option '${key}' here`;
    const expected = expectedOf(option, value);
    if (expected) return `'${player}': expected ${key} ${expected}`;
  }
  return null;
}

/**
 * The values that an option takes, in words; null if it takes this value.
 * @param {Setting} option
 * @param {string} value
 */
function expectedOf({ low = -Infinity, high = Infinity, choices }, value) {
  if (choices.length) return choices.includes(value) ? null : choices.join(", ");
  const fits = value && Number(value) >= low && Number(value) <= high;
  return fits ? null : `from ${low} to ${high}`;
}

function renderPlayers() {
  const looking = state.mode === "look";
  for (const seat of [0, 1]) {
    renderLevels(seat, looking);
    renderOptions(seat);
  }
  $("options").hidden = looking;
  const about = looking
    ? ["To play on yourself, drop a disc or press Play from here."]
    : state.players.filter((player) => player !== HUMAN).map(summaryOf);
  $("about").textContent = [...new Set(about)].join(" ");
}

/** @param {string} player */
const summaryOf = (player) =>
  `${title(player)}: ${(levelOf(player) ?? agentOf(player))?.summary ?? ""}.`;
/**
 * @param {string} value
 * @param {string} words
 */
const optionOf = (value, words = value) => element("option", { value }, words);

/**
 * The levels that a seat offers, and the one that plays.
 * @param {number} seat
 * @param {boolean} looking
 */
function renderLevels(seat, looking) {
  const player = state.players[seat];
  const level = $(`seat${seat}`).querySelector("select");
  const levels = [
    optionOf(HUMAN, "You"),
    ...offer.levels.map(({ name, spec }) => optionOf(spec, name)),
    ...offer.named.map((spec) => optionOf(spec)),
  ];
  level.replaceChildren(...(looking ? [optionOf("", state.look.names[seat])] : levels));
  if (!looking && ![...level.options].some(({ value }) => value === player))
    level.append(optionOf(player));
  level.value = looking ? "" : player;
  level.disabled = looking;
}

/**
 * The agent of a seat and its options.
 * @param {number} seat
 */
function renderOptions(seat) {
  const player = state.players[seat];
  const agent = player === HUMAN ? null : agentOf(player);
  const box = $(`options${seat}`);
  const choice = box.querySelector("select");
  choice.replaceChildren(
    optionOf(HUMAN, "none: you play"),
    ...offer.agents.map(({ spec }) => optionOf(spec)),
  );
  choice.value = agent?.spec ?? HUMAN;
  const fields = box.querySelector(".options");
  if (fields.dataset.of !== (agent?.spec ?? ""))
    fields.replaceChildren(...(agent?.options ?? []).map((setting) => fieldOf(setting, seat)));
  fields.dataset.of = agent?.spec ?? "";
  const values = agent ? splitSpec(player).values : {};
  for (const field of fields.querySelectorAll("[name]")) {
    const unset = field.dataset.default === "null" ? "" : field.dataset.default;
    field.value = values[field.name] ?? unset;
  }
}

/**
 * The field of an option, with its label.
 * @param {Setting} setting
 * @param {number} seat
 */
function fieldOf(setting, seat) {
  const { name, help, choices, low: min, high: max } = setting;
  const step = setting.kind === "int" ? 1 : "any";
  const field = choices.length
    ? element("select", {}, ...choices.map((value) => optionOf(value)))
    : element("input", { type: "number", min: min ?? null, max: max ?? null, step });
  if (setting.default === null) field.setAttribute("placeholder", "not set");
  field.setAttribute("name", name);
  field.title = help;
  field.dataset.default = String(setting.default);
  field.addEventListener("change", () => readOptions(seat));
  return element("label", {}, name, field, element("small", { "aria-hidden": "true" }, help));
}

/** @param {number} seat */
function readOptions(seat) {
  const box = $(`options${seat}`);
  const spec = box.querySelector("select").value;
  const all = /** @type {any[]} */ ([...box.querySelectorAll(".options [name]")]);
  const bad = all.find((field) => !field.checkValidity());
  if (bad) {
    bad.reportValidity();
    return;
  }
  const options = all
    .filter((field) => field.value !== "" && field.value !== field.dataset.default)
    .map((field) => `${field.name}=${field.value}`);
  setPlayer(seat, spec + (options.length ? ":" + options.join(",") : ""));
}

/**
 * Another player goes on from here, in a new game.
 * @param {number} seat
 * @param {string} player
 */
function setPlayer(seat, player) {
  state.players[seat] = player;
  if (state.mode === "play") begin(state.moves);
  renderPlayers();
  next();
}

for (const seat of [0, 1])
  for (const box of ["seat", "options"]) {
    const choice = $(box + seat).querySelector("select");
    choice.addEventListener("change", () => setPlayer(seat, choice.value));
  }
