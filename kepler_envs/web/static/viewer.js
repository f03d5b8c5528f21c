// A game to look at: slider and keys, whose view, decisions in words, plots. The same for the server's pages and for pages from disk.
import { Board } from "./board.js";
import { heardItem, make, paintSeats, player } from "./dom.js";
import { Asking, Moves } from "./moves.js";
import { biggestDrops, Plot } from "./plot.js";

const PACES = [["slow", 1500], ["usual", 600], ["fast", 200], ["fastest", 40]];
const AROUND = 40; // decisions in words before and after the one on show

export class Viewer {
  /** `source` has frame(at, view) -> {picture, text, news, turn, actions, taken}, and ask(at, bot) if bots can be asked. */
  constructor(root, source) {
    this.source = source;
    this.at = 0;
    this.view = "open";
    this.timer = null;
    this.board = new Board();
    this.moves = new Moves();
    this.plots = { scores: new Plot((at) => this.visit(at)), expected: new Plot((at) => this.visit(at)) };
    this.asking = source.ask ? new Asking((bot) => source.ask(this.at, bot), this.moves) : null;
    this.build(root);
    document.addEventListener("keydown", (event) => this.key(event));
  }

  build(root) {
    const button = (words, title, act) => make("button", { type: "button", title, "aria-label": title, onclick: act }, words);
    this.slider = make("input", { type: "range", min: 0, value: 0, "aria-label": "position" });
    this.slider.oninput = () => this.visit(Number(this.slider.value));
    this.playing = make("button", { type: "button", title: "play or pause (space)", onclick: () => this.play() }, "Play"); // its words say which
    this.pace = make("select", { "aria-label": "pace" }, ...PACES.map(([words]) => make("option", {}, words)));
    this.pace.value = "usual";
    this.seats = make("select", { "aria-label": "whose view", class: "view" });
    this.seats.onchange = () => { this.view = this.seats.value; this.go(this.at); };
    this.where = make("p", { class: "prompt", "aria-live": "polite" });
    this.words = make("p", { class: "bad", role: "alert" });
    this.count = make("span", { "aria-live": "off" }); // grows while a game is being played
    this.told = make("ol", { class: "heard", title: "up and down arrows move in this list", "aria-label": "decisions" });
    this.drops = make("div", { class: "row" });
    this.results = make("div");
    this.moveBox = make("section", { class: "choices" }, make("h2", {}, "Legal moves"), this.asking?.box ?? null, this.moves.box);
    this.expectedBox = make("section", {}, make("h2", {}, "What the network expects"), this.plots.expected.box, this.drops);
    const steps = make("div", { class: "steps" }, button("|<", "to the start (Home)", () => this.visit(0)), button("<", "back (left arrow)", () => this.visit(this.at - 1)),
      this.playing, button(">", "on (right arrow)", () => this.visit(this.at + 1)), button(">|", "to the end (End)", () => this.visit(this.last)), this.slider, this.pace, this.seats, this.board.zoom);
    root.replaceChildren(make("div", { class: "table" },
      make("div", { class: "picture" }, this.where, this.words, this.board.frame, steps, this.board.inWords),
      make("div", { class: "side" }, make("section", {}, make("h2", {}, "Decisions"), this.told), this.results,
        make("section", {}, make("h2", {}, "Scores"), this.plots.scores.box), this.expectedBox),
      make("div", { class: "below" }, this.moveBox)));
  }

  get last() { return this.story.told.length; }

  /** Show a story (see films.py); a longer one may follow. One that is told `anew` may differ from the last one. */
  show(story, anew = true) {
    const first = !this.story;
    this.story = story;
    if (first) {
      this.seats.replaceChildren(make("option", { value: "open" }, "everything visible"), ...story.seats.map((name, seat) => make("option", { value: seat }, `seen by ${player(seat)}`)));
      document.title = story.title;
      paintSeats(story.colours);
    }
    this.asking?.offer(story.bots);
    this.slider.max = this.last;
    this.plots.scores.show(story.scores, story.seats, "scores");
    this.expectedBox.hidden = !story.expected;
    if (story.expected) {
      this.plots.expected.show(story.expected, story.seats, `return that ${story.expects} expects`);
      const drops = biggestDrops(story.expected);
      this.drops.replaceChildren(...drops.map((drop, number) => make("button", { type: "button", class: "drop", onclick: () => this.visit(drop.at - 1) },
        `${number ? "" : "Biggest drop: "}${player(drop.seat)} -${drop.fall.toFixed(2)} at ${drop.at}`)));
    }
    this.results.replaceChildren(...(story.results.length ? [resultTable(story.results)] : []));
    if (anew || this.shown !== this.place()) this.go(this.at);
    else this.grow();
  }

  place() { return `${this.at} ${this.view}`; }

  /** There are more decisions: what the reader does here is left alone. */
  grow() {
    this.count.textContent = this.last;
    this.mark();
    this.told.append(...this.sentences(this.from + this.told.childElementCount));
    if (!this.told.querySelector("[tabindex='0']")) this.stopAt(this.told.querySelector("button"));
  }

  /** Go where the reader wants to look: a game that plays would go on from there at once. */
  visit(at) {
    if (at < this.last) this.pause();
    return this.go(at);
  }

