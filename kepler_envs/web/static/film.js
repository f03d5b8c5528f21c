// The page of a game on the server.
import { ask, gameInWords, make, NoAnswer, rulesButton, themeButton, token } from "./dom.js";
import { Viewer } from "./viewer.js";

const api = `/api/film/${token()}`, frames = new Map(), KEPT = 400;
const OFTEN = 500; // milliseconds between two questions

const source = {
  async frame(at, view) {
    const key = `${at}/${view}`;
    if (frames.has(key)) return frames.get(key);
    const frame = await ask(`${api}/frames/${key}`);
    if (frame.actions.length && frame.taken === null) return frame; // which of them is taken is not known yet
    if (frames.size > KEPT) frames.clear();
    frames.set(key, frame);
    return frame;
  },
  ask: (at, bot) => ask(`${api}/ask`, { at, bot }),
};

const words = make("p", { class: "bad", role: "alert" }), heading = make("h1", {}, "kepler_envs"), line = make("span", { class: "faint" });
const save = make("a", { class: "button", href: `${api}/replay`, download: true, hidden: true }, "Save replay"), rules = rulesButton(`${api}/rules`);
document.querySelector("header").append(heading, line, make("span", { class: "grow" }), save, rules, themeButton());
const main = document.querySelector("main"), root = make("div", { hidden: true }); // a wrong link shows words alone
rules.hidden = true;
main.append(words, root);

const wait = () => new Promise((done) => setTimeout(done, OFTEN));

/** What follows after `story`, or the whole one if there is none yet or the server was away: bots that were started again may play on in another way. */
async function read(story) {
  for (let from = story ? story.told.length : 0; ; from = 0) {
    try {
      return await ask(`${api}?from=${from}`);
    } catch (problem) {
      if (!story || !(problem instanceof NoAnswer)) throw problem;
      words.textContent = "The server does not answer. Trying again ...";
      frames.clear();
      await wait();
    }
  }
}

/** Read what is new until the game is over. */
async function follow() {
  const viewer = new Viewer(root, source);
  let story = null;
  for (;;) {
    const more = await read(story), first = !story, ended = story?.growing && !more.growing;
    if (more.start) {
      more.told = [...story.told.slice(0, more.start), ...more.told];
      more.scores = [...story.scores.slice(0, more.start), ...more.scores];
      if (more.expected) more.expected = [...story.expected.slice(0, more.start), ...more.expected];
    }
    story = more;
    heading.textContent = story.title;
    line.textContent = gameInWords(story);
    words.textContent = story.problem;
    save.hidden = story.growing; // it can be saved once it is over
    root.hidden = rules.hidden = false;
    viewer.show(story, !more.start);
    if (first && story.growing) viewer.play();
    if (ended || !story.growing) return;
    await wait();
  }
}

follow().catch((problem) => { words.textContent = problem.message; });
