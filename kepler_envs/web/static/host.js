// The page of whoever runs the server: tables to set up, games to watch, replays to open.
import { ask, decisions, make, player, themeButton, token } from "./dom.js";

const api = `/api/host/${token()}`;
const main = document.querySelector("main"), words = make("p", { class: "bad", role: "alert" });
const away = make("p", { class: "bad", role: "status" }), OFTEN = 3000; // milliseconds between two looks at the tables
const lists = make("div"), forms = make("div", { class: "cards" });
document.querySelector("header").append(make("h1", {}, "kepler_envs"), make("span", { class: "faint" }, "play, watch, ask bots"), make("span", { class: "grow" }), themeButton());


const waiting = make("p", { role: "status" }, "");

/** Do something that takes a while and may fail, and say so, below its button if it has one: the start of the page may be far away. The button waits. */
async function attempt(act, button = null) {
  words.textContent = "";
  if (button) button.after(waiting, words);
  else main.prepend(waiting, words);
  if (button) button.disabled = true;
  waiting.textContent = "One moment. The first time, a game is compiled, which can take two minutes ...";
  waiting.scrollIntoView({ block: "nearest" });
  try {
    await act();
  } catch (problem) {
    words.textContent = problem.message;
    words.scrollIntoView({ block: "nearest" });
  }
  waiting.textContent = "";
  if (!button) return;
  button.disabled = false;
  if (document.activeElement === document.body) button.focus();
}

main.append(waiting, words, away, forms, lists);

const ANOTHER = "another bot ...", GAMES_OWN = "the game's own";

/** Who plays a seat: one of `names`, or a bot whose spec is typed. A list to choose from shows them all on phones, too. */
class SeatField {
  constructor(seat, names, usual) {
    this.choice = make("select", { name: `seat-${seat}` }, ...[...names, ANOTHER].map((name) => make("option", { selected: name === usual }, name)));
    this.spec = make("input", { type: "text", placeholder: "mcts:500", "aria-label": `bot of ${player(seat)}`, autocomplete: "off", autocapitalize: "off", spellcheck: "false", hidden: true });
    this.choice.onchange = () => { this.spec.hidden = this.choice.value !== ANOTHER; };
    this.box = make("div", { class: "seat" }, make("label", {}, make("span", {}, player(seat)), this.choice), this.spec);
  }

  get value() { return this.choice.value === ANOTHER ? this.spec.value.trim() : this.choice.value; }
}

/** Fields for a game; `people`: whether seats may be taken by people. */
class Form {
  constructor(games, people) {
    this.games = games;
    this.people = people;
    this.game = make("select", { name: "game" }, ...games.map((game) => make("option", { value: game.name }, game.title)));
    this.components = make("select", { name: "components" });
    this.players = make("select", { name: "players" });
    this.seats = make("div");
    this.fields = [];
    this.options = make("div");
    this.seed = make("input", { type: "text", inputmode: "numeric", placeholder: "drawn" });
    this.game.onchange = () => this.setGame();
    this.components.onchange = () => this.setBots();
    this.players.onchange = () => this.setSeats();
    const field = (name, input) => make("label", {}, make("span", {}, name), input);
    this.componentsField = field("Components", this.components);
    this.box = make("div", {}, field("Game", this.game), this.componentsField, field("Players", this.players), make("h3", {}, "Seats"), this.seats,
      make("details", {}, make("summary", {}, "Options"), this.options, field("Seed", this.seed)));
    this.setGame();
  }

  get chosen() { return this.games.find((game) => game.name === this.game.value); }

  /** The component file that is chosen, or undefined for the game's own. */
  get chosenFile() { return this.chosen.components[this.components.selectedIndex - 1]; }

