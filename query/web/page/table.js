// Tables of answers.

import { element, number } from "./dom.js";
import { plain, spell } from "./api.js";

const shownAtOnce = 200; // rows added to the page at a time, so that a large answer does not slow the browser

// nodeLink returns a link to the page of a node, which is given as statements spell it.
export function nodeLink(spelling) {
  const name = plain(spelling);
  return element("a", { class: "key", href: `#node=${encodeURIComponent(spelling)}`, title: name.length > 40 ? name : null }, name === "" ? "''" : name);
}

// cell returns the content of a cell, and whether it is a number.
function cell(value, isKey) {
  if (value === null) return [element("span", { class: "nothing" }, "–"), false];
  if (isKey) return [nodeLink(spell(value)), false];
  if (typeof value === "object" && "key" in value) return [nodeLink(spell(value.key)), false];
  if (typeof value === "number" || typeof value === "bigint") return [number(value), true];
  return [String(value), false];
}

// Table shows the rows of an answer as they arrive: the first ones, and more when they are asked for.
export class Table {
  constructor(columns, keys, caption) {
    this.keys = keys;
    this.rows = [];
    this.shown = 0;
    this.limit = shownAtOnce;
    this.body = element("tbody");
    this.more = element("button", { type: "button", hidden: true, onclick: () => this.showMore() });
    this.heads = columns.map((name) => element("th", { scope: "col" }, name.replaceAll("_", " ")));
    this.element = element("div", { class: "table" },
      element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
        element("table", {}, element("thead", {}, element("tr", {}, this.heads)), this.body)),
      this.more);
  }

  add(row) {
    this.rows.push(row);
    if (this.shown < this.limit) this.show(row);
    else this.offer();
  }

  show(row) {
    this.shown++;
    const cells = row.map((value, i) => {
      const [content, numeric] = cell(value, this.keys[i]);
      if (numeric) this.heads[i].classList.add("numeric");
      return element("td", { class: numeric ? "numeric" : null }, content);
    });
    this.body.append(element("tr", {}, cells));
  }

  offer() {
    this.more.hidden = this.rows.length <= this.shown;
    this.more.textContent = `Show more (${number(this.rows.length - this.shown)} left)`;
  }

  showMore() {
    this.limit += shownAtOnce;
    this.rows.slice(this.shown, this.limit).forEach((row) => this.show(row));
    this.offer();
  }
}
