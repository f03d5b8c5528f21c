// Elements, colours of seats, requests, the switch between light and dark.

/** An element: `make("button", { onclick, class: "main" }, "words", child)`. Text is text, never markup. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element[name] = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** An element of SVG. */
export function draw(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** For a click: a second one in a row is part of a double click, and would hit what has come to this place meanwhile. */
export const once = (act) => (event) => { if (event.detail < 2) act(event); };

/** The server cannot be reached, or something in front of it answers in its place. */
export class NoAnswer extends Error {}

/** The JSON of a path; with `body` it is sent. Throws an Error with the server's words, or NoAnswer. */
export async function ask(path, body = undefined, method = body === undefined ? "GET" : "POST") {
  const sent = body === undefined ? { method } : { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  let answer, found;
  try {
    answer = await fetch(path, sent);
    found = await answer.json();
  } catch {
    throw new NoAnswer(`The server does not answer${answer ? ` (status ${answer.status})` : ""}. Is it still running?`);
  }
  if (!answer.ok) throw new Error(found.error || `status ${answer.status}`);
  return found;
}

/** The secret in this page's address. */
export const token = () => location.pathname.split("/")[2];

export const decisions = (count) => `${count} decision${count === 1 ? "" : "s"}`;

export const player = (seat) => `player_${seat}`;

export const seatColour = (seat) => `var(--seat-${seat % 8})`;

/** Take the colours that seats have on the board, if the game gives them some: mixed with the text's, so that they can be seen on light and dark ground. */
export function paintSeats(colours) {
  colours.forEach((colour, seat) => document.documentElement.style.setProperty(`--seat-${seat}`, `color-mix(in oklab, ${colour} 65%, var(--text))`));
}

/** What a seat did, in a list: `content` is text or an element. */
export function heardItem(seat, kind, content) {
  const item = make("li", { class: kind }, content);
  item.style.setProperty("--seat", seatColour(seat));
  return item;
}

/** A game in words: its name, players and options. */
export const gameInWords = (story) => `${story.label}${story.options.length ? ` (${story.options.join(", ")})` : ""}`;

/** A button that goes round: as the system has it, dark, light. */
export function themeButton() {
  const themes = ["auto", "dark", "light"];
  const read = () => { try { return localStorage.getItem("kepler-theme") || "auto"; } catch { return "auto"; } };
  const button = make("button", { type: "button", title: "colours: like the system, dark or light" });
  const show = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `colours: ${theme}`;
  };
  button.onclick = () => {
    const next = themes[(themes.indexOf(read()) + 1) % themes.length];
    try { localStorage.setItem("kepler-theme", next); } catch { /* a page from disk may keep nothing */ }
    show(next);
  };
  show(read());
  return button;
}

/** A button that opens the rules. */
export function rulesButton(path) {
  const box = make("dialog", { "aria-label": "Rules", tabindex: -1 });
  const button = make("button", { type: "button" }, "Rules");
  const close = () => make("button", { type: "button", class: "main", onclick: () => box.close() }, "Close");
  let known = false;
  button.onclick = async () => {
    if (!box.isConnected) document.body.append(box);
    if (!known) {
      try {
        const card = await ask(path);
        const words = make("div");
        words.innerHTML = card.html; // made by the server from the card, with everything else escaped
        box.replaceChildren(make("h2", {}, card.title), words, make("p", { class: "faint" }, `Seats decide about: ${card.asked.join(", ")}.`), close());
        known = true;
      } catch (problem) {
        box.replaceChildren(make("p", { class: "bad", role: "alert" }, problem.message), close());
      }
    }
    if (!box.open) box.showModal();
    box.focus(); // not the button at its end
    box.scrollTop = 0;
  };
  return button;
}
