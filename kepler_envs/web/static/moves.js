// All legal actions in words, with a filter, and what a bot thinks of them as bars.
import { inFull } from "./board.js";
import { make, once } from "./dom.js";

const signed = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2, signDisplay: "exceptZero" });

export class Moves {
  /** `pick(action)`: null for a list to read only; `point(ids)`: what the mouse is on. */
  constructor(pick = null, point = () => {}) {
    this.pick = pick;
    this.point = point;
    this.actions = [];
    this.taken = null;
    this.advice = null;
    this.filter = make("input", { type: "search", placeholder: "filter the moves ( / )", "aria-label": "filter the moves" });
    this.filter.oninput = () => this.draw();
    this.filter.onkeydown = (event) => {
      if (event.key === "Enter" && this.shown().length === 1) this.pick?.(this.shown()[0].id);
      if (event.key === "Escape") { this.filter.value = ""; this.filter.blur(); this.draw(); }
    };
    this.note = make("p", { class: "faint", role: "status", hidden: true });
    this.list = make("ol", { class: "moves", "aria-label": "moves", tabindex: pick ? null : 0 }); // without buttons it is scrolled by itself
    this.box = make("div", {}, this.filter, this.note, this.list);
  }

  /** Show these actions; `taken` is marked. A new list drops the advice about the last one. */
  show(actions, taken = null) {
    this.actions = actions;
    this.taken = taken;
    this.advice = null;
    this.filter.value = "";
    this.filter.hidden = actions.length < 2;
    this.draw();
  }

  /** Show what a bot says: {spec, note, rows: [{id, share, value}]}. */
  tell(advice) { this.advice = advice; this.draw(); }

  shown() {
    const words = this.filter.value.trim().toLowerCase().split(/\s+/);
    const found = this.actions.filter((action) => words.every((word) => inFull(action).toLowerCase().includes(word)));
    if (!this.advice) return found;
    const place = new Map(this.advice.rows.map((row, number) => [row.id, number]));
    return found.toSorted((a, b) => (place.get(a.id) ?? 1e9) - (place.get(b.id) ?? 1e9));
  }

  draw() {
    const said = new Map((this.advice?.rows ?? []).map((row) => [row.id, row]));
    this.note.hidden = !this.advice;
    this.note.textContent = this.advice ? `${this.advice.spec}: ${this.advice.kind}; ${this.advice.note}` : "";
    this.list.replaceChildren(...this.shown().map((action, number) => make("li", { "data-action": action.id }, this.entry(action, number, said.get(action.id)))));
  }

  entry(action, number, row) {
    const parts = [];
    if (row) {
      const bar = make("span", { class: "bar" });
      bar.style.width = `${100 * row.share}%`;
      parts.push(bar);
    }
    if (this.pick) parts.push(make("span", { class: "key" }, number < 9 ? `${number + 1}` : ""));
    parts.push(make("span", { class: "words" }, action.words), action.more ? make("span", { class: "more faint" }, action.more) : "");
    if (row) parts.push(make("span", { class: "share" }, `${(100 * row.share).toFixed(row.share && row.share < 0.1 ? 1 : 0)} %${typeof row.value === "number" ? `  ${signed.format(row.value)}` : ""}`));
    const kind = action.id === this.taken ? "move taken" : "move";
    if (!this.pick) return make("div", { class: kind }, ...parts);
    return make("button", { type: "button", class: kind, onclick: once(() => this.pick(action.id)), onpointerenter: () => this.point([action.id]),
      onpointerleave: () => this.point([]), onfocus: () => this.point([action.id]), onblur: () => this.point([]) }, ...parts);
  }

  /** Mark the entries of these actions. */
  light(ids) { for (const item of this.list.children) item.classList.toggle("hot", ids.includes(Number(item.dataset.action))); }

  /** The button of the first move that is shown. */
  get first() { return this.list.querySelector("button"); }

  /** The n-th move that is shown, from 0; undefined if there are fewer. */
  at(number) { return this.shown()[number]; }
}

/** A bot to ask: a choice, and a button. `question(spec)` gives its answer. */
export class Asking {
  constructor(question, moves) {
    this.bot = make("select", { "aria-label": "bot to ask" });
    this.button = make("button", { type: "button" }, "What would it do?");
    this.words = make("span", { class: "faint", role: "status" });
    this.box = make("div", { class: "row ask" }, this.bot, this.button, this.words);
    this.asked = 0;
    this.button.onclick = async () => {
      if (this.button.ariaDisabled) return;
      const number = ++this.asked;
      this.button.ariaDisabled = "true"; // a button that is disabled would lose the focus
      this.words.textContent = "thinking ...";
      try {
        const said = await question(this.bot.value);
        if (number === this.asked) moves.tell(said);
        this.words.textContent = "";
      } catch (problem) {
        this.words.textContent = problem.message;
      }
      this.button.ariaDisabled = null;
    };
  }

  /** Which bots there are. */
  offer(bots) {
    if (this.bot.length !== bots.length) this.bot.replaceChildren(...bots.map((bot) => make("option", {}, bot)));
  }

  /** The position has changed: an answer that is on its way is of no use. */
  forget() { this.asked += 1; this.words.textContent = ""; }
}
