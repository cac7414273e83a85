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

// csv returns a table as comma-separated values (RFC 4180), with nodes as plain text.
export function csv(columns, rows) {
  const field = (value) => {
    const text = value === null ? "" : typeof value === "object" ? String(value.key) : String(value);
    return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("");
}

// isZero reports whether a value says nothing in a column of such values.
const isZero = (value) => value === null || value === 0;

// Table shows the rows of an answer as they arrive: the first ones, and more when they are asked for.
export class Table {
  constructor(columns, keys, caption) {
    this.columns = columns;
    this.keys = keys;
    this.rows = [];
    this.shown = 0;
    this.limit = shownAtOnce;
    this.body = element("tbody");
    this.more = element("button", { type: "button", hidden: true, onclick: () => this.showMore() });
    this.heads = columns.map((name) => element("th", { scope: "col" }, name.replaceAll("_", " ")));
    this.zeros = element("button", { type: "button", hidden: true, "aria-pressed": "false", onclick: () => this.toggleZeros() });
    this.download = element("a", { href: "#", download: `${caption.toLowerCase()}.csv`, onclick: () => this.save() }, "Download CSV");
    this.element = element("div", { class: "table" },
      element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
        element("table", {}, element("thead", {}, element("tr", {}, this.heads)), this.body)),
      this.more,
      element("div", { class: "table-foot", hidden: true }, this.zeros, this.download));
  }

  // finish offers the whole answer as a file, and hides the columns of several rows that have nothing but zeros.
  finish() {
    this.element.lastChild.hidden = false;
    const of = (i) => this.rows.length > 1 && this.rows.every((row) => isZero(row[i]));
    this.empty = this.columns.map((_, i) => i).filter(of);
    if (this.empty.length === this.columns.length) this.empty = [];
    this.empty.forEach((i) => this.heads[i].classList.add("zero"));
    for (const row of this.body.rows) this.mark(row);
    this.zeros.hidden = this.empty.length === 0;
    const names = this.empty.map((i) => this.heads[i].textContent).join(", ");
    this.zeros.textContent = `Show empty columns: ${names}`;
  }

  // mark marks the cells of a row that belong to columns of zeros.
  mark(row) {
    this.empty?.forEach((i) => row.cells[i].classList.add("zero"));
  }

  toggleZeros() {
    this.zeros.setAttribute("aria-pressed", String(this.element.classList.toggle("zeros")));
  }

  // save gives the link, which was clicked, the file that the browser then stores.
  save() {
    URL.revokeObjectURL(this.download.href);
    this.download.href = URL.createObjectURL(new Blob([csv(this.columns, this.rows)], { type: "text/csv" }));
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
    const shown = element("tr", {}, cells);
    this.mark(shown);
    this.body.append(shown);
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
