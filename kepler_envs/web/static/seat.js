// The page of one person at a table.
import { Board } from "./board.js";
import { ask, heardItem, make, NoAnswer, once, paintSeats, player, rulesButton, themeButton, token } from "./dom.js";
import { Asking, Moves } from "./moves.js";
import { resultTable } from "./viewer.js";

const api = `/api/seat/${token()}`;
const AWAY = 5000; // milliseconds between two questions of a page in the background
const AGAIN = 2000; // milliseconds until a server that did not answer is asked again
let state = null, busy = false, missed = false, events = null, said = 0; // the number of the last decision that was said aloud
let lost = false, gone = false, again = null; // nobody answers; the link leads nowhere; what asks again

const point = (ids) => { board.light(ids); moves.light(ids); };
const board = new Board(decide, point), moves = new Moves(decide, point);
const asking = new Asking((bot) => ask(`${api}/ask`, { bot }), moves);
const heading = make("h1", {}, "kepler_envs"), who = make("span", { class: "faint" }), words = make("p", { class: "bad", role: "alert" });
const prompt = make("p", { class: "prompt", role: "status", tabindex: -1 }), heard = make("ol", { class: "heard", "aria-label": "history", tabindex: 0 }), results = make("div");
const aloud = make("p", { class: "aloud", role: "status" }); // what others decide, for who hears the page
const how = make("p", { class: "faint", hidden: true }, "Click on the board, or choose here.");
const undo = make("button", { type: "button", title: "take back your last decision (u)", onclick: once(() => change("undo", {})) }, "Undo");
const since = make("p", { class: "faint", hidden: true }, "Framed in blue: what has changed since your last decision.");
const rules = rulesButton(`${api}/rules`), links = make("div", { class: "row" }), advice = make("div", {}, asking.box);
document.querySelector("header").append(heading, who, make("span", { class: "grow" }), board.zoom, rules, themeButton());
const choices = make("section", { class: "choices" }, prompt, how, make("div", { class: "row" }, undo), links, advice, moves.box);
const table = make("div", { class: "table", hidden: true }); // until there is something to see: a wrong link shows words alone
for (const button of [board.zoom, rules]) button.hidden = true;
document.querySelector("main").append(words, aloud, table);
table.append(
  make("div", { class: "picture" }, board.frame, since, board.inWords),
  make("div", { class: "side" }, results, choices),
  make("div", { class: "below" }, make("section", {}, make("h2", {}, "History"), heard)));

function decide(action) { change("decide", { action, version: state.version }); }

/** Tell the server; nothing changes here before it agrees. */
async function change(what, body) {
  if (busy || !state) return;
  busy = true;
  table.setAttribute("aria-busy", "true");
  try {
    show(await ask(`${api}/${what}`, body));
    words.textContent = "";
  } catch (problem) {
    fail(problem);
    await loadAnew();
  }
  busy = false;
  table.removeAttribute("aria-busy");
  if (missed) { missed = false; await loadAnew(); } // bots have decided meanwhile
}

let loading = null; // one question at a time

function load() {
  const news = (found) => {
    answered();
    if (found.version !== state?.version) show(found); // else an open menu would close
  };
  const refused = (problem) => {
    fail(problem);
    gone = !lost;
    if (lost) askAgain();
  };
  loading ??= ask(api).then(news, refused).finally(() => { loading = null; });
  return loading;
}

function fail(problem) {
  lost = problem instanceof NoAnswer;
  words.textContent = lost ? `${problem.message} Trying again ...` : problem.message;
}

function answered() {
  if (lost) words.textContent = "";
  lost = false;
}

function askAgain() {
  clearTimeout(again);
  again = setTimeout(() => { listen(); load(); }, AGAIN);
}

/** A question that is under way may be older than what is to be seen: ask after it. */
async function loadAnew() {
  await loading;
  await load();
}

