// The picture of the nodes around a node: its labels, its legend, which switches edges on and off, and zooming.

import { element, number, svg } from "./dom.js";

const deepest = 8; // largest magnification
const room = 13000; // square pixels for each label, so that a picture has few
const listed = 8; // relations of the legend that are shown at once

const off = new Set(); // the lines that the legend has switched off, by the keys of Drawing.kinds

const pen = document.createElement("canvas").getContext("2d"); // measures texts

// Drawing makes a picture that the server drew bare into one that can be explored.
//
// A view is the point of the picture at the left and top of the window, and a magnification k. Labels are as large on the
// screen at each magnification, so that there is room for more of them when there are fewer nodes in the window.
export class Drawing {
  constructor(root) {
    this.root = root;
    [this.width, this.height] = root.getAttribute("viewBox").split(" ").slice(2).map(Number);
    this.view = { x: 0, y: 0, k: 1 };
    this.nodes = [...root.querySelectorAll("a.node")].map(nodeOf).sort((a, b) => b.size - a.size || a.place - b.place);
    this.byPlace = new Map(this.nodes.map((n) => [n.place, n]));
    this.lines = [...root.querySelectorAll("[data-ends]")].map(lineOf);
    this.labels = root.appendChild(svg("g", { "aria-hidden": "true" }));
    const button = (text, name, act) => element("button", { type: "button", "aria-label": name, title: name, onclick: act }, text);
    this.back = button("⟲", "Show the whole picture", () => this.reset());
    this.element = element("div", { class: "explorer" }, root,
      element("div", { class: "beneath" }, this.legend(), element("div", { class: "zoom", role: "group", "aria-label": "Zoom" },
        button("+", "Zoom in", () => this.zoom(1.6)), button("−", "Zoom out", () => this.zoom(1 / 1.6)), this.back)));
    this.listen();
    this.apply();
    new ResizeObserver(() => this.soon()).observe(this.element);
  }

  // scale returns the size on the screen of a unit of the picture.
  scale() {
    const { width, height } = this.root.getBoundingClientRect();
    return (width ? Math.min(width / this.width, height / this.height) : 1) * this.view.k;
  }

  // at returns the point of the picture that an event is about.
  at(event) {
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(this.root.getScreenCTM().inverse());
  }

  // move shows a part of the picture, and reports whether it is another one.
  move(x, y, k) {
    const { view } = this, before = `${view.x} ${view.y} ${view.k}`;
    view.k = Math.min(Math.max(k, 1), deepest);
    view.x = Math.min(Math.max(x, 0), this.width * (1 - 1 / view.k));
    view.y = Math.min(Math.max(y, 0), this.height * (1 - 1 / view.k));
    this.soon();
    return before !== `${view.x} ${view.y} ${view.k}`;
  }

  // zoom magnifies by a factor around a point of the picture, or around the middle of the window.
  zoom(factor, point) {
    const { x, y, k } = this.view, to = Math.min(Math.max(k * factor, 1), deepest);
    const p = point ?? { x: x + this.width / k / 2, y: y + this.height / k / 2 };
    return this.move(p.x - ((p.x - x) * k) / to, p.y - ((p.y - y) * k) / to, to);
  }

  reset() {
    this.move(0, 0, 1);
  }

