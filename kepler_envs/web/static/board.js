// The picture of a position: shapes that touch legal actions can be clicked, or reached with the Tab key.
import { draw, make, once } from "./dom.js";

const BESIDE = 56; // units of the picture: a panel's left edge is nearer to its player's name than that

/** An action in words, with what they mean here. */
export const inFull = (action) => action.more ? `${action.words} (${action.more})` : action.words;

/** Whether two boxes overlap by more than an edge, and neither is inside the other. */
function crosses(a, b) {
  const wide = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x), high = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  const smaller = Math.min(a.width * a.height, b.width * b.height);
  return wide > 0 && high > 0 && wide * high > 0.08 * smaller && wide * high < 0.9 * smaller;
}

function outline(box, kind, room) {
  return draw("rect", { class: kind, x: box.x - room, y: box.y - room, width: box.width + 2 * room, height: box.height + 2 * room, rx: 5 });
}

export class Board {
  /** `pick(action)` is called with what was clicked; `point(ids)` with the actions of what the mouse is on. */
  constructor(pick = null, point = () => {}) {
    this.pick = pick;
    this.point = point;
    this.legal = new Map();
    this.frame = make("div", { class: innerWidth < 960 ? "board large" : "board", tabindex: 0, role: "region", "aria-label": "board" });
    this.zoom = make("button", { type: "button", title: "fit the page, or large enough to read" }, "Zoom");
    this.zoom.onclick = () => this.frame.classList.toggle("large");
    this.text = make("pre", { class: "wide", tabindex: 0, role: "region", "aria-label": "board in words" });
    this.inWords = make("details", {}, make("summary", {}, "The board in words"), this.text);
    this.menu = make("div", { class: "menu", role: "menu", hidden: true });
    document.addEventListener("pointerdown", (event) => { if (!this.menu.contains(event.target)) this.close(); });
    document.addEventListener("keydown", (event) => { if (event.key === "Escape" && !this.menu.hidden) { this.close(); this.asked?.focus(); } });
    this.menu.onkeydown = (event) => this.walk(event);
  }

  /** Show a picture (SVG as text) with its legal actions [{id, words, more}]; `text` is the same in words; `news` are the numbers of groups that changed. */
  show({ picture, text, news }, actions = []) {
    this.close();
    this.text.textContent = text;
    this.frame.innerHTML = picture; // made by the server or this page's own data, all texts escaped
    const groups = [...this.frame.querySelectorAll("g")], boxes = news.map((number) => groups[number]?.getBBox()).filter((box) => box?.width);
    if (boxes.length) {
      this.frame.querySelector("svg").append(draw("g", { class: "since" }, ...boxes.map((box) => outline(box, "new", 2))));
    }
    this.legal = new Map(actions.map((action) => [action.id, action]));
    if (this.pick) this.markAll();
    this.frame.tabIndex = this.first ? -1 : 0; // to be scrolled with keys where nothing in it can be reached by the Tab key
  }

  /** Move a board that is wider than its frame to the panel of the seat that looks at it. */
  turnToViewer() {
    const svg = this.frame.querySelector("svg"), name = [...svg.querySelectorAll("text")].find((text) => text.textContent.endsWith("(viewer)"));
    if (name) this.frame.scrollLeft = (name.getBBox().x - BESIDE) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  }

  /** Shapes that touch legal actions can be chosen. */
  markAll() {
    this.frame.querySelector("svg").setAttribute("role", "group"); // what is inside an image would be passed over
    const all = [...this.frame.querySelectorAll("[data-actions]")], around = all.map((group) => group.getBBox()); // what cannot be chosen may lie over a frame, too
    all.forEach((group, number) => {
      if (this.ids(group).length) this.mark(group, around[number], around.some((box) => crosses(box, around[number])));
    });
  }

  /** The first shape that can be chosen. */
  get first() { return this.frame.querySelector(".can"); }

  ids(group) { return group.dataset.actions.split(" ").map(Number).filter((id) => this.legal.has(id)); }

  /** Make a group one that can be clicked; a `crowded` one, as a hex of a map, has its frame inside. */
  mark(group, box, crowded) {
    const ids = this.ids(group);
    const words = ids.map((id) => inFull(this.legal.get(id)));
    group.classList.add("can");
    group.setAttribute("tabindex", "0");
    group.setAttribute("role", "button");
    group.setAttribute("aria-label", words.length > 1 ? `${words.length} moves: ${words.slice(0, 3).join(", ")}${words.length > 3 ? ", ..." : ""}` : words[0]);
    group.setAttribute("aria-description", [...group.querySelectorAll("title, text")].map((words) => words.textContent).join(" ")); // what stands in a button is not read out by itself
    group.prepend(outline(box, "touch", crowded ? 0 : 3)); // something to hit even between letters, below inner groups
    group.append(outline(box, "ring", crowded ? -6 : 3)); // something to see
    group.onclick = (event) => { event.stopPropagation(); once(() => this.chosen(ids, group))(event); };
    group.onkeydown = (event) => {
      if (event.target === group && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); this.chosen(ids, group); }
    };
    group.onpointerenter = () => this.point(ids);
    group.onpointerleave = () => this.point([]);
  }

  /** One action is taken, of several one is asked for. */
  chosen(ids, group) {
    if (ids.length === 1) { this.pick(ids[0]); return; }
    const buttons = ids.map((id) => make("button", { type: "button", role: "menuitem", "data-action": id, onclick: once(() => { this.close(); this.pick(id); }) }, inFull(this.legal.get(id))));
    this.asked = group;
    this.menu.replaceChildren(...buttons);
    if (!this.menu.isConnected) document.body.append(this.menu);
    this.menu.hidden = false;
    const at = group.getBoundingClientRect(), left = Math.min(at.left + scrollX, scrollX + innerWidth - this.menu.offsetWidth - 8);
    const below = at.bottom + this.menu.offsetHeight < innerHeight ? at.bottom : Math.max(4, at.top - this.menu.offsetHeight);
    this.menu.style.left = `${Math.max(4, left)}px`;
    this.menu.style.top = `${below + scrollY}px`;
    buttons[0].focus();
  }

  /** Arrow keys go from one entry of the menu to the next, and round; the Tab key leaves it. */
  walk(event) {
    if (event.key === "Tab") { this.close(); this.asked.focus(); }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const buttons = [...this.menu.children];
    buttons.at((buttons.indexOf(document.activeElement) + step) % buttons.length).focus();
  }

  close() { this.menu.hidden = true; }

  /** Light up what these actions touch. */
  light(ids) {
    for (const group of this.frame.querySelectorAll(".can")) group.classList.toggle("hot", this.ids(group).some((id) => ids.includes(id)));
  }
}
