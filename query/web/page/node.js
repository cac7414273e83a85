// A node: its neighborhood and the links that are likely for it.

import { byId, element, empty, number, picture, problem, svg, widthOf } from "./dom.js";
import { complete, getJSON, getText, plain, quoteName, select, spell, spellJSON, writable } from "./api.js";
import { fill } from "./ask.js";
import { combobox } from "./combobox.js";
import { condition, showFilter, startFilter } from "./filter.js";
import { Drawing } from "./picture.js";
import { nodeLink } from "./table.js";

let request = null; // the controller of the latest requests
let latest = ""; // the node that was shown last

// meanings are the parts of a score.
const meanings = {
  exploit: "what the model expects", explore: "what trying the link would teach", ppr: "what the walk over the graph adds",
};

// spelled returns what was typed as statements spell a node: quotes are added to text that is not a number.
function spelled(typed) {
  const text = typed.trim();
  if (/^-?\d+$/.test(text) || /^'.*'$/s.test(text)) return text;
  return `'${text.replaceAll("'", "''")}'`;
}

// suggest returns the nodes that begin with what was typed, whether it is a number or not.
async function suggest(typed, signal) {
  if (typed.trim() === "") return { word: "", values: [] };
  const text = typed.startsWith("'") || /^-?\d/.test(typed) ? typed : `'${typed.replaceAll("'", "''")}`;
  const found = await complete(`DESCRIBE NODE ${text}`, signal);
  return { word: typed, values: found.values };
}

