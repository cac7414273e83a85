// A client of kith over HTTP, with fetch, and the loop choose, reward, predict.
//
//     kith serve social.kith --write --token-file token
//     node client.mjs http://127.0.0.1:7331 token
import { readFileSync } from "node:fs";

// KithError is an error of a request. Its kind is a word such as not_found, exists or input; status is that of HTTP: 404 for
// what does not exist, 409 for what exists or has happened already, 422 for what cannot be carried out.
class KithError extends Error {
  constructor(status, error) {
    super(error.text);
    this.status = status;
    this.kind = error.kind;
  }
}

// Kith sends requests. Nodes are text in all of them, so that integers above 2^53 keep their digits: 7 is the integer, ann
// the string, and '7', in single quotes, the string 7. If the connection breaks, a request that writes may have been
// carried out. All may be sent again, except choose, which makes another decision, and observe without an id.
class Kith {
  constructor(url, token) {
    this.url = url.replace(/\/$/, "");
    this.headers = { "Content-Type": "application/json" };
    if (token) this.headers.Authorization = `Bearer ${token}`;
  }

  predict = (question) => this.post("/predict", question);
  choose = (question) => this.post("/choose", question);
  reward = (outcome) => this.post("/reward", outcome);
  observe = (outcome) => this.post("/observe", outcome);
  why = (question) => this.post("/why", question);
  putNodes = (nodes, create = false) => this.post("/nodes", { nodes, create });
  putEdges = (edges, create = false) => this.post("/edges", { edges, create });

  // post sends a request and returns its answer. A signal cancels it.
  async post(path, members, signal) {
    return JSON.parse(await this.send(path, members, signal));
  }

  // run runs a statement, with a parameter for each ?, and returns its rows as objects. {key: node} is a parameter that is
  // a node, as text.
  async run(statement, parameters = [], signal) {
    const lines = (await this.send("/query", { statement, parameters }, signal)).trimEnd().split("\n").map((line) => JSON.parse(line));
    const last = lines.at(-1);
    if (!("rows" in last)) throw last.error ? new KithError(200, last.error) : new Error("the answer is incomplete");
    const { columns } = lines[0];
    const rows = lines.filter((line) => line.row);
    return rows.map(({ row }) => Object.fromEntries(columns.map((name, i) => [name, value(row[i])])));
  }

  // send sends a request and returns the text of its answer.
  async send(path, members, signal = AbortSignal.timeout(60_000)) {
    const body = JSON.stringify({ keys: "text", ...members });
    const answer = await fetch(this.url + path, { method: "POST", headers: this.headers, body, signal });
    const text = await answer.text();
    if (!answer.ok) throw new KithError(answer.status, JSON.parse(text).error);
    return text;
  }
}

// value returns a value of a row: a node among other values is {key}. null is absent or, for an error, unknown.
const value = (v) => v?.key ?? v;

const [url, tokenFile] = process.argv.slice(2);
const kith = new Kith(url, readFileSync(tokenFile, "utf8").trim());
const liked = { ann: ["tea"], bob: ["tea", "milk"], cid: ["milk", "rum"], dan: ["rum"] };
await kith.putEdges(Object.entries(liked).flatMap(([source, targets]) => targets.map((target) => ({ source, target }))));
try {
  await kith.run("CREATE MODEL drinks USING prb");
} catch (e) {
  if (e.status !== 409) throw e;
}
const question = { source: "ann", candidates: ["milk", "rum"], model: "drinks" };
for (let i = 0; i < 20; i++) {
  const menu = await kith.choose({ ...question, places: 2 });
  const { place } = menu.places.find(({ target }) => target === "milk"); // here a program shows the menu, and waits for a click
  await kith.reward({ decision: menu.decision, place, reward: 1, examined: "above" });
}
await kith.observe({ source: "ann", target: "rum", reward: 0, model: "drinks", id: "ann sent the rum back" });
for (const { rank, target, score } of (await kith.predict(question)).links) {
  console.log(`${rank}. ${target}: score ${score.toFixed(3)}`);
}
