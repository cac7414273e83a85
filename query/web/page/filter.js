// The filter of targets: a condition as after WHERE, and fields that add a comparison with a property to it.

import { byId, element } from "./dom.js";
import { quoteName, select, spell } from "./api.js";

const built = [["degree", "float"], ["edges", "integer"], ["label", "string"]]; // properties that every node has

const ordered = ["=", "<>", "<", "<=", ">", ">="];
const operators = { bool: ["is true", "is false"], list: ["contains"], string: ["=", "<>"], float: ordered, integer: ordered, time: ordered };

// condition returns the condition on targets, or "".
export const condition = () => byId("node-where").value.trim();

// comparison returns the condition that the fields state, or "" if the value is missing.
function comparison() {
  const [is, ...words] = byId("filter-property").value.split(" "), name = words.join(" "), operator = byId("filter-operator").value;
  const value = byId("filter-value").value.trim(), of = built.some(([own]) => own === name) ? name : quoteName(name);
  if (is === "bool") return operator === "is true" ? of : `NOT ${of}`;
  if (value === "") return "";
  if (is === "list") return `${spell(value)} IN ${of}`;
  return `${of} ${operator} ${is === "string" || is === "time" ? spell(value) : value}`;
}

// add adds the comparison to the condition.
function add() {
  const text = comparison(), before = condition();
  if (text === "") return byId("filter-value").focus();
  byId("node-where").value = before ? `${before} AND ${text}` : text;
  byId("filter-value").value = "";
  byId("node-where").dispatchEvent(new Event("change", { bubbles: true }));
}

// offer offers the comparisons that the property has.
function offer() {
  const is = byId("filter-property").value.split(" ")[0];
  byId("filter-operator").replaceChildren(...(operators[is] ?? ordered).map((o) => element("option", {}, o)));
  byId("filter-value").hidden = is === "bool";
}

// showFilter offers the properties of the graph, and says what is filtered.
export async function showFilter() {
  byId("filter-summary").textContent = condition() ? `Filter: ${condition()}` : "Filter";
  const found = await select("SHOW PROPERTIES RETURN property, type").catch(() => []);
  const all = [...found.map((p) => [p.property, p.type]), ...built], chosen = byId("filter-property").value;
  const values = all.map(([name, is]) => [`${is} ${name}`, name]);
  if (values.join("\n") === byId("filter").dataset.properties) return;
  byId("filter").dataset.properties = values.join("\n");
  byId("filter-property").replaceChildren(...values.map(([value, name]) => element("option", { value, selected: value === chosen }, name)));
  offer();
}

// startFilter makes the fields work.
export function startFilter() {
  byId("filter-property").addEventListener("change", offer);
  byId("filter-add").addEventListener("click", add);
  byId("filter-value").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    add();
  });
}