// parts returns a bar whose segments are the parts of a score.
function parts(link, scale) {
  let x = 0;
  const segments = Object.keys(meanings).map((name) => {
    const width = (100 * Math.max(link[name], 0)) / scale;
    x += width;
    return svg("rect", { class: name, x: x - width, width, height: 6 });
  });
  return svg("svg", { class: "parts", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" }, ...segments);
}

// why fills an element with the reasons for a link.
async function why(into, source, target, relation, model) {
  into.replaceChildren(element("p", { class: "hint" }, "Looking for reasons"));
  try {
    const { sentences } = await getJSON("/why", { source, target, relation, model });
    into.replaceChildren(element("ul", { class: "reasons" }, sentences.map((s) => element("li", {}, s))));
  } catch (error) {
    into.replaceChildren(problem(error));
  }
}

// linkItem returns a link of the ranked list, with a button that says why.
function linkItem(link, source, relation, model, scale) {
  const reasons = element("div", { class: "why", hidden: true });
  const button = element("button", {
    type: "button", class: "why-button", "aria-expanded": "false", "aria-label": `Why ${plain(link.target)}`,
    onclick: () => {
      reasons.hidden = !reasons.hidden;
      button.setAttribute("aria-expanded", String(!reasons.hidden));
      if (!reasons.hidden && !reasons.hasChildNodes()) why(reasons, source, link.target, relation, model);
    },
  }, "Why");
  const figures = partsOf(link).map((name) => element("span", { class: `part ${name}` }, `${name} ${number(link[name])}`));
  return element("li", { class: "link" },
    element("div", { class: "link-head" },
      element("span", { class: "rank" }, String(link.rank)), nodeLink(link.target),
      element("span", { class: "score", title: "score" }, link.score ? number(link.score) : "no score"), button),
    figures.length > 0 ? parts(link, scale) : null, element("p", { class: "because" }, link.because),
    figures.length > 1 ? element("p", { class: "figures" }, figures) : null, reasons);
}

// partsOf returns the parts of a score that are not zero.
const partsOf = (link) => Object.keys(meanings).filter((name) => link[name]);

// meaning says of which parts the scores of some links are.
function meaning(links) {
  const used = Object.keys(meanings).filter((name) => links.some((l) => l[name]));
  if (used.length === 0) return ["Among the nodes around it that it is not linked to. All have the score 0, so the order says nothing."];
  const said = used.map((name, i) => [i === 0 ? "" : i === used.length - 1 ? " and " : ", ", element("span", { class: `part ${name}` }, name), `, ${meanings[name]}`]);
  return ["Among the nodes around it that it is not linked to. A score is ", used.length > 1 ? "the sum of " : "", ...said.flat(), "."];
}

// showProperties lists the label and the properties of a node, if it has any.
async function showProperties(into, node, signal) {
  const rows = await select(`DESCRIBE NODE ${node}`, signal).catch(() => []);
  if (signal.aborted) return;
  const own = rows.filter((r) => r.name.startsWith("property ") || (r.name === "label" && r.value !== null));
  into.hidden = own.length === 0;
  into.replaceChildren(element("dl", { class: "properties" }, own.flatMap((r) => [
    element("dt", {}, r.name.replace(/^property /, "")), element("dd", {}, String(r.value))])));
}

async function showLinks(into, node, relation, model, signal) {
  const of = relation ? ` ${quoteName(relation)}` : "";
  const using = model ? ` USING ${quoteName(model)}` : "";
  try {
    const where = condition() ? ` WHERE ${condition()}` : "", notes = [];
    const links = await select(`PREDICT LINKS${of} FOR ${node}${using}${where} TOP 10 RETURN target, rank, score, because, exploit, explore, ppr`, signal, notes);
    if (links.length === 0) {
      into.replaceChildren(empty("No link is likely.", where ? "No node that it is not linked to satisfies the condition." : "There is no node around this one that it is not linked to already."));
      return;
    }
    const scale = Math.max(...links.map((l) => Math.max(l.exploit, 0) + Math.max(l.explore, 0) + Math.max(l.ppr, 0)), 1e-300);
    into.replaceChildren(
      element("h2", {}, relation ? `Most likely ${relation} links of ` : "Most likely links of ", element("span", { class: "key" }, plain(node))),
      element("p", { class: "hint" }, meaning(links)),
      element("ol", { class: "links" }, links.map((l) => linkItem(l, node, relation, model, scale))),
      ...notes.map((text) => element("p", { class: "note" }, text)));
  } catch (error) {
    if (!signal.aborted) into.replaceChildren(problem(error));
  }
}

async function showPicture(into, node, relation, model, signal) {
  into.setAttribute("aria-busy", "true");
  try {
    const parameters = { node, relation, model, where: condition(), bare: true, width: widthOf(into) };
    const svg = picture(await getText("/neighborhood", parameters, signal));
    svg.querySelectorAll("a.node").forEach((a) => a.setAttribute("href", `#node=${encodeURIComponent(spellJSON(a.dataset.key))}`));
    into.replaceChildren(new Drawing(svg).element);
  } catch (error) {
    if (!signal.aborted) into.replaceChildren(error.line > 0 || error.kind === "not_found" ? "" : problem(error)); // the list says what is wrong
  }
  if (!signal.aborted) into.setAttribute("aria-busy", "false");
}

// showRelations offers to predict the links of one relation, if there are several.
async function showRelations() {
  const found = await select("SHOW RELATIONS RETURN relation").catch(() => []);
  const relations = found.map((r) => r.relation ?? ""), choice = byId("node-relation");
  if (relations.join("\n") === choice.dataset.relations) return;
  choice.dataset.relations = relations.join("\n");
  choice.hidden = relations.length < 2;
  const chosen = choice.value, named = relations.filter((r) => r !== "");
  choice.replaceChildren(element("option", { value: "" }, "all relations"),
    ...named.map((r) => element("option", { value: r, selected: r === chosen }, r)));
}

async function showModels() {
  const chosen = byId("node-model").value;
  const models = await select("SHOW MODELS").catch(() => []);
  const options = models.map((m) => element("option", { value: m.model, selected: m.model === chosen }, m.model));
  byId("node-model").replaceChildren(element("option", { value: "" }, "answering model"), ...options);
}

// begin shows the node that was shown last, or one that the server begins with.
async function begin(signal) {
  let node = latest;
  if (node === "") {
    try {
      const { node: first } = await getJSON("/start", {}, signal);
      if (first === null) return showStart();
      node = spell(first);
    } catch (error) {
      if (!signal.aborted) byId("links").replaceChildren(problem(error));
    }
  }
  if (!signal.aborted && node !== "") location.replace(`#node=${encodeURIComponent(node)}`);
}

const example = "INSERT EDGES 'ann' -> 'bob', 'bob' -> 'cat', 'ann' -> 'dan', 'dan' -> 'cat', 'cat' -> 'eve'";

// showStart says how a graph gets nodes.
function showStart() {
  const insert = element("button", { type: "button", class: "primary", onclick: () => { location.hash = "ask"; fill(example); } }, "Write a first statement");
  byId("picture").replaceChildren(element("div", { class: "empty" },
    element("p", { class: "empty-title" }, "The graph has no nodes."),
    element("p", { class: "hint" }, "A file with two nodes a line becomes a graph by"), element("pre", {}, "kith load g.kith edges.txt"),
    element("p", { class: "hint" }, "Single edges are added by the statement"), element("pre", {}, example),
    writable() ? insert : element("p", { class: "hint" }, "in kith shell, or here after kith serve --write.")));
  byId("links").replaceChildren(empty("No links yet.", "Once there are edges, this page opens on a node, the nodes around it and its most likely next links."));
}

// showRandom shows a node that the server draws.
async function showRandom() {
  const seeds = crypto.getRandomValues(new Uint32Array(4));
  try {
    for (const seed of seeds) {
      const { node } = await getJSON("/start", { seed });
      if (node === null) return;
      const hash = `#node=${encodeURIComponent(spell(node))}`;
      if (hash === location.hash) continue; // it is shown already
      location.hash = hash;
      return;
    }
  } catch (error) {
    byId("links").replaceChildren(problem(error));
  }
}

// showNode shows a node, spelled as in statements. Without one, the server says with which to begin.
export async function showNode(node) {
  request?.abort();
  request = new AbortController();
  const signal = request.signal;
  if (!node) return begin(signal);
  latest = byId("node-key").value = node;
  const model = byId("node-model").value, relation = byId("node-relation").value;
  document.title = `${plain(node)} · kith`;
  showModels();
  showRelations();
  showFilter();
  await Promise.all([showPicture(byId("picture"), node, relation, model, signal), showLinks(byId("links"), node, relation, model, signal),
    showProperties(byId("node-properties"), node, signal)]);
}

// startNode makes the search for a node work.
export function startNode() {
  const show = () => {
    const node = spelled(byId("node-key").value), hash = `#node=${encodeURIComponent(node)}`;
    if (location.hash === hash) showNode(node);
    else location.hash = hash;
  };
  combobox(byId("node-key"), byId("node-options"), suggest, show);
  for (const id of ["node-model", "node-relation", "node-where"]) byId(id).addEventListener("change", show);
  byId("random").addEventListener("click", showRandom);
  startFilter();
  byId("node-form").addEventListener("submit", (event) => {
    event.preventDefault();
    show();
  });
}