  /** Go to a position. One that cannot be had is said, and stops the play. */
  async go(at) {
    this.at = Math.max(0, Math.min(this.last, at));
    this.slider.value = this.at;
    const wanted = this.place();
    this.wanted = wanted;
    this.asking?.forget();
    let frame = null, problem = "";
    try {
      frame = await this.source.frame(this.at, this.view);
    } catch (error) {
      problem = error.message;
    }
    if (this.wanted !== wanted) return; // the reader is elsewhere already
    this.words.textContent = problem;
    if (!frame) { this.pause(); return; }
    this.board.show(frame);
    if (this.looking !== this.view) this.board.turnToViewer(); // later the reader moves it
    this.looking = this.view;
    this.shown = wanted;
    this.board.frame.dataset.at = this.at;
    this.count.textContent = this.last;
    this.where.replaceChildren(`${this.at} of `, this.count, ` decisions${this.at ? `: ${this.sentence(this.at - 1)}` : ""}`);
    this.mark();
    this.moveBox.hidden = !frame.actions?.length;
    if (frame.actions) this.moves.show(frame.actions, frame.taken);
    this.tell();
  }

  sentence(number) {
    const told = this.story.told[number];
    const hidden = told.public !== undefined && this.view !== "open" && Number(this.view) !== told.seat && !this.over();
    return `${player(told.seat)}: ${hidden ? told.public : told.words}`;
  }

  /** In a finished game everything is open. */
  over() { return this.story.results.length > 0 && this.at === this.last; }

  mark() { for (const plot of Object.values(this.plots)) plot.mark(this.at); }

  get from() { return Math.max(0, this.at - AROUND); }

  /** The decisions in words around the one on show, from `start` on. */
  sentences(start) {
    const to = Math.min(this.last, this.at + AROUND), items = [];
    for (let number = start; number < to; number++) {
      const button = make("button", { type: "button", tabindex: -1, onclick: () => this.visit(number + 1), onfocus: () => this.stopAt(button) }, `${number + 1}  ${this.sentence(number)}`);
      items.push(heardItem(this.story.told[number].seat, number === this.at - 1 ? "now" : "", button));
    }
    return items;
  }

  /** The Tab key stops once in the list of decisions, at this one: what follows would be far away otherwise. */
  stopAt(button) {
    for (const other of this.told.querySelectorAll("[tabindex='0']")) other.tabIndex = -1;
    if (button) button.tabIndex = 0;
  }

  tell() {
    const held = this.told.contains(document.activeElement);
    this.told.replaceChildren(...this.sentences(this.from));
    const now = this.told.querySelector(".now");
    if (now) this.told.scrollTop = now.offsetTop - this.told.offsetTop - this.told.clientHeight / 2;
    const first = (now ?? this.told).querySelector("button");
    this.stopAt(first);
    if (held) first?.focus({ preventScroll: true });
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    this.playing.textContent = "Play";
  }

  play() {
    if (this.timer !== null) { this.pause(); return; }
    if (this.at === this.last && !this.story.growing) this.at = -1;
    this.playing.textContent = "Pause";
    const step = async () => {
      const mine = this.timer;
      if (this.at < this.last) await this.go(this.at + 1);
      if (this.timer !== mine) return; // paused, or played again, meanwhile
      if (this.at >= this.last && !this.story.growing) { this.pause(); return; }
      this.timer = setTimeout(step, PACES.find(([words]) => words === this.pace.value)[1]);
    };
    this.timer = setTimeout(step, 0);
  }

  key(event) {
    const on = event.target;
    if (on.closest("input:not([type=range]), select, textarea, dialog") || event.ctrlKey || event.metaKey || event.altKey) return;
    if ([this.board.frame, this.board.text].includes(on) && event.key.startsWith("Arrow") && on.scrollWidth > on.clientWidth) return; // they move the board
    if (on === this.moves.list && ["PageDown", "PageUp", "Home", "End"].includes(event.key)) return; // they move the list
    if (this.told.contains(on) && ["ArrowUp", "ArrowDown"].includes(event.key)) {
      const next = on.closest("li")?.[event.key === "ArrowUp" ? "previousElementSibling" : "nextElementSibling"];
      next?.querySelector("button").focus();
      event.preventDefault();
      return;
    }
    const moves = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10 };
    if (event.key in moves) this.visit(this.at + moves[event.key] * (event.shiftKey ? 10 : 1));
    else if (event.key === "Home") this.visit(0);
    else if (event.key === "End") this.visit(this.last);
    else if (event.key === "/") this.moves.filter.focus();
    else if (event.key === " " && !["BUTTON", "SUMMARY"].includes(on.tagName)) this.play();
    else if (event.key === "v") { this.seats.selectedIndex = (this.seats.selectedIndex + 1) % this.seats.length; this.seats.onchange(); }
    else return;
    event.preventDefault();
  }
}

/** Who came where. */
export function resultTable(rows) {
  const alone = rows.length === 1; // who plays alone has no rank
  const head = [...(alone ? [] : ["rank"]), "seat", "who", "score", "reward"];
  const cells = (row) => [...(alone ? [] : [row.rank]), player(row.seat), row.name, row.score, `${row.reward > 0 ? "+" : ""}${row.reward}`];
  return make("section", { class: "results" }, make("h2", {}, "Result"), make("table", {},
    make("thead", {}, make("tr", {}, ...head.map((words) => make("th", { scope: "col" }, words)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...cells(row).map((words) => make("td", {}, `${words}`)))))));
}
