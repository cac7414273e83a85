// A text field with a list of suggestions: the combobox pattern of the ARIA Authoring Practices.

import { element } from "./dom.js";

const delay = 120; // milliseconds of rest before suggestions are requested

// combobox adds suggestions to a field. suggest(text up to the cursor, signal) resolves to {word, values}: each value
// replaces word at the end of the text. accept is called after a value was accepted.
//
// Tab accepts the marked suggestion, or the first one. Enter accepts a marked one. Arrows mark, Escape closes, and
// Ctrl+Space opens the list.
export function combobox(field, list, suggest, accept = () => {}) {
  let values = [], word = "", marked = -1, timer = 0, request = null;
  let asked = ""; // text that the values complete

  for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id })) {
    field.setAttribute(name, value);
  }

  function close() {
    clearTimeout(timer);
    request?.abort();
    values = [];
    marked = -1;
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  }

  function show() {
    list.replaceChildren(...values.map((value, i) => element("li", {
      id: `${list.id}-${i}`, role: "option", "aria-selected": "false",
      onpointerdown: (event) => { event.preventDefault(); take(i); },
    }, value)));
    list.hidden = false;
    list.scrollTop = 0;
    if (field.tagName === "TEXTAREA") below();
    field.setAttribute("aria-expanded", "true");
  }

  // below places the list below the cursor.
  function below() {
    const style = getComputedStyle(field);
    const lines = asked.split("\n"), high = parseFloat(style.lineHeight);
    const top = parseFloat(style.paddingTop) + lines.length * high - field.scrollTop;
    const column = [...lines.at(-1)].length - [...word].length;
    list.style.left = `min(${style.paddingLeft} + ${column}ch, 100% - 13rem)`; // the list has the font of the field
    list.style.top = `${Math.min(Math.max(top, high), field.clientHeight) + 4}px`;
  }

  function mark(i) {
    list.children[marked]?.setAttribute("aria-selected", "false");
    marked = (i + values.length) % values.length;
    list.children[marked].setAttribute("aria-selected", "true");
    list.children[marked].scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", `${list.id}-${marked}`);
  }

  function take(i) {
    const value = values[i], cursor = field.selectionStart, open = value.endsWith("(");
    const after = open || field.tagName !== "TEXTAREA" ? "" : " ";
    field.setRangeText(value + after, cursor - word.length, cursor, "end");
    close();
    field.focus();
    accept(value);
    if (field.tagName === "TEXTAREA") later(true);
  }

  // narrow keeps the values that fit what was typed since they were suggested.
  function narrow() {
    const text = field.value.slice(0, field.selectionStart);
    const longer = word + text.slice(asked.length);
    values = text.startsWith(asked) ? values.filter((v) => v.startsWith(longer) && v !== longer) : [];
    if (values.length === 0) return close();
    word = longer;
    asked = text;
    marked = -1;
    field.removeAttribute("aria-activedescendant");
    show();
  }

  async function open(forced) {
    request?.abort();
    request = new AbortController();
    const signal = request.signal, text = field.value.slice(0, field.selectionStart);
    let found;
    try {
      found = await suggest(text, signal);
    } catch {
      return; // the field works without suggestions
    }
    if (signal.aborted || document.activeElement !== field) return;
    const exact = found.values.length === 1 && found.values[0] === found.word;
    if (found.values.length === 0 || exact || (!forced && found.word === "")) return close();
    ({ word, values } = found);
    asked = text;
    marked = -1;
    field.removeAttribute("aria-activedescendant");
    show();
  }

  // later requests suggestions after a rest: for the word that is being typed or, if forced, for the next word too.
  function later(forced = false) {
    clearTimeout(timer);
    timer = setTimeout(open, delay, forced);
  }

  field.addEventListener("input", (event) => {
    if (event.isComposing) return;
    if (!list.hidden) narrow();
    later();
  });
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    const shown = !list.hidden;
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.isComposing) return;
    if (event.key === " " && event.ctrlKey) open(true);
    else if (!shown) return;
    else if (event.key === "Escape") close();
    else if (event.key in moves && !event.altKey) mark(marked < 0 && event.key === "ArrowUp" ? -1 : marked + moves[event.key]);
    else if (event.key === "Tab" && !event.shiftKey) take(Math.max(marked, 0));
    else if (event.key === "Enter" && marked >= 0 && !event.ctrlKey) take(marked);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }, true);
}
