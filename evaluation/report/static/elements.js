"use strict";
// Building blocks of the pages: elements, numbers in words, names.

/**
 * The element with an id; a page has all that its script asks for.
 * @param {string} id
 * @returns {any}
 */
const $ = (id) => document.getElementById(id);
/** @param {number} count */
const range = (count) => Array.from({ length: count }, (_, i) => i);
/**
 * @param {number} count
 * @param {string} noun
 */
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/**
 * Attributes by name, without those that are null or false; `on` holds listeners by event.
 * @typedef {Record<string, any>} Attributes
 */

/**
 * @template {Element} Made
 * @param {Made} made
 * @param {Attributes} attributes
 * @param {(Node | string)[]} children
 */
function built(made, { on = {}, ...attributes }, children) {
  for (const [event, act] of Object.entries(on)) made.addEventListener(event, act);
  for (const [key, value] of Object.entries(attributes))
    if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  made.append(...children);
  return made;
}

/**
 * Make an element of the page.
 * @param {string} name
 * @param {Attributes} attributes
 * @param {...(Node | string)} children
 */
const element = (name, attributes = {}, ...children) =>
  built(document.createElement(name), attributes, children);
/**
 * Make an element of a figure.
 * @param {string} name
 * @param {Attributes} attributes
 * @param {...(Node | string)} children
 */
const drawn = (name, attributes = {}, ...children) =>
  built(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
/** @param {number} seat 0 or 1 */
const disc = (seat) =>
  element(
    "span",
    { class: "turn", "aria-hidden": "true" },
    element("span", { class: "disc", "data-disc": seat }),
  );

/**
 * Set a text; a text that stays is not read aloud again.
 * @param {Element} place
 * @param {string} words
 */
function tell(place, words) {
  if (place.textContent !== words) place.textContent = words;
}

/**
 * Round to some digits after the point, halves away from zero, as c4env.evaluation.tables does.
 * @param {number} x
 * @param {number} digits
 */
function fixed(x, digits = 0) {
  const all = Math.floor(Math.abs(x) * 10 ** digits + 0.5 + 1e-9);
  return (x < 0 && all ? "−" : "") + (all / 10 ** digits).toFixed(digits);
}
/**
 * @param {number | null} x
 * @param {number} digits
 */
const percent = (x, digits = 0) => (x === null ? "" : fixed(100 * x, digits) + "%");
/** @param {string} words */
const plus = (words) => (words.startsWith("−") || !Number(words) ? words : "+" + words);
/**
 * @param {number} x
 * @param {number} digits
 */
const signed = (x, digits = 0) => plus(fixed(x, digits));

/**
 * A text in which each name is an element that does not wrap.
 * @param {string} text
 * @param {string[]} names
 */
function named(text, names) {
  const longest = [...new Set(names)].filter(Boolean).sort((a, b) => b.length - a.length);
  if (!longest.length) return [text];
  const any = longest.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  const parts = text.split(new RegExp(`(?<![\\w-])(${any})(?![\\w-])`));
  return parts.map((part, i) =>
    i % 2 ? element("span", { class: "cut", title: part }, part) : part,
  );
}

/**
 * Scroll to the top of an element, unless all of it is visible.
 * @param {Element} place
 */
function bringIntoSight(place) {
  const { top, bottom } = place.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) place.scrollIntoView({ block: "start" });
}
