// Forms that create and train models.

import { element, messageOf, number } from "./dom.js";
import { quoteName, run, select } from "./api.js";

const running = new Map(); // the forms of the models that are being trained, which stay when the section is shown again
const results = new Map(); // what the latest training of a model resulted in

// field returns a label with its field.
const field = (name, input) => element("label", { class: "field" }, element("span", {}, name), input);

// choice returns a field with options, each a value and its meaning.
const choice = (options) => element("select", {}, options.map(([value, meaning]) => element("option", { value }, meaning)));

// creation returns a form that creates a model, with a suggested name.
export function creation(suggested) {
  const name = element("input", { type: "text", required: true, autocomplete: "off", spellcheck: "false", value: suggested });
  const policy = element("select", {}), summary = element("p", { class: "hint" });
  const preset = choice([["", "default"], ["paper", "as in the paper"]]);
  const options = element("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder: "layers = 3, width = 64" });
  const message = element("p", { class: "status", "aria-live": "polite" });
  const learns = field("Preset", preset);
  const describe = () => {
    const chosen = policy.selectedOptions[0];
    summary.textContent = chosen?.title ?? "";
    learns.hidden = policy.value !== "default";
  };
  policy.addEventListener("change", describe);
  select("SHOW POLICIES").then((all) => {
    policy.replaceChildren(...all.map((p) => element("option", { value: p.policy, title: p.summary, selected: p.policy === "default" }, p.policy)));
    describe();
  }, (error) => (message.textContent = messageOf(error)));
  const create = async (event) => {
    event.preventDefault();
    const others = [learns.hidden || preset.value === "" ? "" : `preset = ${preset.value}`, options.value.trim()].filter((o) => o !== "");
    const given = others.length > 0 ? ` WITH (${others.join(", ")})` : "";
    try {
      await run(`CREATE MODEL ${quoteName(name.value.trim())} USING ${policy.value}${given}`);
      const hash = `#models=${encodeURIComponent(name.value.trim())}`;
      if (location.hash === hash) dispatchEvent(new HashChangeEvent("hashchange"));
      else location.hash = hash;
    } catch (error) {
      message.textContent = messageOf(error);
    }
  };
  return element("form", { class: "card form", id: "create-form", onsubmit: create }, element("h2", {}, "Create a model"),
    field("Name", name), field("Policy", policy), summary, learns, field("Further options", options),
    element("div", { class: "bar" }, element("button", { type: "submit" }, "Create")), message);
}

// training returns a form that trains a model, and calls trained once it has a new version.
export function training(model, trained) {
  if (running.has(model)) return running.get(model);
  let request = null; // the controller of the running training
  const from = choice([["EDGES", "the edges"], ["LOG", "observed outcomes"]]);
  const budget = choice([["", "as long as it needs"], ["10s", "10 seconds"], ["1m", "1 minute"], ["5m", "5 minutes"]]);
  const deploy = choice([["better", "if it is not worse"], ["on", "always"], ["off", "not yet"]]);
  const relation = element("select", {}, element("option", { value: "" }, "all"));
  const about = field("Relation", relation);
  const bar = element("progress", { hidden: true, "aria-label": "Training" }), message = element("p", { class: "status", "aria-live": "polite" });
  const start = element("button", { type: "submit", class: "primary" }, "Train");
  const cancel = element("button", { type: "button", disabled: true, onclick: () => request.abort() }, "Cancel");
  about.hidden = true;
  select("SHOW RELATIONS RETURN relation").then((found) => {
    const named = found.map((r) => r.relation).filter((r) => r);
    about.hidden = named.length < 2;
    relation.append(...named.map((r) => element("option", { value: r }, r)));
  }, () => {}); // the form works without
  const show = ({ what, done, total, left }) => {
    bar.hidden = false;
    if (total > 0) [bar.max, bar.value] = [total, done];
    else bar.removeAttribute("value");
    message.textContent = `${what}${total > 0 ? `, ${((100 * done) / total).toFixed(0)} %` : ""}${left ? `, ${number(Math.ceil(left))} s left` : ""}`;
  };
  const train = async (event) => {
    event.preventDefault();
    request = new AbortController();
    running.set(model, form);
    const options = [from.value === "EDGES" && budget.value ? `budget = '${budget.value}'` : "", deploy.value === "better" ? "" : `deploy = ${deploy.value}`].filter((o) => o);
    const statement = `TRAIN MODEL ${quoteName(model)} FROM ${from.value}${relation.value ? ` VIA ${quoteName(relation.value)}` : ""}${options.length ? ` WITH (${options.join(", ")})` : ""}`;
    start.disabled = true;
    cancel.disabled = false;
    show({ what: "Training", done: 0, total: 0 });
    let columns = [], row = [], done = false;
    try {
      await run(statement, { signal: request.signal, progress: show, head: (c) => (columns = c), row: (r) => (row = r) });
      done = true;
      results.set(model, outcome(Object.fromEntries(columns.map((name, i) => [name, row[i]]))));
    } catch (error) {
      results.set(model, request.signal.aborted ? "Cancelled. The model is as it was." : messageOf(error));
    }
    running.delete(model);
    message.textContent = results.get(model);
    bar.hidden = true;
    start.disabled = false;
    cancel.disabled = true;
    if (done && form.isConnected) trained();
  };
  from.addEventListener("change", () => (budget.disabled = from.value !== "EDGES"));
  message.textContent = results.get(model) ?? "";
  const form = element("form", { class: "card form", id: "train-form", onsubmit: train }, element("h2", {}, `Train ${model}`),
    field("Learn from", from), about, field("Time", budget), field("Answer with the new version", deploy),
    element("div", { class: "bar" }, start, cancel), bar, message);
  return form;
}

// outcome says what a training resulted in.
function outcome(r) {
  const before = r.mrr_before === null ? "" : `, before ${number(r.mrr_before)}`;
  const figure = r.mrr === null ? "" : ` On links that were left out its mean reciprocal rank is ${number(r.mrr)}${before}.`;
  return `${r.deployed ? "Trained. The new version is deployed." : "Trained. The version before stays deployed."}${figure}`;
}