function show(found) {
  if (found.version < state?.version) return; // an answer that was overtaken
  const first = !state;
  state = found;
  if (state.over) deafen();
  choices.style.setProperty("--high", `${choices.offsetHeight}px`); // on a phone the page would be too short to stay where it is
  for (const part of [table, board.zoom, rules]) part.hidden = false;
  paintSeats(state.colours);
  heading.textContent = state.title;
  document.title = `${state.yours ? "Your turn: " : ""}${state.title}`;
  const others = state.seats.filter((at) => at.seat !== state.seat).map((at) => `${player(at.seat)} ${at.name}`).join(", ");
  who.textContent = [`you are ${player(state.seat)}`, others, state.options.join(", ")].filter((part) => part).join("; ");
  board.show(state, state.actions);
  if (first) board.turnToViewer(); // later the reader moves it
  since.hidden = !state.news.length;
  board.frame.dataset.version = state.version;
  moves.show(state.actions);
  how.hidden = moves.box.hidden = !state.yours;
  undo.hidden = state.over;
  undo.disabled = !state.undo;
  advice.hidden = !state.yours || !state.advice;
  asking.offer(state.bots);
  asking.forget();
  prompt.textContent = state.over ? "The game is over." : state.yours ? `Your turn: ${state.question || "choose"}`
    : state.problem || `${player(state.turn)} (${state.seats[state.turn].name}) decides ...`;
  results.replaceChildren(...(state.over ? [resultTable(state.results)] : []));
  links.replaceChildren(...(state.over ? [make("a", { class: "button", href: `/film/${state.film}` }, "View the whole game"), make("a", { class: "button", href: `${api}/replay`, download: true }, "Save replay")] : []));
  const sentence = (one) => `${one.seat === state.seat ? "you" : player(one.seat)}: ${one.words}`;
  heard.replaceChildren(...state.heard.map((one) => heardItem(one.seat, one.news ? "news" : "", `${one.number}  ${sentence(one)}`)));
  heard.scrollTop = heard.scrollHeight;
  const fresh = state.heard.filter((one) => one.news && one.number > said);
  if (fresh.length) aloud.textContent = fresh.map(sentence).join(". ");
  said = state.heard.at(-1)?.number ?? 0;
  if (state.yours || state.over) choices.style.removeProperty("--high");
  keepFocus();
}

let held = null; // what the keyboard was on last; the mouse has no need of it

document.addEventListener("focusin", ({ target }) => { if (target !== prompt) held = target.matches(":focus-visible") ? target : null; });
document.addEventListener("pointerdown", () => { held = null; });

const usable = (element) => element?.isConnected && !element.disabled && element.checkVisibility();

/** Once what the keyboard was on is gone, go on on the board or in the list; while others decide, wait at the prompt. */
function keepFocus() {
  const now = document.activeElement;
  if (!held || (now !== document.body && now !== prompt && usable(now))) return;
  const onBoard = held instanceof SVGElement || board.menu.contains(held);
  const same = held === moves.filter ? null : held; // in which keys would be letters again
  [same, onBoard && board.first, moves.first, prompt].find((next) => next && usable(next)).focus();
}

/** Enter that is held down must not take the next decision, too. */
document.addEventListener("keydown", (event) => {
  if (!event.repeat || event.key !== "Enter" || !event.target.closest(".choices, .board, .menu")) return;
  event.preventDefault();
  event.stopPropagation();
}, true);

document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, textarea, dialog, .menu") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.repeat) return; // a key that is held down must not take the next decision, too
  if (event.key === "/") { event.preventDefault(); moves.filter.focus(); }
  else if (event.key === "u" && state?.undo) change("undo", {});
  else if (event.key >= "1" && event.key <= "9" && state?.yours) { const move = moves.at(Number(event.key) - 1); if (move) decide(move.id); }
});

/** Hear of news. A browser has only six connections to a server, so a page that nobody looks at holds none. */
function listen() {
  if (events || gone || document.hidden || state?.over) return;
  events = new EventSource(`${api}/events`);
  events.onmessage = async (event) => {
    await loading;
    missed ||= busy;
    if (!busy && !(Number(event.data) <= state?.version)) load(); // an event may come later than what it announced
  };
  events.onerror = () => {
    if (events.readyState === EventSource.CLOSED) { deafen(); askAgain(); load(); } // it is refused, and learns why
    else if (state) fail(new NoAnswer("The server does not answer."));
  };
  events.onopen = answered; // the first event says where the game is
}

function deafen() {
  events?.close();
  events = null;
}

document.addEventListener("visibilitychange", () => { if (document.hidden) deafen(); else listen(); });
setInterval(() => { if (document.hidden && !state?.over) load(); }, AWAY); // its title says whose turn it is
listen();
load();
