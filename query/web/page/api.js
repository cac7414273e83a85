// Requests to the server. A node is known by its spelling in statements: 12 or 'ann'.

let token = "";

// setToken sets the token of requests that need one. It is kept in memory only.
export function setToken(value) {
  token = value;
}

// unlocked resolves once requests may be sent: at once, or if reading needs the token too, when one was accepted.
export const unlocked = new Promise((resolve) => {
  if (!("locked" in document.body.dataset)) resolve();
  else addEventListener("unlock", resolve, { once: true });
});

// unlock tries the token on a server that needs it for reading, and fails with the error of the server.
export async function unlock() {
  await get("/stats", {});
  delete document.body.dataset.locked;
  dispatchEvent(new Event("unlock"));
}

// writable reports whether the server lets statements with its token change the database.
export const writable = () => "writable" in document.body.dataset;

// locked reports whether the server is to be asked nothing yet.
export const locked = () => "locked" in document.body.dataset;

// headers returns the headers of a request, with the token if there is one.
const headers = (others = {}) => (token ? { ...others, Authorization: `Bearer ${token}` } : others);

// Fault is an error of the server. It has the position in the statement, if there is one.
export class Fault extends Error {
  constructor(fault) {
    super(messageOf(fault));
    this.line = fault.line || 0;
    this.column = fault.column || 0;
    this.kind = fault.kind || "";
  }
}

function messageOf(fault) {
  let text = fault.message;
  if (!text && fault.expected) text = `found ${fault.found}, expected ${alternatives(fault.expected)}`;
  if (fault.did_you_mean) text += `; did you mean ${fault.did_you_mean}?`;
  return text || "the server sent an error without a message";
}

function alternatives(list) {
  return list.length < 2 ? list.join("") : `${list.slice(0, -1).join(", ")} or ${list.at(-1)}`;
}

// parse parses JSON. An integer that a number of JavaScript cannot hold becomes a BigInt, where the browser can tell.
function parse(text) {
  return JSON.parse(text, (_, value, context) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "") ? BigInt(context.source) : value);
}

// spell returns a node as statements spell it.
export function spell(key) {
  return typeof key === "string" ? `'${key.replaceAll("'", "''")}'` : String(key);
}

// spellJSON returns a node, which is given as JSON, as statements spell it.
export const spellJSON = (text) => spell(parse(text));

// plain returns the spelling of a node without its quotes.
export function plain(spelling) {
  return spelling.startsWith("'") ? spelling.slice(1, -1).replaceAll("''", "'") : spelling;
}

// quoteName returns the name of a model as statements spell it.
export const quoteName = (name) => `"${name.replaceAll('"', '""')}"`;

// run runs a statement. It calls head with the columns and with whether each holds nodes, row with each row as soon as it
// arrives, note with each note and, if it is given, progress with how far the statement is. It resolves to the number of
// rows. Aborting signal cancels the statement.
export async function run(statement, { signal, head = () => {}, row = () => {}, note = () => {}, progress } = {}) {
  const json = headers({ "Content-Type": "application/json" });
  const body = JSON.stringify(progress ? { statement, progress: true } : { statement });
  const answer = await fetch("/query", { method: "POST", headers: json, body, signal });
  let rows = null;
  await eachLine(answer.body, (text) => {
    const line = parse(text);
    if (line.error) throw new Fault(line.error);
    if (line.columns) head(line.columns, line.columns.map((name) => (line.keys || []).includes(name)));
    else if (line.row) row(line.row);
    else if (line.note !== undefined) note(line.note);
    else if (line.progress) progress?.(line.progress);
    else rows = line.rows;
  });
  if (rows === null) throw new Error("the answer breaks off");
  return rows;
}

async function eachLine(body, call) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    lines.forEach(call);
  }
  if (rest) call(rest);
}

// select runs a statement and resolves to an object a row, by column. Nodes are spelled. Its notes are added to notes.
export async function select(statement, signal, notes = []) {
  const rows = [];
  let columns, keys;
  await run(statement, {
    signal,
    note: (text) => notes.push(text),
    head: (c, k) => ([columns, keys] = [c, k]),
    row: (r) => rows.push(Object.fromEntries(columns.map((name, i) => [name, keys[i] && r[i] !== null ? spell(r[i]) : r[i]]))),
  });
  return rows;
}

// get requests a path with parameters and resolves to the answer, or fails with its error.
async function get(path, parameters, signal) {
  const used = Object.entries(parameters).flatMap(([name, value]) =>
    Array.isArray(value) ? value.map((v) => [name, v]) : value === "" || value === undefined ? [] : [[name, value]]);
  const query = new URLSearchParams(used).toString();
  const answer = await fetch(query ? `${path}?${query}` : path, { headers: headers(), signal });
  if (!answer.ok) {
    const text = await answer.text();
    let line;
    try {
      line = parse(text);
    } catch {
      throw new Error(`${path}: status ${answer.status}`);
    }
    throw new Fault(line.error);
  }
  return answer;
}

// getJSON requests a path that answers with JSON.
export const getJSON = async (path, parameters, signal) => parse(await (await get(path, parameters, signal)).text());

// getText requests a path that answers with text, such as a picture.
export const getText = async (path, parameters, signal) => (await get(path, parameters, signal)).text();

// follow calls call with the data of each server-sent event of a path, until the connection ends. An EventSource cannot send
// a token.
export async function follow(path, call, signal) {
  const answer = await get(path, {}, signal);
  await eachLine(answer.body, (line) => {
    if (line.startsWith("data: ")) call(parse(line.slice("data: ".length)));
  });
}

// complete returns the values that complete a statement, and the word that they replace.
export const complete = async (text, signal) => (locked() ? { word: "", values: [] } : getJSON("/complete", { text }, signal));
