"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const { timeline, explanation: why, level } = data;
const byId = (id) => document.getElementById(id);
const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

function element(name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// What is said of the whole.
const drawnById = new Map(timeline.drawn.map((op) => [op.id, op]));
const stuck = timeline.parts.flatMap((part) => part.culprits).map((id) => drawnById.get(id)).filter(Boolean);
const culprit = why?.minimal[why.culprit];
byId("kind").textContent = { ok: level, illegal: `not ${level}`, unknown: "unknown" }[data.verdict];
byId("kind").classList.add(data.verdict);
byId("headline").textContent = {
  ok: `Every operation can be placed: the history is ${level}`,
  illegal: culprit ? `${culprit.text} cannot be placed` :
    stuck.length ? `${stuck.map((op) => op.text).join(", ")} cannot be placed` : `The history is not ${level}`,
  unknown: `Whether the history is ${level} is not known: the budget ran out`,
}[data.verdict];

function told(part) {
  const named = part.name ? `${part.name}: ` : "";
  const the = named ? "the" : "The";
  const all = count(part.operations, "operation");
  if (part.standing === "unknown") return `${named}${all}, not decided within the limits.`;
  if (part.placed === null) {
    return part.standing === "all" ? `${named}${named ? "all" : "All"} of ${all} can be explained; an order was not found within the limits.` :
      `${named}${named ? "an" : "An"} order of what can be explained of ${all} was not found within the limits.`;
  }
  if (part.standing === "all") return `${named}${named ? "all" : "All"} of ${all} can be explained; the line shows an order.`;
  return `${named}${the} longest prefix that can be explained places ${part.placed} of ${all}; the line shows its order.`;
}
const left = timeline.before + timeline.after;
const cutNote = left ? ` Of ${timeline.operations} operations ${timeline.drawn.length} are drawn: ` +
  `${timeline.before} before them and ${timeline.after} after them are left out.` : "";
const bad = timeline.parts.filter((part) => part.standing !== "all");
const facts = timeline.parts.length === 1 ? told(timeline.parts[0]) :
  bad.length ? bad.slice(0, 3).map(told).join(" ") + (bad.length > 3 ? ` So it is with ${bad.length - 3} more of ${count(timeline.parts.length, "part")}.` : "") : `All of ${count(timeline.parts.length, "part")} can be explained; lines show their orders.`;
byId("whole-facts").textContent = facts + cutNote;
if (why) {
  const about = why.part ? `, all about ${why.part.name} (${count(why.part.operations, "operation")})` : "";
  const given = !why.given_up ? "" : culprit ? ` Fewer may be enough: their reduction was given up after ${why.steps} steps.` :
    ` Those are too many to show; the explanation was given up after ${why.steps} steps.`;
  const failed = why.failed ? ` It would fit if this had not failed: ${why.failed.text}.` : "";
  byId("facts").textContent = `${why.left} of ${why.operations} operations ${why.enough ? "are enough to see it" : "cannot be explained on their own"}${about}; ` +
    `the shortest prefix that cannot be explained has ${why.prefix}.${given}${failed}`;
}
byId("views").hidden = !culprit;
byId("attempts-part").hidden = !why?.attempts.length;
byId("go").hidden = !stuck.length;
for (const sign of document.querySelectorAll(".illegal-only")) sign.hidden = !stuck.length;

// Which part is shown: the first that cannot be explained, or all.
const partChoice = byId("part");
byId("part-choice").hidden = timeline.parts.length < 2;
const option = (value, text) => Object.assign(element("option", "", text), { value });
partChoice.append(option("all", "all"));
for (const [number, part] of timeline.parts.entries()) {
  const mark = { all: "", prefix: "✗ ", unknown: "? " }[part.standing];
  partChoice.append(option(number, `${mark}${part.name || "everything"}`));
}
const firstBad = timeline.parts.findIndex((part) => part.standing === "prefix");
partChoice.value = firstBad < 0 || timeline.parts.length < 2 ? "all" : firstBad;

// Events get columns that leave room for the text of every bar; events of what is not shown get none.
const LEFT = 120;
function columns(shown, zoom) {
  const events = new Map();
  for (const op of shown) {
    events.set(op.call, null);
    if (op.end !== null) events.set(op.end, op);
  }
  const at = new Map();
  let last = LEFT - 14 * zoom;
  for (const event of [...events.keys()].sort((a, b) => a - b)) {
    const op = events.get(event);
    const room = op ? at.get(op.call) + (Math.min(op.text.length, 40) * 7.4 + 46) * zoom : 0;
    last = Math.max(last + 14 * zoom, room);
    at.set(event, last);
  }
  return { at, width: last + Math.max(60, 120 * zoom) };
}

// What is on the board: bars exist only near the screen.
const lanes = byId("lanes");
const board = element("div", "board");
lanes.append(board);
let bars = [];
let view = "whole";

function shownNow() {
  if (view !== "whole") return view === "minimal" && why.failed ? [...why.minimal, why.failed] : why[view];
  const part = partChoice.value;
  return part === "all" ? timeline.drawn : timeline.drawn.filter((op) => op.part === Number(part));
}

function draw() {
  const shown = shownNow();
  const zoom = 2 ** Number(byId("zoom").value);
  const { at, width } = columns(shown, zoom);
  const key = new Set(view === "minimal" ? [] : (why?.minimal ?? []).map((op) => op.id));
  const blocked = new Set(view === "whole" ? stuck.map((op) => op.id) : [culprit?.id]);
  const ends = view === "whole" ? stuck.map((op) => op.end).filter((end) => end !== null && at.has(end)) : [];
  const cut = ends.length && level === "linearizable" ? Math.min(...ends) : Infinity;
  const processes = [...new Set(shown.map((op) => op.process))].sort((a, b) => a - b);
  board.replaceChildren();
  board.style.width = `${width + 20}px`;
  const laneOf = new Map(processes.map((process, number) => {
    const lane = element("div", "lane");
    lane.append(element("span", "lane-name", `process ${process}`));
    board.append(lane);
    return [process, { lane, number }];
  }));
  bars = shown.map((op) => {
    const { lane, number } = laneOf.get(op.process);
    const from = at.get(op.call);
    const to = op.end === null ? width : at.get(op.end);
    const classes = [op.end === null && "open", op.failed && "failed", key.has(op.id) && "key", blocked.has(op.id) && "culprit",
      (view === "context" ? !key.has(op.id) : op.call > cut) && "faint"].filter(Boolean);
    return { op, lane, number, from, to, classes, bar: null };
  });
  if (view === "whole") {
    drawOrders(shown, at, laneOf, width, processes.length);
    if (cut < Infinity) {
      const line = element("div", "cut-line");
      line.style.left = `${at.get(cut)}px`;
      line.title = "the longest prefix that can be explained ends here";
      board.append(line);
    }
  }
  reveal();
}

// A line through the moments at which the order lets operations take effect: none before its call or after its return.
function drawOrders(shown, at, laneOf, width, rows) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("class", "order");
  svg.setAttribute("width", width);
  svg.setAttribute("height", rows * 38);
  svg.setAttribute("aria-hidden", "true");
  for (const number of timeline.parts.keys()) {
    const placed = shown.filter((op) => op.part === number && op.rank !== null).sort((a, b) => a.rank - b.rank);
    let x = 0;
    const points = placed.map((op) => {
      const latest = op.end === null ? width : at.get(op.end) - 2;
      x = Math.max(x, Math.min(Math.max(x + 4, at.get(op.call) + 4), latest));
      return [x, laneOf.get(op.process).number * 38 + 33];
    });
    if (!points.length) continue;
    const path = document.createElementNS(space, "path");
    path.setAttribute("d", `M${points.map((point) => point.join(" ")).join("L")}`);
    svg.append(path);
    for (const [cx, cy] of points) {
      const dot = document.createElementNS(space, "circle");
      dot.setAttribute("cx", cx);
      dot.setAttribute("cy", cy);
      dot.setAttribute("r", 3);
      svg.append(dot);
    }
  }
  board.append(svg);
}

