// The figures of the database, as they change.

import { byId, count, element, number, picture, problem, size, svg, widthOf } from "./dom.js";
import { Fault, follow, getText, locked, unlocked } from "./api.js";

const remembered = 120; // seconds of the curve of commits
const patience = 3000; // milliseconds before the next attempt to connect

let latest = null; // the latest figures
let commits = []; // commits in each of the last seconds
let tiles = null; // elements that show figures, by name

// watch receives the figures of the server each second and shows them. When the connection ends, it connects again.
export async function watch() {
  const leaving = new AbortController();
  addEventListener("pagehide", () => leaving.abort());
  if (locked()) connected("waiting", "waiting for the token");
  await unlocked;
  while (!leaving.signal.aborted) {
    let text = "no connection";
    await follow("/events", receive, leaving.signal).catch((error) => {
      if (error instanceof Fault) text = error.message;
    });
    connected("lost", text);
    await new Promise((resolve) => setTimeout(resolve, patience));
  }
}

function receive(now) {
  if (latest) commits = [...commits, Math.max(now.activity.commits - latest.activity.commits, 0)].slice(-remembered);
  latest = now;
  connected("live", `${number(now.nodes)} nodes, ${number(now.edges)} edges`);
  if (tiles) update();
}

function connected(state, text) {
  byId("live").dataset.state = state;
  byId("live-text").textContent = text;
}

const nothing = ["0", "0 B", "–"]; // values of figures that are not shown

// figures are the figures to show: a name, and a function that returns the value and what it means.
const figures = [
  ["Nodes", (s) => [number(s.nodes), s.labels.length > 1 ? count(s.labels.length - 1, "label") : "without labels"]],
  ["Edges", (s) => [number(s.edges), s.directed ? "directed" : "undirected"]],
  ["On disk", (s) => [s.disk_bytes ? size(s.disk_bytes) : "–", `version ${number(s.graph_version)} of the graph`]],
  ["Graph in memory", (s) => [size(s.graph_bytes), s.graph_loaded ? "all edges are loaded" : "blocks are read on demand"]],
  ["Mapped tables", (s) => [size(s.mapped_bytes), "the system frees their pages when it needs memory"]],
  ["Models", (s) => [number(s.models), size(s.model_bytes)]],
  ["Decisions", (s) => [number(s.decisions), "made so far"]],
  ["PageRank cache", (s) => [size(s.cache.bytes), `${count(s.cache.states, "source")}, at most ${size(s.cache.budget)}`]],
  ["Commits", (s) => [number(s.activity.commits), ofCommits(s)]],
];

// ofCommits says what the number of commits means.
function ofCommits(s) {
  if (s.follower) return s.behind ? `follows another database, ${count(s.behind, "version")} behind` : "follows another database";
  return s.changes.limit_bytes ? `${count(s.changes.kept, "change")} can be read` : "since the database was opened";
}

// update shows the latest figures.
function update() {
  const s = latest, c = s.cache;
  for (const [name, figure] of figures) {
    const tile = tiles.get(name), [value, meaning] = figure(s);
    tile.element.hidden = nothing.includes(value);
    tile.value.textContent = value;
    tile.meaning.textContent = meaning;
  }
  curve();
  const asked = c.hits + c.catch_ups + c.loads + c.recomputes;
  const rows = [
    ["fresh", c.hits, "were up to date in the cache"], ["repaired", c.catch_ups, "were repaired after changes of edges"],
    ["loaded", c.loads, "came from the disk"], ["computed", c.recomputes, "were computed from scratch"],
  ];
  tiles.get("cache").replaceChildren(...(asked === 0
    ? [element("p", { class: "hint" }, "No question has read PageRank yet.")]
    : rows.filter(([, n]) => n > 0).map(([name, n, meaning]) => share(name, n / asked, `${number(n)} ${meaning}`))));
}

// share returns a row with a bar for a share.
function share(name, x, meaning) {
  return element("div", { class: "share" }, element("span", {}, name),
    svg("svg", { class: "bar-of", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: "track", width: 100, height: 8 }), svg("rect", { class: name, width: 100 * x, height: 8 })),
    element("span", { class: "numeric" }, `${(100 * x).toFixed(0)} %`), element("span", { class: "hint" }, meaning));
}

// curve draws the commits of the last seconds.
function curve() {
  const most = Math.max(...commits, 1), now = commits.at(-1) ?? 0;
  const points = commits.map((n, i) => `${(i + remembered - commits.length) * 3},${(58 - (54 * n) / most).toFixed(1)}`);
  tiles.get("commits").replaceChildren(
    element("p", { class: "figure" }, now ? number(now) : "none"),
    element("p", { class: "hint" }, commits.some((n) => n > 0) ? `The line shows the last two minutes, with at most ${number(Math.max(...commits))} a second.` : "None in the last two minutes."),
    svg("svg", { class: "curve", viewBox: "0 0 360 60", preserveAspectRatio: "none", role: "img", "aria-label": "Commits a second in the last two minutes" },
      svg("line", { class: "track", x1: 0, x2: 360, y1: 58, y2: 58 }), svg("polyline", { points: points.join(" ") })));
}

// showDatabase shows the figures and the distribution of degrees.
export function showDatabase() {
  tiles = new Map();
  const list = figures.map(([name]) => {
    const tile = { value: element("dd", { class: "figure" }, "…"), meaning: element("dd", { class: "hint" }) };
    tiles.set(name, tile);
    return (tile.element = element("div", { class: "card tile" }, element("dt", {}, name), tile.value, tile.meaning));
  });
  for (const name of ["cache", "commits"]) tiles.set(name, element("div"));
  const degrees = element("div", { class: "chart", "aria-busy": "true" });
  byId("database-content").replaceChildren(
    element("dl", { class: "tiles" }, list),
    element("div", { class: "halves even" },
      element("div", { class: "card" }, element("h2", {}, "Commits a second"), tiles.get("commits")),
      element("div", { class: "card" }, element("h2", {}, "Where questions get PageRank from"), tiles.get("cache"))),
    element("figure", { class: "card" }, element("figcaption", {}, element("h2", {}, "How many nodes have how many edges"),
      element("p", { class: "hint" }, "Each point says how many nodes have at least so many edges. Both axes are logarithmic.")), degrees));
  if (latest) update();
  getText("/chart/degrees", { width: widthOf(degrees) }).then((text) => degrees.replaceChildren(picture(text)), (error) => degrees.replaceChildren(problem(error)))
    .finally(() => degrees.setAttribute("aria-busy", "false"));
}
