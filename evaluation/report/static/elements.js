"use strict";
// Building blocks of the pages: elements, numbers in words, names.

const $ = (id) => document.getElementById(id);
const range = (count) => Array.from({ length: count }, (_, i) => i);
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

function built(made, { on = {}, ...attributes }, children) {
  for (const [event, act] of Object.entries(on)) made.addEventListener(event, act);
  for (const [key, value] of Object.entries(attributes))
    if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  made.append(...children);
  return made;
}

// Make an element, without attributes that are null or false; `on` holds listeners by event.
const element = (name, attributes = {}, ...children) => built(document.createElement(name), attributes, children);
const drawn = (name, attributes = {}, ...children) => built(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
const disc = (seat) => element("span", { class: "turn", "aria-hidden": "true" }, element("span", { class: "disc", "data-disc": seat }));

// Set a text; a text that stays is not read aloud again.
function tell(there, words) { if (there.textContent !== words) there.textContent = words; }

// Round a number to some digits after the point, halves away from zero, as c4env.evaluation.tables does.
function fixed(x, digits = 0) {
  const whole = Math.floor(Math.abs(x) * 10 ** digits + 0.5 + 1e-9);
  return (x < 0 && whole ? "−" : "") + (whole / 10 ** digits).toFixed(digits);
}
const percent = (x, digits = 0) => (x === null ? "" : fixed(100 * x, digits) + "%");
const plus = (words) => (words.startsWith("−") || !Number(words) ? words : "+" + words);
const signed = (x, digits = 0) => plus(fixed(x, digits));

// A text in which each name is an element that does not wrap; `shown` has what to write for each name.
function named(text, names, shown = names) {
  const found = [...new Set(names)].filter(Boolean).sort((a, b) => b.length - a.length);
  if (!found.length) return [text];
  const any = found.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  return text.split(new RegExp(`(?<![\\w-])(${any})(?![\\w-])`)).map((part, i) => (i % 2 ? element("span", { class: "unbroken", title: part }, shown[names.indexOf(part)]) : part));
}

// Scroll to the top of an element, unless all of it is visible.
function bringIntoSight(there) {
  const { top, bottom } = there.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) there.scrollIntoView({ block: "start" });
}
