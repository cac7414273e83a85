// Helpers for making elements. Text always becomes text nodes, never markup, so that a key may be any text.

// element returns a new element. A property that begins with "on" is a listener; other properties are attributes, and
// null or false leaves one out. Children are elements or text.
export function element(tag, properties = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) e.setAttribute(name, value === true ? "" : value);
  }
  e.append(...children.flat().filter((c) => c !== null && c !== undefined));
  return e;
}

// byId returns the element with an id of the page.
export const byId = (id) => document.getElementById(id);

// messageOf returns the text of an error for people.
export const messageOf = (error) =>
  error.kind === "token" ? "Enter the token of the server at the top of this page." : error.message || String(error);

// problem returns an element that shows an error.
export const problem = (error) => element("p", { class: "problem", role: "alert" }, messageOf(error));

// empty returns an element that says why there is nothing, and what to do.
export function empty(title, ...hint) {
  return element("div", { class: "empty" }, element("p", { class: "empty-title" }, title), element("p", { class: "hint" }, ...hint));
}

// number formats a number for people: four significant digits, groups of three, and powers of ten only where there would be many zeros.
export function number(x) {
  if (typeof x === "bigint" || Number.isInteger(x)) return x.toLocaleString("en");
  if (x !== 0 && (Math.abs(x) < 1e-5 || Math.abs(x) >= 1e7)) return x.toExponential(2);
  return x.toLocaleString("en", { maximumSignificantDigits: 4 });
}

// size formats a number of bytes.
export function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; bytes >= 1024 && i < units.length - 1; i++) bytes /= 1024;
  return `${number(i === 0 ? bytes : Number(bytes.toFixed(1)))} ${units[i]}`;
}

// count returns a number with a noun.
export const count = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;

// picture parses an SVG document that the server drew and returns its root as an element of this document.
export function picture(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
  const root = parsed.documentElement;
  if (root.localName !== "svg") throw new Error("the server sent no picture");
  return document.importNode(root, true);
}

// date formats a time of the server for people.
export const date = (text) => new Date(text).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

// svg returns a new element of SVG.
export function svg(tag, attributes, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  e.append(...children);
  return e;
}

// widthOf returns the width that a picture should have in an element, so that its labels are as large as other text.
export function widthOf(e) {
  const style = getComputedStyle(e);
  const inner = e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  return Math.min(Math.max(Math.round(inner || 600), 240), 2000);
}
