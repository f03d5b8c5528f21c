// A page from disk: one game, its pictures and texts made from the lines that the page holds.
import { gameInWords, make, themeButton } from "./dom.js";
import { Viewer } from "./viewer.js";

/** What page.py packed. */
async function unpack() {
  const bytes = Uint8Array.from(atob(document.getElementById("game").textContent), (letter) => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(plain).json();
}

/** All pictures or texts of a view as lists of lines' numbers, from their changes. */
function unfold(changes) {
  let before = [];
  return changes.map(([head, tail, ...middle]) => {
    before = [...before.slice(0, head), ...middle, ...(tail ? before.slice(-tail) : [])];
    return before;
  });
}

async function start() {
  const game = await unpack(), views = {};
  const joined = (numbers) => numbers.map((line) => game.lines[line]).join("\n");
  const source = {
    async frame(at, view) {
      views[view] ??= { pictures: unfold(game.pictures[view]), texts: unfold(game.texts[view]) };
      const turn = game.turns[at], shown = turn === null || view === "open" || Number(view) === turn;
      return {
        picture: joined(views[view].pictures[at]), text: joined(views[view].texts[at]), news: game.news[view][at], turn,
        actions: shown ? game.legal[at].map((id) => ({ id, words: game.words[id] })) : [], taken: shown ? game.taken[at] : null,
      };
    },
  };
  const { story } = game;
  document.querySelector("header").append(make("h1", {}, story.title), make("span", { class: "faint" }, gameInWords(story)), make("span", { class: "grow" }), themeButton());
  const root = make("div");
  document.querySelector("main").append(root);
  new Viewer(root, source).show(story);
}

start();
