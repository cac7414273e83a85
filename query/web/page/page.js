// The page shows one of four sections, which the fragment of its address names: #node=KEY, #ask, #models=NAME, #database.
// Without a name it is the node that the server begins with. No element has such an id, so that the browser does not scroll there.

import { byId } from "./dom.js";
import { locked, unlocked } from "./api.js";
import { startAsk } from "./ask.js";
import { showNode, startNode } from "./node.js";
import { showModels } from "./models.js";
import { showDatabase, watch } from "./database.js";

const sections = { node: showNode, ask: () => {}, models: showModels, database: showDatabase };

// show shows the section that the address names. Before the token was entered that is the one with statements.
function show() {
  const [name, argument] = location.hash.slice(1).split("=", 2);
  const section = locked() ? "ask" : Object.hasOwn(sections, name) ? name : "node";
  document.title = "kith";
  for (const id of Object.keys(sections)) byId(`section-${id}`).hidden = id !== section;
  for (const link of document.querySelectorAll("header nav a")) {
    if (link.hash === `#${section}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  scrollTo(0, 0);
  sections[section](decoded(argument ?? ""));
}

// decoded decodes a part of the address, which people may have changed.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

startAsk();
startNode();
show();
watch();
if (locked()) {
  byId("token").focus();
  unlocked.then(show);
}
addEventListener("hashchange", show);
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the fragment of the address names a section
  byId("main").focus();
});
