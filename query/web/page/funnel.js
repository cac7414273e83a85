// The funnel: what decisions showed and what was clicked, by day and by version of a model.

import { element, empty, number, problem, svg } from "./dom.js";
import { select } from "./api.js";

// funnel returns a panel that fills itself.
export function funnel() {
  const place = element("div", { "aria-busy": "true" });
  select("SHOW FUNNEL").then((rows) => place.replaceChildren(rows.length === 0
    ? empty("Nothing was shown yet.", "CHOOSE draws links to show, and REWARD says which were clicked.") : table(rows)), (error) => place.replaceChildren(problem(error)))
    .finally(() => place.setAttribute("aria-busy", "false"));
  return element("div", { class: "card funnel" }, element("h2", {}, "Shown and clicked"),
    element("p", { class: "hint" }, "Places of decisions by the day on which they were made, in UTC, and by version of the model. A click is a reward above 0."), place);
}

function table(rows) {
  const most = Math.max(...rows.map((r) => r.shown));
  const heads = [["day"], ["model"], ["shown", "numeric"], ["clicked", "numeric"], ["rate", "numeric"], [""]];
  const body = rows.map((r, i) => element("tr", {},
    element("td", { class: "plain" }, i > 0 && rows[i - 1].day === r.day ? "" : new Date(r.day).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "2-digit", timeZone: "UTC" })),
    element("td", {}, r.model ?? "built-in", r.model_version ? ` version ${r.model_version}` : ""),
    element("td", { class: "numeric" }, number(r.shown)),
    element("td", { class: "numeric" }, r.rewarded ? number(r.clicked) : "unknown"),
    element("td", { class: "numeric" }, r.clicked ? `${number(Number((100 * r.rate).toFixed(1)))} %` : ""),
    element("td", {}, svg("svg", { class: "bar-of", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: "shown", width: (100 * r.shown) / most, height: 8 }), svg("rect", { class: "clicked", width: (100 * r.clicked) / most, height: 8 })))));
  return element("div", { class: "table" }, element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Shown and clicked" },
    element("table", {}, element("thead", {}, element("tr", {}, heads.map(([name, kind]) => element("th", { scope: "col", class: kind ?? null }, name)))),
      element("tbody", {}, body))));
}
