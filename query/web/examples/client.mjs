// A client of kith over HTTP, with fetch, and the loop choose, reward, predict.
//
//     kith serve social.kith --write --token-file token
//     node client.mjs http://127.0.0.1:7331 token
import { readFileSync } from "node:fs";

// KithError is an error of a statement. Its kind is a word such as not_found, exists or input; status is that of HTTP.
class KithError extends Error {
  constructor(status, error) {
    super(error.text);
    this.status = status;
    this.kind = error.kind;
  }
}

class Kith {
  constructor(url, token) {
    this.url = url.replace(/\/$/, "");
    this.headers = { "Content-Type": "application/json" };
    if (token) this.headers.Authorization = `Bearer ${token}`;
  }

  // run runs a statement, with a parameter for each ?, and returns its rows as objects. A signal cancels it. If the
  // connection breaks, a statement that writes may have been committed: REWARD and MERGE may be sent again, OBSERVE
  // may not. Nodes of the answer are text, so that integers above 2^53 keep their digits: 7 is the integer, ann the
  // string, and '7', in single quotes, the string 7. node(text) makes a parameter of such a text.
  async run(statement, parameters = [], signal = AbortSignal.timeout(60_000)) {
    const body = JSON.stringify({ statement, parameters, keys: "text" });
    const answer = await fetch(`${this.url}/query`, { method: "POST", headers: this.headers, body, signal });
    const lines = (await answer.text()).trimEnd().split("\n").map((line) => JSON.parse(line));
    if (!answer.ok) throw new KithError(answer.status, lines[0].error);
    if (!("rows" in lines.at(-1))) throw new Error("the answer is incomplete");
    const { columns } = lines[0];
    const rows = lines.filter((line) => line.row);
    return rows.map(({ row }) => Object.fromEntries(columns.map((name, i) => [name, value(row[i])])));
  }
}

// node returns the parameter for a node that is given as text, as in an answer.
const node = (text) => ({ key: text });

// value returns a value of a row: a node among other values is {key}. null is absent or, for an error, unknown.
const value = (v) => v?.key ?? v;

const [url, tokenFile] = process.argv.slice(2);
const kith = new Kith(url, readFileSync(tokenFile, "utf8").trim());
await kith.run("MERGE EDGES 'ann' -> 'tea', 'bob' -> 'tea', 'bob' -> 'milk', 'cid' -> 'milk', 'cid' -> 'rum', 'dan' -> 'rum'");
try {
  await kith.run("CREATE MODEL drinks USING prb");
} catch (e) {
  if (e.kind !== "exists") throw e;
}
for (let i = 0; i < 20; i++) {
  const menu = await kith.run("CHOOSE 2 LINKS FOR ? AMONG ? USING drinks", [node("ann"), ["milk", "rum"]]);
  const clicked = menu.find((choice) => choice.target === "milk"); // here a program shows the menu to a person, and waits
  await kith.run("REWARD ? PLACE ? = 1 WITH (examined = above)", [clicked.decision, clicked.place]);
}
for (const link of await kith.run("PREDICT LINKS FOR ? AMONG ? USING drinks", ["ann", ["milk", "rum"]])) {
  console.log(`${link.rank}. ${link.target}: score ${link.score.toFixed(3)}`);
}