  setGame() {
    const game = this.chosen;
    this.components.replaceChildren(...[GAMES_OWN, ...game.components.map((one) => one.name)].map((name) => make("option", {}, name)));
    this.componentsField.hidden = !game.components.length;
    this.players.replaceChildren(...game.players.map((count) => make("option", {}, `${count}`)));
    this.players.value = game.usual;
    this.options.replaceChildren(...game.options.map((option) => {
      const input = option.free ? make("input", { type: "text", placeholder: option.usual, name: option.name })
        : make("select", { name: option.name }, ...option.choices.map((choice) => make("option", { selected: choice === option.usual }, choice)));
      return make("label", { title: option.allowed }, make("span", {}, option.name), input, make("span", { class: "faint" }, `${option.meaning}; ${option.allowed}`));
    }));
    this.setBots();
  }

  /** Networks know the components that they learned with. */
  setBots() {
    this.fields = [];
    this.setSeats();
  }

  setSeats() {
    const { bots } = this.chosenFile ?? this.chosen, names = this.people ? ["person", ...bots] : bots;
    const added = (seat) => new SeatField(seat, names, this.people && seat === 0 ? "person" : bots[0]);
    this.fields = Array.from({ length: Number(this.players.value) }, (_, seat) => this.fields[seat] ?? added(seat)); // what was chosen stays
    this.seats.replaceChildren(...this.fields.map((field) => field.box));
  }

  read() {
    const options = {};
    for (const input of this.options.querySelectorAll("input, select")) {
      const usual = this.chosen.options.find((option) => option.name === input.name).usual;
      if (input.value.trim() && input.value !== usual) options[input.name] = input.value.trim();
    }
    const seed = this.seed.value.trim();
    if (seed && !/^\d{1,20}$/.test(seed)) throw new Error("A seed is a whole number.");
    return { game: this.chosen.name, components: this.chosenFile?.name ?? null, players: Number(this.players.value), options, seed: seed || null,
      seats: this.fields.map((field) => field.value) };
  }
}

function seatLinks(table) {
  return table.seats.map((seat, number) => seat.token
    ? make("div", {}, `${player(number)}: `, make("a", { class: "link", href: `/seat/${seat.token}`, target: "_blank", rel: "noopener" }, `${location.origin}/seat/${seat.token}`))
    : make("div", { class: "faint" }, `${player(number)}: ${seat.name}`));
}

/** Whoever makes it gives it a name that says what it deletes: that is the question, too. */
function deleteButton(path, kind = "") {
  const act = async () => { await ask(`${api}/${path}`, undefined, "DELETE"); await draw(); };
  const asked = () => { if (confirm(`${button.ariaLabel}?`)) attempt(act); };
  const button = make("button", { type: "button", class: kind, onclick: asked }, "Delete");
  return button;
}

class TableEntry {
  constructor(table) {
    this.heading = make("h3");
    this.problem = make("p", { class: "bad" });
    this.view = make("a", { class: "button" }, "View the game");
    this.remove = deleteButton(`tables/${table.number}`);
    this.box = make("section", { class: "one-table" }, this.heading, this.problem, ...seatLinks(table),
      make("div", { class: "row" }, this.view, this.remove));
  }

  update(table, number) {
    this.remove.ariaLabel = `Delete table ${number}, ${table.title}, and its game`;
    say(this.heading, `Table ${number}: ${table.title}, ${decisions(table.decisions)}, ${table.over ? "over" : `${player(table.turn)} decides`}`);
    say(this.problem, table.problem);
    this.problem.hidden = !table.problem;
    this.view.ariaLabel = `View the game of table ${number}, ${table.title}`;
    this.view.href = `/film/${table.film}`;
    this.view.hidden = !table.over;
  }
}

class FilmEntry {
  constructor(film) {
    this.label = film.label;
    this.decisions = make("span");
    this.remove = deleteButton(`films/${film.token}`, "small");
    this.box = make("li", {}, make("a", { href: `/film/${film.token}` }, film.label), " ", this.decisions, " ", this.remove);
  }