const MARGIN = 800;
function reveal() {
  const [low, high] = [lanes.scrollLeft - MARGIN, lanes.scrollLeft + lanes.clientWidth + MARGIN];
  for (const entry of bars) {
    const near = entry.to >= low && entry.from <= high;
    if (near === (entry.bar !== null)) continue;
    if (near) {
      entry.bar = made(entry);
      entry.lane.append(entry.bar);
    } else if (document.activeElement !== entry.bar) {
      entry.bar.remove();
      entry.bar = null;
    }
  }
}

function made({ op, number, from, to, classes }) {
  const bar = element("button", ["op", ...classes].join(" "), op.text);
  bar.style.left = `${from}px`;
  bar.style.width = `${Math.max(to - from, 4)}px`;
  bar.style.setProperty("--colour", `var(--task-${number % 8})`);
  bar.title = sentence(op);
  bar.dataset.id = op.id;
  for (const event of ["mouseenter", "focus"]) bar.addEventListener(event, () => choose(op));
  return bar;
}

function sentence(op) {
  const place = drawnById.get(op.id);
  const outcome = op.end === null ? " (outcome unknown)" : "";
  const part = place && timeline.parts.length > 1 ? ` of ${timeline.parts[place.part].name}` : "";
  const rank = place?.rank ?? null;
  const standing = stuck.some((other) => other.id === op.id) ? ": cannot be placed" :
    rank !== null ? `: placed as number ${rank + 1}${part}${place.state === null ? "" : `, after it ⟨${place.state}⟩`}` :
      place?.failed ? ": did not happen" : "";
  return `${op.text}${outcome}, process ${op.process}${standing}`;
}

