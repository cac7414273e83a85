// Models: their versions, what they learned, and how good they are.

import { byId, date, element, empty, number, picture, problem, size, widthOf } from "./dom.js";
import { getText, quoteName, run, select } from "./api.js";
import { Table } from "./table.js";

const origins = {
  create: "created", edges: "trained on the edges", refresh: "trained in the background on newer edges",
  log: "trained on observed outcomes", import: "imported from a file",
};

// chart returns a figure and a function that requests its picture, once the figure is in the page and has a width. hint says
// how there will be one.
function chart(title, path, model, hint) {
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
  return { figure: element("figure", { class: "card" }, element("figcaption", {}, title), place), load };
}

// evaluation returns a panel whose buttons run evaluations of a model and show their tables.
function evaluation(model) {
  const offers = [
    ["Find hidden edges", `EVALUATE PREDICT LINKS FOR SAMPLE(100) AMONG NEIGHBORS(2) USING ${quoteName(model)} ON HOLDOUT 0.1`],
    ["Value on the log", `EVALUATE ${quoteName(model)} ON LOG USING snips`],
  ];
  const answer = element("div", { "aria-live": "polite" });
  let controller = null;
  const stop = element("button", { type: "button", disabled: true, onclick: () => controller?.abort() }, "Stop");
  const measure = async (statement) => {
    controller?.abort();
    const mine = (controller = new AbortController());
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
    } catch (error) {
      if (mine === controller) answer.replaceChildren(mine.signal.aborted ? element("p", { class: "status" }, "Stopped") : problem(error));
    }
    if (mine === controller) stop.disabled = true;
  };
  const buttons = offers.map(([name, statement]) => element("button", { type: "button", title: statement, onclick: () => measure(statement) }, name));
  return element("div", { class: "card" }, element("h2", {}, "How good is it?"), element("div", { class: "bar" }, buttons, stop), answer);
}

function versionsTable(versions) {
  const rows = versions.map((v) => element("tr", { class: v.deployed ? "deployed" : null },
    element("td", { class: "plain" }, String(v.version), v.deployed ? element("span", { class: "badge" }, "deployed") : null),
    element("td", {}, origins[v.from] ?? "unknown", v.parent ? `, from version ${v.parent}` : ""),
    element("td", { class: "plain" }, v.made ? date(v.made) : "–"),
    element("td", { class: "numeric" }, number(v.rounds)),
    element("td", { class: "numeric" }, size(v.bytes))));
  const heads = [["version"], ["learned from"], ["made"], ["outcomes", "numeric"], ["memory", "numeric"]];
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
      content.replaceChildren(empty("There is no model yet.", "Until there is one, a network trained on other graphs answers. ",
        element("code", {}, "CREATE MODEL m; TRAIN MODEL m;"), " in kith shell makes one that knows this graph."));
      return;
    }
    const model = models.find((m) => m.model === name) ?? models.find((m) => m.answers) ?? models[0];
    const tabs = models.map((m) => element("a", { class: "model", href: `#models=${encodeURIComponent(m.model)}`, "aria-current": m === model ? "page" : null },
      element("strong", {}, m.model), element("span", { class: "hint" }, `${m.policy}${m.answers ? ", answers" : ""}`)));
    const versions = await select(`SHOW VERSIONS OF ${quoteName(model.model)}`).catch(() => []);
    const charts = [
      chart("Reward over time", "/chart/rewards", model.model, "OBSERVE and REWARD tell a model what became of its links."),
      chart("Predicted against observed", "/chart/calibration", model.model, "CHOOSE notes what a model predicts, REWARD what became of it."),
    ];
    content.replaceChildren(
      element("nav", { class: "model-list", "aria-label": "Models" }, tabs),
      element("div", { class: "card" }, element("h2", {}, `Versions of ${model.model}`), versionsTable(versions)),
      element("div", { class: "halves even" }, charts.map((c) => c.figure)),
      evaluation(model.model));
    charts.forEach((c) => c.load());
  } catch (error) {
    content.replaceChildren(problem(error));
  }
}
