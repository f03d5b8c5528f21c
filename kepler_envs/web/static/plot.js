// Lines over the course of a game, one a seat, told apart by colour and dashes.
import { draw, make, player, seatColour } from "./dom.js";

const WIDTH = 400, HEIGHT = 180, LEFT = 40, RIGHT = 8, TOP = 28, BOTTOM = 22; // about as wide as on most screens, so that words have the size they ask for
const DASHES = ["", "7 3", "2 3", "9 3 2 3", "12 4", "4 4", "1 2", "6 2 1 2"];

/** A line in the colour and with the dashes of a seat. */
function stroke(seat, attributes) {
  const line = draw("path", { ...attributes, "stroke-dasharray": DASHES[seat % DASHES.length] });
  line.style.stroke = seatColour(seat);
  return line;
}

export class Plot {
  /** `go(position)` is called where the plot is clicked. */
  constructor(go) {
    this.go = go;
    this.svg = draw("svg", { class: "plot", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
    this.legend = make("div", { class: "legend" });
    this.box = make("div", {}, this.svg, this.legend);
    this.now = draw("line", { class: "now", y1: TOP, y2: HEIGHT - BOTTOM });
    const at = (event) => {
      const box = this.svg.getBoundingClientRect();
      const share = ((event.clientX - box.left) / box.width * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT);
      this.go(Math.round(Math.min(1, Math.max(0, share)) * this.last));
    };
    this.svg.onpointerdown = (event) => { this.svg.setPointerCapture(event.pointerId); at(event); };
    this.svg.onpointermove = (event) => { if (event.buttons) at(event); };
  }

  /** `rows[position][seat]`; `title` says what it is. */
  show(rows, names, title) {
    this.last = Math.max(1, rows.length - 1);
    const all = rows.flat();
    let low = Math.min(0, ...bounds(all)), high = Math.max(...bounds(all));
    if (high === low) high = low + 1;
    const x = (position) => LEFT + position / this.last * (WIDTH - LEFT - RIGHT);
    const y = (value) => TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM);
    this.x = x;
    const parts = [draw("path", { class: "axis", d: `M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - RIGHT}` })];
    for (const value of [low, (low + high) / 2, high]) {
      const words = Math.abs(high - low) > 4 ? Math.round(value) : value.toFixed(1).replace(/^-(?=0\.0$)/, "");
      parts.push(draw("text", { x: LEFT - 5, y: y(value) + 4, "text-anchor": "end" }, `${words}`));
    }
    parts.push(draw("text", { x: WIDTH - RIGHT, y: HEIGHT - 6, "text-anchor": "end" }, `${rows.length - 1} decisions`));
    parts.push(draw("text", { x: 0, y: 13 }, title));
    for (let seat = 0; seat < names.length; seat++) {
      let path = "", before = null;
      rows.forEach((row, position) => {
        const value = row[seat];
        if (value === before && position < rows.length - 1) return;
        path += path ? (before === null ? "" : `H${x(position).toFixed(1)}V${y(value).toFixed(1)}`) : `M${x(position).toFixed(1)} ${y(value).toFixed(1)}`;
        before = value;
      });
      parts.push(stroke(seat, { d: path }));
    }
    this.svg.setAttribute("aria-label", title);
    this.svg.replaceChildren(...parts, this.now);
    this.legend.replaceChildren(...names.map((name, seat) => make("span", {},
      draw("svg", { viewBox: "0 0 36 4", "aria-hidden": "true" }, stroke(seat, { d: "M0 2H36" })), `${player(seat)} ${name}`)));
  }

  /** Where the reader is. */
  mark(position) {
    if (!this.x) return;
    this.now.setAttribute("x1", this.x(position));
    this.now.setAttribute("x2", this.x(position));
  }
}

function bounds(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) { if (value < low) low = value; if (value > high) high = value; }
  return [low, high];
}

/** The decisions after which a seat's value fell most: [{at, seat, fall}], the worst first. */
export function biggestDrops(rows, count = 5) {
  const drops = [];
  for (let at = 1; at < rows.length; at++) rows[at].forEach((value, seat) => drops.push({ at, seat, fall: rows[at - 1][seat] - value }));
  return drops.filter((drop) => drop.fall > 0).sort((a, b) => b.fall - a.fall).slice(0, count);
}