  // soon draws the view before the browser paints next.
  soon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.show();
    });
  }

  show() {
    const { x, y, k } = this.view;
    this.root.setAttribute("viewBox", `${x} ${y} ${this.width / k} ${this.height / k}`);
    this.shrink(1 / Math.sqrt(k)); // circles and arrows grow, but less than the distances
    this.element.classList.toggle("zoomed", k > 1);
    this.back.disabled = k === 1;
    this.label();
  }

  // shrink makes circles, arrows and the distances of lines from their nodes smaller by a factor.
  shrink(factor) {
    for (const n of this.nodes) {
      n.r = n.radius * factor;
      n.circle.setAttribute("r", n.r);
    }
    for (const { line, ends, points } of this.lines) {
      const at = ends.map((i) => this.byPlace.get(i));
      const shrunk = points.map((p, i) => {
        const n = points.length === 2 ? at[i] : at[1]; // an arrow is at the second node
        return `${n.x + factor * (p.x - n.x)} ${n.y + factor * (p.y - n.y)}`;
      });
      line.setAttribute("d", `M${shrunk.join("L")}${points.length === 2 ? "" : "Z"}`);
    }
  }

  // label writes the names of nodes, the largest first, each at the first place next to its node where it covers neither a
  // circle nor another name. Names for which there is no such place are left out.
  label() {
    const unit = 1 / this.scale(), { x, y, k } = this.view;
    const box = { left: x, top: y, right: x + this.width / k, bottom: y + this.height / k };
    const circles = this.nodes.filter((n) => n.shown && meets(box, around(n)));
    const taken = [], most = Math.max((this.width * this.height) / (unit * k) ** 2 / room, 6);
    this.labels.replaceChildren();
    for (const n of circles) {
      if (taken.length >= most) break;
      pen.font = `${n.size > 13 ? "bold " : ""}${n.size}px sans-serif`;
      const width = pen.measureText(n.name).width * unit, high = n.size * unit, gap = n.r + 3 * unit;
      const places = [["start", gap, high * 0.35], ["end", -gap, high * 0.35], ["middle", 0, -gap], ["middle", 0, gap + high * 0.8]];
      for (const [anchor, dx, dy] of places) {
        const left = n.x + dx - { start: 0, middle: width / 2, end: width }[anchor], base = n.y + dy;
        const rect = { left: left - 2 * unit, top: base - high * 0.85, right: left + width + 2 * unit, bottom: base + high * 0.25 };
        if (!within(rect, box) || taken.some((t) => meets(t, rect)) || circles.some((c) => c !== n && covers(rect, c))) continue;
        taken.push(rect);
        this.labels.append(svg("text", {
          class: n.faint ? "name faint" : "name", x: n.x + dx, y: base, "font-size": high, "text-anchor": anchor, fill: "currentColor",
          "stroke-width": 3 * unit, "font-weight": n.size > 13 ? "bold" : "normal", "pointer-events": "none",
        }, n.name));
        break;
      }
    }
  }

  // kinds returns the kinds of lines, each with its color and number, the most frequent first.
  kinds() {
    const kinds = new Map();
    for (const { line, kind } of this.lines) {
      if (!line.hasAttribute("stroke")) continue; // the head of an arrow
      if (!kinds.has(kind)) kinds.set(kind, { kind, color: line.getAttribute("stroke"), count: 0 });
      kinds.get(kind).count++;
    }
    return [...kinds.values()].sort((a, b) => (b.kind === predicted) - (a.kind === predicted) || b.count - a.count);
  }

  // legend says what the marks mean, and has a switch for each kind of lines.
  legend() {
    const switches = this.kinds().map(({ kind, color, count }) => element("label", {},
      element("input", {
        type: "checkbox", checked: !off.has(kind), value: kind,
        onchange: (event) => {
          if (event.target.checked) off.delete(kind);
          else off.add(kind);
          this.apply();
          this.soon();
        },
      }),
      dash(color, kind === predicted), element("span", {}, kind === predicted ? "predicted link" : kind.slice(1) || (kind === "" ? "edge" : "without relation")),
      element("span", { class: "hint" }, number(count))));
    const labels = new Map(this.nodes.filter((n) => n.place > 0 && n.label !== undefined).map((n) => [n.label, n.color]));
    const dots = labels.size > 0 ? [...labels].sort() : [["node", this.nodes.find((n) => n.place > 0)?.color]];
    const marks = dots.filter(([, color]) => color).map(([name, color]) => element("span", {}, dot(color), name || "without label"));
    const more = switches.slice(listed);
    return element("fieldset", { class: "legend" }, element("legend", { class: "unseen" }, "Lines shown"), switches.slice(0, listed),
      element("span", {}, dot(this.nodes.find((n) => n.place === 0)?.color ?? "none"), "center"), marks,
      more.length > 0 ? element("details", {}, element("summary", {}, `${more.length} more relations`), more) : null);
  }

  // apply hides the lines that are switched off, and the nodes that no line is left for.
  apply() {
    const left = new Set([0]), linked = new Set();
    for (const { line, kind, ends } of this.lines) {
      line.classList.toggle("off", off.has(kind));
      ends.forEach((i) => linked.add(i));
      if (!off.has(kind)) ends.forEach((i) => left.add(i));
    }
    for (const n of this.nodes) {
      n.shown = left.has(n.place) || !linked.has(n.place);
      n.element.classList.toggle("off", !n.shown);
    }
  }

  // listen makes the wheel, pointers and keys move the picture.
  listen() {
    const { root } = this, pointers = new Map();
    let dragged = false;
    root.addEventListener("wheel", (event) => {
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      if (this.zoom(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.002)), this.at(event)) || event.ctrlKey) event.preventDefault();
    }, { passive: false });
    root.addEventListener("pointerdown", (event) => {
      if (pointers.size === 0) dragged = false;
      if (event.button === 0) pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    });
    root.addEventListener("pointermove", (event) => {
      const from = pointers.get(event.pointerId);
      if (!from) return;
      const dx = event.clientX - from.x, dy = event.clientY - from.y;
      const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, p]) => p);
      if (!dragged && others.length === 0 && Math.hypot(dx, dy) < 5) return; // a click is rarely quite still
      if (others.length === 0 && this.view.k === 1) return; // the whole picture is shown
      dragged = true;
      root.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      const share = 1 / (others.length + 1), unit = 1 / this.scale();
      this.move(this.view.x - dx * unit * share, this.view.y - dy * unit * share, this.view.k);
      if (others.length !== 1) return;
      const [other] = others, apart = (x, y) => Math.max(Math.hypot(x - other.x, y - other.y), 1);
      const middle = { clientX: (event.clientX + other.x) / 2, clientY: (event.clientY + other.y) / 2 };
      this.zoom(apart(event.clientX, event.clientY) / apart(from.x, from.y), this.at(middle));
    });
    for (const name of ["pointerup", "pointercancel"]) root.addEventListener(name, (event) => pointers.delete(event.pointerId));
    root.addEventListener("pointerleave", (event) => dragged || pointers.delete(event.pointerId));
    root.addEventListener("dragstart", (event) => event.preventDefault()); // of a link
    root.addEventListener("click", (event) => {
      if (dragged) event.preventDefault();
      dragged = false;
    }, true);
    root.addEventListener("focusin", (event) => {
      const n = this.nodes.find((n) => n.element === event.target), { x, y, k } = this.view;
      if (n && (n.x < x || n.x > x + this.width / k || n.y < y || n.y > y + this.height / k)) this.move(n.x - this.width / k / 2, n.y - this.height / k / 2, k);
    });
    this.element.addEventListener("keydown", (event) => {
      const { x, y, k } = this.view, step = this.width / k / 8;
      const moves = {
        "+": () => this.zoom(1.6), "=": () => this.zoom(1.6), "-": () => this.zoom(1 / 1.6), 0: () => this.reset(),
        ArrowLeft: () => this.move(x - step, y, k), ArrowRight: () => this.move(x + step, y, k),
        ArrowUp: () => this.move(x, y - step, k), ArrowDown: () => this.move(x, y + step, k),
      };
      if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(moves, event.key)) return;
      if (moves[event.key]() !== false || !event.key.startsWith("Arrow")) event.preventDefault();
    });
  }
}

