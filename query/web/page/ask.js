// The statement box and its answers.

import { byId, count, element, messageOf, problem } from "./dom.js";
import { complete, locked, run, select, setToken, unlock, unlocked } from "./api.js";
import { combobox } from "./combobox.js";
import { read, write } from "./store.js";
import { Table } from "./table.js";

const kept = 50; // statements of the history

let running = null; // the controller of the running statement

// readHistory returns the statements that were run, the latest first.
const readHistory = () => read("history").filter((s) => typeof s === "string");

function remember(statement) {
  write("history", [statement, ...readHistory().filter((s) => s !== statement)].slice(0, kept));
}

// readSaved returns the statements that were saved, each with its name, in the order of the names.
const readSaved = () => read("saved").filter((s) => typeof s?.name === "string" && typeof s.statement === "string");

// save replaces the statement that has a name, or deletes it if there is no new one.
function save(name, statement) {
  const others = readSaved().filter((s) => s.name !== name);
  const list = statement ? [...others, { name, statement }].sort((a, b) => a.name.localeCompare(b.name)) : others;
  showSaved(true, write("saved", list) ? list : null);
}

// showSaved shows or hides the saved statements. A list of null says that the browser keeps none.
function showSaved(open, list = readSaved()) {
  byId("saved").hidden = !open;
  byId("saved-button").setAttribute("aria-expanded", String(open));
  if (!open) return;
  const items = (list ?? []).map(({ name, statement }) => element("li", {},
    element("button", { type: "button", title: "Run it", onclick: () => { fill(statement); submit(); } }, name),
    element("code", {}, statement),
    element("button", { type: "button", "aria-label": `Delete ${name}`, onclick: () => save(name) }, "Delete")));
  const none = list ? "No statement is saved yet. Saved statements stay in this browser." : "This browser keeps nothing for this page.";
  byId("saved-list").replaceChildren(...(items.length ? items : [element("li", { class: "hint" }, none)]));
}

function showHistory(open) {
  const list = byId("history");
  list.hidden = !open;
  byId("history-button").setAttribute("aria-expanded", String(open));
  if (!open) return;
  const entries = readHistory().map((statement) => element("li", {}, element("button", {
    type: "button", onclick: () => { fill(statement); showHistory(false); },
  }, statement)));
  list.replaceChildren(...(entries.length ? entries : [element("li", { class: "hint" }, "No statements yet.")]));
}

// fill puts a statement into the box.
export function fill(statement) {
  const box = byId("statement");
  box.value = statement;
  fit();
  box.focus();
}

// fit makes the box as high as its text.
function fit() {
  const box = byId("statement");
  box.rows = Math.min(Math.max(box.value.split("\n").length, 3), 14);
}

// caret returns the line of a statement with a fault and a mark below the place.
function caret(statement, fault) {
  const line = [...(statement.split("\n")[fault.line - 1] ?? "")];
  const from = Math.max(fault.column - 1 - 60, 0);
  const before = line.slice(from, fault.column - 1), after = line.slice(fault.column - 1, fault.column + 60);
  const space = before.map((c) => (c === "\t" ? c : " ")).join("");
  return element("pre", { class: "caret" }, [...before, ...after].join(""), "\n", element("span", { class: "mark" }, `${space}^`));
}

// place moves the cursor of the box to a fault.
function place(statement, fault) {
  const lines = statement.split("\n").slice(0, fault.line);
  const last = [...(lines.pop() ?? "")].slice(0, fault.column - 1).join("");
  const at = lines.reduce((n, line) => n + line.length + 1, 0) + last.length;
  const box = byId("statement");
  if (box.value === statement) box.setSelectionRange(at, at);
}

function showFault(answer, statement, error) {
  const parts = [element("p", {}, messageOf(error))];
  if (error.line > 0) {
    parts.unshift(caret(statement, error));
    place(statement, error);
  }
  if (error.kind === "read_only" && !byId("token")) parts.push(element("p", { class: "hint" }, "kith serve --write lets statements change the database."));
  answer.append(element("div", { class: "problem", role: "alert" }, parts));
}

