// What is known of the current step: its source, the shared state after it, where every task stands, and
// what it comes after and before.

const MOST_RESOURCES = 40, MOST_TASKS = 40, LINES_AROUND = 5;

class Inspector {
  /** @param {HTMLElement} element @param {(trace: Trace, i: number) => void} go */
  constructor(element, go) {
    this.element = element;
    this.go = go;
  }

  /** @param {Trace} trace @param {number} i @param {Node[]} beside what a comparison adds */
  show(trace, i, beside) {
    if (trace.rows === 0) return this.element.replaceChildren(el("p", { className: "note" }, "No step was made."));
    const parts = [this.step(trace, i), ...beside, this.source(trace, i), this.state(trace, i), this.order(trace, i),
      this.tasks(trace, i)];
    this.element.replaceChildren(...parts.filter(Boolean));
  }

  step(trace, i) {
    const { verb, object, told, reason } = trace.words(i);
    const ending = trace.isEnding(i) ? trace.data.endings[i - trace.steps].told : "";
    const task = trace.tasks[trace.task(i)];
    const notes = [];
    if (trace.failing.has(i)) notes.push(el("span", { className: "tag alarm" }, "failure"));
    if (trace.isSwitch(i) && !trace.isEnding(i)) notes.push(el("span", { className: "tag" }, trace.wasChoice(i) ? "switched here" : "no other task could run"));
    else if (trace.wasChoice(i)) notes.push(el("span", { className: "tag" }, "a switch was possible"));
    if (trace.window && i >= trace.window.from && i <= trace.window.to) notes.push(el("span", { className: "tag window" }, "race window"));
    const who = el("span", { className: "who" }, task.full);
    who.style.setProperty("--hue", hueOf(trace, trace.task(i)));
    return el("section", { className: "step" },
      el("p", { className: "step-who" }, el("span", { className: "step-number" }, trace.number(i)), who),
      el("p", { className: "step-what" }, el("b", {}, ...withCode(verb)), object ? " " : "", ...withCode(object)),
      told ? el("p", { className: "step-told" }, ...withCode(told)) : "",
      ending ? el("p", { className: "step-told" }, ending) : "",
      reason ? el("p", { className: "step-why" }, "then ", ...withCode(reason)) : "",
      notes.length ? el("p", { className: "tags" }, ...notes) : "");
  }

  source(trace, i) {
    const place = trace.place(i);
    if (!place) return null;
    const lines = trace.sources.around(place, LINES_AROUND);
    const indent = Math.min(...lines.filter(([, text]) => text.trim()).map(([, text]) => text.length - text.trimStart().length));
    const code = lines.map(([number, text]) => el("span", {
      className: number === place.line ? "line here" : "line", "data-number": number,
    }, text.slice(Number.isFinite(indent) ? indent : 0) || " "));
    return el("section", { className: "source-part" },
      el("h3", {}, el("span", {}, "Source"), whereOf(trace, place)),
      lines.length ? el("pre", { className: "code", tabIndex: 0, "aria-label": `Source around line ${place.line}` }, ...code) : "");
  }

  state(trace, i) {
    // Names and pairs of processes have nothing to say, nor have nodes.
    let states = trace.stateAfter(i).filter(({ resource, text }) => text || !["process", "node"].includes(trace.resources[resource].kind));
    const hidden = states.length - MOST_RESOURCES;
    if (hidden > 0) {
      const newest = [...states].sort((a, b) => b.since - a.since).slice(0, MOST_RESOURCES);
      states = states.filter((state) => newest.includes(state));
    }
    if (states.length === 0) return null;
    const touched = new Set(trace.touches(i));
    const rows = states.map(({ resource, text, since, changed }) => {
      const names = [changed ? "changed" : "", touched.has(resource) ? "touched" : ""].join(" ");
      const by = since < 0 ? "" : this.link(trace, since, trace.number(since), `changed by step ${trace.number(since)}`);
      return el("tr", { className: names, "data-resource": trace.resources[resource].name },
        el("th", { scope: "row" }, ...withCode(trace.resources[resource].name)),
        el("td", { className: "value" }, text || "–"), el("td", { className: "since" }, by));
    });
    return el("section", {}, el("h3", {}, el("span", {}, "Shared state after this step")),
      el("table", { className: "state" },
        el("thead", { className: "unseen" }, el("tr", {}, ...["Resource", "State", "Since step"].map((t) => el("th", { scope: "col" }, t)))),
        el("tbody", {}, ...rows)),
      hidden > 0 ? el("p", { className: "note" }, `The ${MOST_RESOURCES} changed last; ${hidden} others are not shown.`) : "");
  }

  order(trace, i) {
    const list = (/** @type {string} */ title, /** @type {Arrow[]} */ arrows, /** @type {"from" | "to"} */ end) => arrows.map((arrow) => {
      const other = arrow[end];
      return el("li", { className: arrow.race ? "race" : "" }, el("span", { className: "direction" }, title), " ",
        this.link(trace, other, `${trace.number(other)} · ${trace.tasks[trace.task(other)].path}`, ""), " ",
        ...withCode(trace.describe(other)), arrow.race ? el("span", { className: "tag race" }, "could be the other way round") : "");
    });
    const items = [...list("after", trace.into.get(i) ?? [], "from"), ...list("before", (trace.outOf.get(i) ?? []).slice(0, 12), "to")];
    if (items.length === 0) return null;
    const known = trace.data.all_arrows ? "" : el("p", { className: "note" }, "Too many steps and tasks to order all: only what ended a wait is known.");
    return el("section", {}, el("h3", {}, el("span", {}, "Happens")), el("ul", { className: "order" }, ...items), known);
  }

  tasks(trace, i) {
    const shown = trace.lanes.slice(0, MOST_TASKS);
    const items = shown.map((task) => {
      const { row, status, bad } = trace.standing(task, i);
      const place = row < 0 ? null : trace.place(row);
      const name = el("th", { scope: "row", className: "who" }, trace.tasks[task].tag);
      name.style.setProperty("--hue", hueOf(trace, task));
      return el("tr", { className: bad ? "is-bad" : `is-${status.replace(" ", "-")}` }, name, el("td", { className: "status" }, status),
        el("td", {}, row < 0 ? "" : this.link(trace, row, place ? `${baseName(place.file)}:${place.line}` : trace.number(row), `last step ${trace.number(row)}`)));
    });
    const more = trace.lanes.length - shown.length;
    return el("section", {}, el("h3", {}, el("span", {}, "Tasks")), el("table", { className: "standing" }, el("tbody", {}, ...items)),
      more > 0 ? el("p", { className: "note" }, `… and ${counted(more, "more task")}`) : "");
  }

  link(trace, i, text, label) {
    const button = el("button", { type: "button", className: "link" }, text);
    if (label) {
      button.title = label;
      button.setAttribute("aria-label", `${text}, ${label}`);
    }
    button.addEventListener("click", () => this.go(trace, i));
    return button;
  }
}
