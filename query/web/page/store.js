// What the browser keeps for this page. Without storage, reading finds nothing and writing does nothing.

// read returns the list under a name.
export function read(name) {
  try {
    const list = JSON.parse(localStorage.getItem(`kith.${name}`));
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

// write replaces the list under a name, and reports whether the browser keeps it.
export function write(name, list) {
  try {
    localStorage.setItem(`kith.${name}`, JSON.stringify(list));
    return true;
  } catch {
    return false;
  }
}