  update(film, number) {
    this.remove.ariaLabel = `Delete game ${number}, ${this.label}`;
    say(this.decisions, `${decisions(film.decisions)}${film.growing ? ", being played" : ""}`);
  }
}

/** Words that have not changed are left alone: somebody may have marked them. */
function say(element, words) { if (element.textContent !== words) element.textContent = words; }

/** One entry for each of what is found, which begins with the latest: number 1 is the oldest, as titles may be equal. Those that stay are changed in place, so that they keep the focus, and clicks. */
class List {
  constructor(Entry, key, tag, attributes = {}) {
    this.Entry = Entry;
    this.key = key;
    this.box = make(tag, attributes);
    this.entries = new Map();
  }

  show(found) {
    const keys = new Set(found.map((one) => one[this.key]));
    for (const [key, entry] of this.entries) if (!keys.has(key)) { entry.box.remove(); this.entries.delete(key); }
    found.forEach((one, place) => {
      const key = one[this.key];
      if (!this.entries.has(key)) {
        this.entries.set(key, new this.Entry(one));
        this.box.insertBefore(this.entries.get(key).box, this.box.children[place] ?? null);
      }
      this.entries.get(key).update(one, found.length - place);
    });
    this.box.parentElement.hidden = !found.length;
  }
}

const tables = new List(TableEntry, "number", "div", { class: "cards" }), films = new List(FilmEntry, "token", "ol", { reversed: true });
lists.append(
  make("div", { hidden: true }, make("h2", {}, "Tables"), make("p", { class: "faint" }, "Give each person the link to one seat only. Whoever has a link sees what that seat sees, and plays it."), tables.box),
  make("section", { hidden: true }, make("h2", {}, "Watched and recorded games"), films.box));
let asked = 0;

async function draw() {
  const mine = ++asked, found = await ask(api);
  if (mine !== asked) return; // a later answer tells more
  tables.show(found.tables);
  films.show(found.films);
}

/** People and bots play on, and other pages set tables up. */
async function lookAgain() {
  if (document.hidden) return;
  try {
    await draw();
    say(away, "");
  } catch (problem) {
    say(away, `${problem.message} Trying again ...`);
  }
}

async function start() {
  const { games } = await ask(`${api}/menu`);
  const play = new Form(games, true), watch = new Form(games, false);
  const advice = make("input", { type: "checkbox", checked: true });
  const file = make("input", { type: "file", accept: ".jsonl", "aria-label": "file of a replay" });
  const open = make("button", { type: "button", class: "main open-table" }, "Set up the table");
  open.onclick = () => attempt(async () => {
    const made = await ask(`${api}/tables`, { ...play.read(), advice: advice.checked });
    const people = made.tokens.filter((secret) => secret);
    if (people.length === 1) location.href = `/seat/${people[0]}`;
    else await draw();
  }, open);
  const show = make("button", { type: "button", class: "main watch" }, "Watch");
  show.onclick = () => attempt(async () => { location.href = `/film/${(await ask(`${api}/watch`, watch.read())).token}`; }, show);
  file.onchange = () => attempt(async () => {
    const chosen = file.files[0];
    file.value = ""; // so that the same file can be chosen again, mended
    if (chosen) location.href = `/film/${(await ask(`${api}/replays`, { name: chosen.name, text: await chosen.text() })).token}`;
  });
  forms.replaceChildren(
    make("section", {}, make("h2", {}, "Play"), play.box, make("label", {}, make("span", {}, "Allow asking bots"), advice), open),
    make("section", {}, make("h2", {}, "Watch bots"), watch.box, show),
    make("section", {}, make("h2", {}, "Open a replay"), make("p", { class: "faint" }, "A file written by ", make("code", {}, "play --save"), ", ", make("code", {}, "watch --save"), ", a tournament or this server."), file));
  await draw();
  document.addEventListener("visibilitychange", lookAgain);
  setInterval(lookAgain, OFTEN);
}

attempt(start);