// Shows the longest attempt in which an operation is placed: the rank of each, and the attempt's line.
function choose(op) {
  byId("about").textContent = sentence(op);
  if (!why) return;
  const index = why.minimal.findIndex((other) => other.id === op.id);
  const found = why.attempts.findIndex((attempt) => attempt.order.includes(index));
  show(found >= 0 ? found : op.id === culprit?.id ? 0 : -1);
}

function show(attempt) {
  const order = (why.attempts[attempt]?.order ?? []).map((index) => why.minimal[index].id);
  for (const bar of document.querySelectorAll(".op")) {
    const rank = order.indexOf(Number(bar.dataset.id));
    bar.querySelector(".rank")?.remove();
    bar.classList.toggle("chosen", rank >= 0);
    if (rank >= 0) bar.append(element("span", "rank", rank + 1));
  }
  [...byId("attempts").children].forEach((line, index) => line.classList.toggle("chosen", index === attempt));
}

for (const [number, attempt] of (why?.attempts ?? []).entries()) {
  const line = element("li", "");
  line.tabIndex = 0;
  attempt.order.forEach((index, step) => {
    line.append(element("code", "", why.minimal[index].text), element("code", "state", ` ⟨${attempt.states[step]}⟩, `));
  });
  line.append(attempt.order.length ? "then not " : "at the beginning not ", element("code", "", why.minimal[attempt.blocked].text));
  line.append(element("span", "reason", `: ${attempt.reason}`));
  for (const event of ["mouseenter", "focus"]) line.addEventListener(event, () => show(number));
  byId("attempts").append(line);
}

function goToFailure() {
  const entry = bars.find(({ op }) => stuck.some((other) => other.id === op.id)) ?? bars.find(({ op }) => op.id === culprit?.id);
  if (!entry) return;
  lanes.scrollLeft = entry.to + 60 - lanes.clientWidth;
  reveal();
  choose(entry.op);
}

// The same moment stays in the middle when the width changes.
function redrawInPlace() {
  const middle = (lanes.scrollLeft + lanes.clientWidth / 2) / board.clientWidth;
  draw();
  lanes.scrollLeft = middle * board.clientWidth - lanes.clientWidth / 2;
  reveal();
}

// An arrow goes to the neighbour in the order, or in the lane where there is none.
lanes.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const from = bars.find(({ bar }) => bar && bar === document.activeElement);
  if (!step || !from) return;
  event.preventDefault();
  const rank = drawnById.get(from.op.id)?.rank ?? null;
  const next = view === "whole" && rank !== null ? ({ op }) => op.part === from.op.part && op.rank === rank + step : null;
  const lane = bars.filter(({ lane }) => lane === from.lane);
  const entry = (next && bars.find(next)) ?? lane[lane.indexOf(from) + step];
  if (!entry) return;
  const [low, high] = [lanes.scrollLeft + LEFT, lanes.scrollLeft + lanes.clientWidth];
  if (entry.from < low || entry.from > high - 40) lanes.scrollLeft = entry.from - lanes.clientWidth / 2;
  reveal();
  entry.bar?.focus({ preventScroll: true });
});
lanes.addEventListener("scroll", reveal, { passive: true });
window.addEventListener("resize", reveal);
byId("zoom").addEventListener("input", redrawInPlace);
byId("go").addEventListener("click", goToFailure);
partChoice.addEventListener("change", () => { draw(); goToFailure(); });
for (const input of document.querySelectorAll("[name=view]")) {
  input.addEventListener("change", () => { view = input.value; partChoice.disabled = view !== "whole"; draw(); goToFailure(); });
}
draw();
// Long histories begin narrower: more of what came before the failure is on the screen.
if (board.clientWidth > 4 * lanes.clientWidth) {
  byId("zoom").value = -0.5;
  draw();
}
goToFailure();
