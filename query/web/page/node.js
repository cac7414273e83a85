// A node: its neighborhood and the links that are likely for it.

import { byId, element, empty, number, picture, problem, svg, widthOf } from "./dom.js";
import { complete, getJSON, getText, plain, quoteName, select, spellJSON } from "./api.js";
import { combobox } from "./combobox.js";
import { nodeLink } from "./table.js";

let request = null; // the controller of the latest requests

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
  const segments = ["exploit", "explore", "ppr"].map((name) => {
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
  const figures = ["exploit", "explore", "ppr"].map((name) => element("span", { class: `part ${name}` }, `${name} ${number(link[name])}`));
  return element("li", { class: "link" },
    element("div", { class: "link-head" },
      element("span", { class: "rank" }, String(link.rank)), nodeLink(link.target),
      element("span", { class: "score", title: "score" }, number(link.score)), button),
    parts(link, scale), element("p", { class: "because" }, link.because), element("p", { class: "figures" }, figures), reasons);
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
    const condition = byId("node-where").value.trim(), where = condition ? ` WHERE ${condition}` : "";
    const links = await select(`PREDICT LINKS${of} FOR ${node}${using}${where} TOP 10 RETURN target, rank, score, because, exploit, explore, ppr`, signal);
    if (links.length === 0) {
      into.replaceChildren(empty("No link is likely.", where ? "No node that it is not linked to satisfies the condition." : "There is no node around this one that it is not linked to already."));
      return;
    }
    const scale = Math.max(...links.map((l) => Math.max(l.exploit, 0) + Math.max(l.explore, 0) + Math.max(l.ppr, 0)), 1e-300);
    into.replaceChildren(
      element("h2", {}, relation ? `Most likely ${relation} links of ` : "Most likely links of ", element("span", { class: "key" }, plain(node))),
      element("p", { class: "hint" }, "Among the nodes around it that it is not linked to. A score has up to three parts: ",
        element("span", { class: "part exploit" }, "exploit"), " is what the model expects, ",
        element("span", { class: "part explore" }, "explore"), " what trying the link would teach, ",
        element("span", { class: "part ppr" }, "ppr"), " what the walk over the graph adds."),
      element("ol", { class: "links" }, links.map((l) => linkItem(l, node, relation, model, scale))));
  } catch (error) {
    if (!signal.aborted) into.replaceChildren(problem(error));
  }
}

async function showPicture(into, node, relation, model, signal) {
  const via = shownRelations();
  if (via === null) {
    into.replaceChildren(empty("No edges are drawn.", "Every relation is switched off."));
    into.setAttribute("aria-busy", "false");
    return;
  }
  into.setAttribute("aria-busy", "true");
  try {
    const svg = picture(await getText("/neighborhood", { node, relation, via, model, width: widthOf(into) }, signal));
    svg.querySelectorAll("a.node").forEach((a) => a.setAttribute("href", `#node=${encodeURIComponent(spellJSON(a.dataset.key))}`));
    into.replaceChildren(svg);
  } catch (error) {
    if (!signal.aborted) into.replaceChildren(error.kind === "not_found" ? "" : problem(error)); // the list says what is not found
  }
  if (!signal.aborted) into.setAttribute("aria-busy", "false");
}

// shownRelations returns the relations whose edges are drawn, an empty list for all, or null for none.
function shownRelations() {
  const boxes = [...byId("node-via").querySelectorAll("input")], on = boxes.filter((box) => box.checked);
  if (on.length === boxes.length) return [];
  return on.length === 0 ? null : on.map((box) => box.value);
}

// showRelations lists the relations, if there are several: which links are predicted, and which edges are drawn.
async function showRelations() {
  const found = await select("SHOW RELATIONS RETURN relation").catch(() => []);
  const relations = found.map((r) => r.relation ?? ""), choice = byId("node-relation"), via = byId("node-via");
  if (relations.join("\n") === via.dataset.relations) return;
  via.dataset.relations = relations.join("\n");
  choice.hidden = via.hidden = relations.length < 2;
  const chosen = choice.value, named = relations.filter((r) => r !== "");
  choice.replaceChildren(element("option", { value: "" }, "all relations"),
    ...named.map((r) => element("option", { value: r, selected: r === chosen }, r)));
  const off = new Set([...via.querySelectorAll("input")].filter((box) => !box.checked).map((box) => box.value));
  via.replaceChildren(via.firstElementChild, ...relations.map((r) => element("label", {},
    element("input", { type: "checkbox", value: r, checked: !off.has(r) }), r || "without relation")));
}

async function showModels() {
  const chosen = byId("node-model").value;
  const models = await select("SHOW MODELS").catch(() => []);
  const options = models.map((m) => element("option", { value: m.model, selected: m.model === chosen }, m.model));
  byId("node-model").replaceChildren(element("option", { value: "" }, "answering model"), ...options);
}

// showNode shows a node, spelled as in statements. Without one, it asks for one.
export async function showNode(node) {
  request?.abort();
  request = new AbortController();
  const signal = request.signal, links = byId("links"), drawing = byId("picture");
  if (!node) {
    const [first] = await select("NODES TOP 1", signal).catch(() => []);
    if (signal.aborted) return;
    if (first) location.replace(`#node=${encodeURIComponent(first.node)}`);
    else links.replaceChildren(empty("The graph has no nodes.", "kith load reads edge lists; INSERT EDGES adds single edges."));
    return;
  }
  byId("node-key").value = node;
  const model = byId("node-model").value, relation = byId("node-relation").value;
  document.title = `${plain(node)} · kith`;
  showModels();
  showRelations();
  await Promise.all([showPicture(drawing, node, relation, model, signal), showLinks(links, node, relation, model, signal),
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
  for (const id of ["node-model", "node-relation", "node-via", "node-where"]) byId(id).addEventListener("change", show);
  byId("node-form").addEventListener("submit", (event) => {
    event.preventDefault();
    show();
  });
}