// answerTo runs a statement and shows its answer.
async function answerTo(statement) {
  running?.abort();
  const controller = new AbortController();
  running = controller;
  const answer = byId("answer"), status = element("p", { class: "status" }, "Running");
  const began = performance.now();
  const clock = setInterval(() => (status.textContent = `Running, ${((performance.now() - began) / 1000).toFixed(1)} s`), 200);
  let table = null;
  const notes = [];
  answer.replaceChildren(status);
  busy(true);
  try {
    const rows = await run(statement, {
      signal: controller.signal,
      head: (columns, keys) => {
        table = new Table(columns, keys, "Answer");
        answer.append(table.element);
      },
      row: (values) => table.add(values),
      note: (text) => notes.push(text),
    });
    const took = performance.now() - began;
    status.textContent = `${count(rows, "row")} in ${took < 1000 ? `${took.toFixed(0)} ms` : `${(took / 1000).toFixed(1)} s`}`;
    if (rows === 0) table.element.remove();
    else table.finish();
  } catch (error) {
    table?.element.remove();
    status.textContent = controller.signal.aborted ? "Stopped" : "";
    if (!controller.signal.aborted) showFault(answer, statement, error);
  } finally {
    clearInterval(clock);
    if (running === controller) {
      running = null;
      busy(false);
    }
  }
  notes.forEach((text) => answer.append(element("p", { class: "note" }, text)));
}

function busy(is) {
  byId("stop").disabled = !is;
  byId("answer").setAttribute("aria-busy", String(is));
}

// submit runs the statement of the box.
function submit() {
  const statement = byId("statement").value.trim();
  if (statement === "") return;
  remember(statement);
  showHistory(false);
  answerTo(statement);
}

// examples offers statements about a node of the graph.
async function examples() {
  await unlocked;
  let node = "0";
  try {
    node = (await select("NODES TOP 1"))[0]?.node ?? node;
  } catch {
    // the examples are about a node that need not exist
  }
  const offers = [
    ["Predict links", `PREDICT LINKS FOR ${node} AMONG NEIGHBORS(2) TOP 10`],
    ["Rank nodes", `RANK NODES FOR ${node} TOP 10`],
    ["List neighbors", `NEIGHBORS OF ${node}`],
    ["Measure predictions", "EVALUATE PREDICT LINKS FOR SAMPLE(100) AMONG NEIGHBORS(2) USING resource_allocation ON HOLDOUT 0.1"],
    ["Look at the figures", "SHOW STATS"],
    ["List all statements", "HELP"],
  ];
  const box = byId("statement");
  box.placeholder = offers[0][1];
  byId("examples").replaceChildren(...offers.map(([name, statement]) => element("button", {
    type: "button", class: "example", onclick: () => { fill(statement); submit(); },
  }, element("strong", {}, name), element("code", {}, statement))));
}

// startAsk makes the statement box work.
export function startAsk() {
  const box = byId("statement");
  combobox(box, byId("completions"), complete, fit);
  box.addEventListener("input", fit);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      submit();
    }
  });
  byId("ask-form").addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  byId("stop").addEventListener("click", () => running?.abort());
  byId("history-button").addEventListener("click", () => showHistory(byId("history").hidden));
  byId("saved-button").addEventListener("click", () => showSaved(byId("saved").hidden));
  byId("save-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = byId("save-name").value.trim(), statement = byId("statement").value.trim();
    if (name === "" || statement === "") return;
    save(name, statement);
    byId("save-name").value = "";
  });
  byId("token")?.addEventListener("input", (event) => setToken(event.target.value.trim()));
  byId("token")?.addEventListener("change", (event) => {
    if (locked() && event.target.value.trim() !== "") unlock().catch((error) => byId("answer").replaceChildren(problem(error)));
  });
  byId("token-form")?.addEventListener("submit", (event) => event.preventDefault());
  examples();
}
