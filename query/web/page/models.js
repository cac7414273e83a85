// Models: their versions, what they learned, and how good they are.

import { byId, date, element, empty, number, picture, problem, size, widthOf } from "./dom.js";
import { getText, quoteName, run, select, writable } from "./api.js";
import { funnel } from "./funnel.js";
import { Table } from "./table.js";
import { creation, training } from "./train.js";

const origins = {
  create: "created", edges: "trained on the edges", refresh: "trained in the background on newer edges",
  log: "trained on observed outcomes", import: "imported from a file",
};

let measurement = null; // the controller of the running evaluation

addEventListener("hashchange", () => measurement?.abort()); // its answer would have no place

// chart returns a figure and a function that requests its picture, once the figure is in the page and has a width. meaning
// says what the picture shows, and hint how there will be one.
function chart(title, meaning, path, model, hint) {
  const place = element("div", { class: "chart", "aria-busy": "true" });
  const load = async () => {
    try {
      const text = await getText(path, { model, width: widthOf(place) });
      place.replaceChildren(text === "" ? empty("Nothing was observed yet.", hint) : picture(text));
    } catch (error) {
      place.replaceChildren(problem(error));
    }
    place.setAttribute("aria-busy", "false");
  };
  const caption = element("figcaption", {}, element("h2", {}, title), element("p", { class: "hint" }, meaning));
  return { figure: element("figure", { class: "card" }, caption, place), load };
}

// evaluation returns a panel whose buttons run evaluations and show their tables.
function evaluation(model) {
  const offers = [
    ["Find hidden edges", `EVALUATE PREDICT LINKS FOR SAMPLE(100) AMONG NEIGHBORS(2) USING ${quoteName(model)} ON HOLDOUT 0.1`,
      ` hides a tenth of the edges, lets a copy of the model learn from the others, and asks it for the hidden ones. The mrr is the ` +
      "mean of 1 / rank of the hidden edges, and hits@10 is the share of them among the ten best. Compare them with those of the other rows."],
    ["Replay decisions", `EVALUATE ${quoteName(model)} ON LOG USING snips`,
      " estimates, from the decisions of CHOOSE and their rewards, the mean reward (value, between low and high) if this model had made them."],
  ];
  const answer = element("div", { "aria-live": "polite" });
  const stop = element("button", { type: "button", disabled: true, onclick: () => measurement?.abort() }, "Stop");
  const measure = async (statement) => {
    measurement?.abort();
    const mine = (measurement = new AbortController());
    let table = null;
    stop.disabled = false;
    answer.replaceChildren(element("p", { class: "status" }, "Measuring; this takes a while on a large graph."), element("pre", {}, statement));
    try {
      await run(statement, {
        signal: mine.signal,
        head: (columns, keys) => {
          table = new Table(columns, keys, "Evaluation");
          answer.replaceChildren(element("pre", {}, statement), table.element);
        },
        row: (values) => table.add(values),
        note: (text) => answer.append(element("p", { class: "note" }, text)),
      });
      table.finish();
    } catch (error) {
      if (mine === measurement) answer.replaceChildren(mine.signal.aborted ? element("p", { class: "status" }, "Stopped") : problem(error));
    }
    if (mine === measurement) stop.disabled = true;
  };
  const meanings = offers.map(([name, , meaning]) => element("p", { class: "hint" }, element("strong", {}, name), meaning));
  const buttons = offers.map(([name, statement]) => element("button", { type: "button", title: statement, onclick: () => measure(statement) }, name));
  return element("div", { class: "card evaluation" }, element("h2", {}, "How good is it?"), meanings, element("div", { class: "bar" }, buttons, stop), answer);
}

function versionsTable(versions) {
  const learned = versions.some((v) => v.rounds > 0);
  const rows = versions.map((v) => element("tr", { class: v.deployed ? "deployed" : null },
    element("td", { class: "plain" }, String(v.version), v.deployed ? element("span", { class: "badge" }, "deployed") : null),
    element("td", {}, origins[v.from] ?? "unknown", v.parent ? `, from version ${v.parent}` : ""),
    element("td", { class: "plain" }, v.made ? date(v.made) : "–"),
    learned ? element("td", { class: "numeric" }, number(v.rounds)) : null,
    element("td", { class: "numeric" }, size(v.bytes))));
  const heads = [["version"], ["how it was made"], ["when"], ...(learned ? [["outcomes learned", "numeric"]] : []), ["memory", "numeric"]];
  return element("div", { class: "table" }, element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Versions" },
    element("table", {}, element("thead", {}, element("tr", {}, heads.map(([name, kind]) => element("th", { scope: "col", class: kind ?? null }, name)))),
      element("tbody", {}, rows))));
}

// showModels shows the list of models and one of them: the named one, or the one that answers.
export async function showModels(name) {
  const content = byId("models-content");
  try {
    const models = await select("SHOW MODELS");
    if (models.length === 0) {
      content.replaceChildren(empty("There is no model yet.", "Until there is one, a network trained on other graphs answers, ",
        "by the rules of this graph if it has several relations. ",
        element("code", {}, "TRAIN MODEL default;"), writable() ? " or the form below makes one that knows this graph." : " in kith shell makes one that knows this graph."),
        writable() ? creation("default") : "", funnel());
      return;
    }
    const model = models.find((m) => m.model === name) ?? models.find((m) => m.answers) ?? models[0];
    const tabs = models.map((m) => element("a", { class: "model", href: `#models=${encodeURIComponent(m.model)}`, "aria-current": m === model ? "page" : null },
      element("strong", {}, m.model), element("span", { class: "hint" }, `policy ${m.policy}${m.answers ? ", answers questions" : ""}`)));
    const versions = await select(`SHOW VERSIONS OF ${quoteName(model.model)}`).catch(() => []);
    const charts = [
      chart("Reward over time", "The mean reward of outcomes that follow each other, the oldest first.", "/chart/rewards", model.model, "OBSERVE and REWARD tell a model what became of its links."),
      chart("Predicted against observed", "A circle is a group of chosen links with similar scores, and its area their number. On the dashed line, what was predicted is what was observed.", "/chart/calibration", model.model, "CHOOSE notes what a model predicts, REWARD what became of it."),
    ];
    content.replaceChildren(
      element("nav", { class: "model-list", "aria-label": "Models" }, tabs),
      element("div", { class: "card" }, element("h2", {}, `Versions of ${model.model}`), versionsTable(versions)),
      writable() ? element("div", { class: "halves even" }, training(model.model, () => showModels(model.model)), creation("")) : "",
      funnel(),
      element("div", { class: "halves even" }, charts.map((c) => c.figure)),
      evaluation(model.model));
    charts.forEach((c) => c.load());
  } catch (error) {
    content.replaceChildren(problem(error));
  }
}
