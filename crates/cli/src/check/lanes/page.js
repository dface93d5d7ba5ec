"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const culprit = data.minimal[data.culprit];
const byId = (id) => document.getElementById(id);
byId("headline").textContent = culprit ? `${culprit.text} cannot be placed` : "The explanation was given up";
const about = data.part ? `, all about ${data.part.name} (${data.part.operations} operations)` : "";
const given = !data.given_up ? "" : culprit ? ` Fewer may be enough: their reduction was given up after ${data.steps} steps.` :
  ` Those are too many to show; the explanation was given up after ${data.steps} steps.`;
const failed = data.failed ? ` It would fit if this had not failed: ${data.failed.text}.` : "";
byId("facts").textContent = `${data.left} of ${data.operations} operations ${data.enough ? "are enough to see it" : "cannot be explained by themselves"}${about}; ` +
  `the shortest prefix that cannot be explained has ${data.prefix}.${given}${failed}`;

function element(name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// Events get columns that leave room for the text of every bar.
function columns(shown) {
  const last = Math.max(0, ...shown.map((op) => Math.max(op.call, op.end ?? op.call)));
  const endsAt = new Map(shown.filter((op) => op.end !== null).map((op) => [op.end, op]));
  const at = [];
  for (let event = 0; event <= last; event++) {
    const op = endsAt.get(event);
    const room = op ? at[op.call] + Math.min(op.text.length, 40) * 7.4 + 46 : 0;
    at.push(Math.max(event ? at[event - 1] + 14 : 100, room));
  }
  at.push((at[last] ?? 100) + 120);
  return at;
}

function draw(view) {
  const shown = view === "minimal" && data.failed ? [...data.minimal, data.failed] : data[view];
  const at = columns(shown);
  const lanes = byId("lanes");
  lanes.replaceChildren();
  const processes = [...new Set(shown.map((op) => op.process))].sort((a, b) => a - b);
  for (const [number, process] of processes.entries()) {
    const lane = element("div", "lane");
    lane.style.width = `${at[at.length - 1] + 20}px`;
    lane.append(element("span", "lane-name", `process ${process}`));
    for (const op of shown.filter((op) => op.process === process)) {
      const bar = element("button", "op", op.text);
      const end = op.end === null ? at.length - 1 : op.end;
      bar.style.left = `${at[op.call]}px`;
      bar.style.width = `${at[end] - at[op.call]}px`;
      bar.style.setProperty("--colour", `var(--task-${number % 8})`);
      bar.title = op.end === null ? `${op.text} (outcome unknown)` : op.text;
      bar.dataset.id = op.id;
      bar.classList.toggle("open", op.end === null);
      bar.classList.toggle("culprit", op.id === culprit?.id);
      bar.classList.toggle("faint", view === "context" && !data.minimal.some((other) => other.id === op.id));
      for (const event of ["mouseenter", "focus"]) bar.addEventListener(event, () => choose(op.id));
      lane.append(bar);
    }
    lanes.append(lane);
  }
}

// Shows the longest attempt in which an operation is placed: the rank of each, and the attempt's line.
function choose(id) {
  const index = data.minimal.findIndex((op) => op.id === id);
  const found = data.attempts.findIndex((attempt) => attempt.order.includes(index));
  show(found >= 0 ? found : id === culprit?.id ? 0 : -1);
}

function show(attempt) {
  const order = (data.attempts[attempt]?.order ?? []).map((index) => data.minimal[index].id);
  for (const bar of document.querySelectorAll(".op")) {
    const rank = order.indexOf(Number(bar.dataset.id));
    bar.querySelector(".rank")?.remove();
    bar.classList.toggle("chosen", rank >= 0);
    if (rank >= 0) bar.append(element("span", "rank", rank + 1));
  }
  [...byId("attempts").children].forEach((line, index) => line.classList.toggle("chosen", index === attempt));
}

for (const [number, attempt] of data.attempts.entries()) {
  const line = element("li", "");
  line.tabIndex = 0;
  attempt.order.forEach((index, step) => {
    line.append(element("code", "", data.minimal[index].text), element("code", "state", ` ⟨${attempt.states[step]}⟩, `));
  });
  line.append(attempt.order.length ? "then not " : "at the beginning not ", element("code", "", data.minimal[attempt.blocked].text));
  line.append(element("span", "reason", `: ${attempt.reason}`));
  for (const event of ["mouseenter", "focus"]) line.addEventListener(event, () => show(number));
  byId("attempts").append(line);
}
for (const input of document.querySelectorAll("[name=view]")) input.addEventListener("change", () => draw(input.value));
draw("minimal");