const predicted = "predicted";

// kindOf returns the kind of a line: predicted, - and its relation or, if there are no relations, "".
function kindOf(line) {
  if (line.classList.contains("predicted")) return predicted;
  return line.dataset.relation === undefined ? "" : `-${line.dataset.relation}`;
}

// lineOf returns what a drawing needs of a line, or of the head of its arrow.
function lineOf(line) {
  const points = line.getAttribute("d").slice(1).replace("Z", "").split("L").map((p) => p.split(" ").map(Number)).map(([x, y]) => ({ x, y }));
  return { line, kind: kindOf(line), ends: line.dataset.ends.split(" ").map(Number), points };
}

// nodeOf returns what a drawing needs of the link around a circle. The size is that of its label in pixels.
function nodeOf(a) {
  const circle = a.querySelector("circle"), [x, y, r] = ["cx", "cy", "r"].map((name) => Number(circle.getAttribute(name)));
  const size = a.classList.contains("center") ? 15 : a.classList.contains("target") ? 13 : 10.5 + r / 8;
  return {
    element: a, circle, x, y, r, radius: r, size, color: circle.getAttribute("fill"), place: Number(a.dataset.number), name: a.dataset.name, label: a.dataset.label,
    faint: a.classList.contains("faint"), shown: true,
  };
}

const around = (n) => ({ left: n.x - n.r, top: n.y - n.r, right: n.x + n.r, bottom: n.y + n.r });
const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
const within = (a, b) => a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;

// covers reports whether a rectangle covers a part of the circle of a node.
function covers(rect, n) {
  const dx = n.x - Math.min(Math.max(n.x, rect.left), rect.right), dy = n.y - Math.min(Math.max(n.y, rect.top), rect.bottom);
  return dx * dx + dy * dy < n.r * n.r;
}

const swatch = (width, shape) => svg("svg", { viewBox: `0 0 ${width} 10`, width, height: 10, "aria-hidden": "true" }, shape);
const dash = (color, dashed) => swatch(26, svg("line", { x1: 0, x2: 26, y1: 5, y2: 5, stroke: color, "stroke-width": 2.5, "stroke-dasharray": dashed ? "6 4" : "none" }));
const dot = (color) => swatch(10, svg("circle", { cx: 5, cy: 5, r: 4.5, fill: color }));
