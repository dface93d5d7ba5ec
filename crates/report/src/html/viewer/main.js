// The page: puts the parts together, and says what every key does.

/** Key, as shown; what it does. */
const KEYS = [
  ["↑ ↓", "previous, next step"],
  ["← →", "previous, next step of the same task"],
  ["Page ↑ ↓, Home, End", "far"],
  ["[ ]", "previous, next switch"],
  ["w", "the race window: what opens it, what does the harm, what closes it"],
  ["f", "the failure"],
  ["/", "search; then Enter and Shift+Enter, or n and p"],
  ["r", "filter by resource and task"],
  ["e", "among processes: messages only, or every step"],
  ["m", "the next record: original, minimised …"],
  ["c", "compare with another record; again to stop"],
  ["d", "when comparing: the first difference"],
  ["Tab", "from one side, and part of the page, to the next"],
  ["t", "light, dark, or as the system"],
  ["?", "these keys"],
];

class Viewer {
  /** @param {{records: any[], sources: any[], editor: string | null, root: string | null}} data */
  constructor(data) {
    const sources = new Sources(data.sources);
    const editor = new Editor(data.editor, data.root);
    this.traces = data.records.map((record) => Object.assign(new Trace(record, sources), { editor }));
    this.shown = 0;
    /** @type {number} The record beside it; -1 for none. */
    this.beside = -1;
    /** @type {Comparison | null} */
    this.comparison = null;
    /** @type {Timeline[]} */
    this.timelines = [];
    this.inspector = new Inspector(byId("inspector"), (trace, i) => this.go(trace, i));
    this.filter = new Filter(this.traces, () => this.applyFilter());
    this.search = new Search(() => this.timelines, () => this.active, (i) => this.select(this.active, i));
    this.speak = whenQuiet(() => (byId("live").textContent = this.active.trace.rows ? this.active.trace.spoken(this.active.current) : ""), 120);
    this.remember = whenQuiet(() => this.writeAddress(), 300);
    this.buildControls();
    this.theme = new Theme(() => this.timelines.forEach((timeline) => timeline.repaint()));
    this.readAddress();
    this.open();
    document.addEventListener("keydown", (event) => this.key(event));
  }

  get trace() {
    return this.traces[this.shown];
  }

  buildControls() {
    const group = byId("records");
    group.hidden = this.traces.length < 2;
    this.traces.forEach((trace, i) => {
      const radio = el("input", { type: "radio", name: "record", id: `record-${i}` });
      radio.addEventListener("change", () => this.switchTo(i));
      group.append(radio, el("label", { for: `record-${i}` }, trace.label));
    });
    byId("compare-field").hidden = this.traces.length < 2;
    byId("compare").addEventListener("change", (event) => this.compareWith(Number(event.target.value)));
    byId("difference").addEventListener("click", () => this.toDifference());
    byId("previous-switch").addEventListener("click", () => this.toSwitch(-1));
    byId("next-switch").addEventListener("click", () => this.toSwitch(1));
    byId("to-failure").addEventListener("click", () => this.select(this.active, this.active.trace.start(), "centre"));
    byId("messages").addEventListener("change", () => this.onlyMessages(byId("messages").checked));
    byId("to-window").addEventListener("click", () => this.toEvidence());
    byId("replay-copy").addEventListener("click", () => copy(this.trace.data.replay));
    byId("help-open").addEventListener("click", () => this.help());
    const close = el("button", { type: "submit" }, "Close");
    byId("help").append(el("form", { method: "dialog" }, el("h2", { id: "help-title" }, "Keys and signs"),
      el("dl", {}, ...KEYS.flatMap(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)])),
      legend(), close));
  }

  /** Shows the chosen record, and the one beside it. */
  open() {
    const place = this.timelines.length ? this.active.scroller === document.activeElement : true;
    this.timelines.forEach((timeline) => timeline.remove());
    const traces = this.beside < 0 ? [this.trace] : [this.trace, this.traces[this.beside]];
    this.comparison = this.beside < 0 ? null : new Comparison(traces[0], traces[1]);
    this.timelines = traces.map((trace) => new Timeline(trace, {
      select: (timeline, i) => this.select(timeline, i),
      activate: (timeline) => this.activate(timeline),
    }));
    this.active = this.timelines[0];
    const comparison = this.comparison;
    byId("stage").classList.toggle("comparing", comparison !== null);
    byId("difference").hidden = !comparison || comparison.first < 0;
    for (const timeline of this.timelines) {
      if (!comparison) continue;
      const { trace } = timeline;
      timeline.mark = (i) => comparison.mark(trace, i);
      timeline.title.append(el("b", {}, trace.label), " ", el("span", {}, ...withCode(trace.data.sentence)));
    }
    const summary = comparison ? [el("p", { className: "comparison", role: "note" }, ...withCode(comparison.summary()))] : [];
    byId("timelines").replaceChildren(...summary, el("div", { className: "panes" }, ...this.timelines.map((t) => t.element)));
    this.header();
    this.applyFilter();
    if (this.wanted !== undefined) this.active.current = Math.min(this.wanted, this.trace.rows - 1);
    this.wanted = undefined;
    this.select(this.active, this.active.current, "centre");
    if (place) this.active.scroller.focus({ preventScroll: true });
  }

  header() {
    const { data } = this.trace;
    byId("kind").textContent = data.kind;
    byId("kind").classList.toggle("passed", data.passed);
    byId("test").textContent = data.test;
    byId("facts").textContent = [...data.facts, counted(this.trace.steps + data.first, "step"), counted(this.trace.lanes.length, "task")].join("  ·  ");
    byId("sentence").replaceChildren(...withCode(data.sentence));
    byId("why").hidden = data.why.length === 0;
    byId("why").replaceChildren(...data.why.map((line) => el("li", {}, ...withCode(line))));
    byId("fixes").hidden = data.fixes.length === 0;
    byId("fixes").replaceChildren(...data.fixes.map((fix, i) => fixElement(fix, i === 0 && innerHeight >= 700 && innerWidth > 820)));
    byId("details").hidden = data.details === "";
    const left = data.first ? `\nThe first ${counted(data.first, "step")} are left out here; the trace file has all of them.` : "";
    byId("details-text").textContent = data.details + left;
    byId("details").open = innerHeight >= 700;
    byId("replay").hidden = !data.replay;
    byId("replay-line").textContent = data.replay ?? "";
    byId("to-failure").hidden = data.passed;
    byId("to-window").hidden = data.evidence.length === 0;
    byId(`record-${this.shown}`).checked = true;
    const choose = this.traces.map((trace, i) => ({ trace, i })).filter(({ i }) => i !== this.shown);
    byId("compare").replaceChildren(el("option", { value: -1 }, "nothing"), ...choose.map(({ trace, i }) => el("option", { value: i, selected: i === this.beside }, trace.label)));
  }

  switchTo(i) {
    this.shown = i;
    if (this.beside === i) this.beside = -1;
    this.open();
  }

  compareWith(i) {
    this.beside = i;
    this.open();
  }

  applyFilter() {
    for (const timeline of this.timelines) {
      timeline.show(this.filter.rows(timeline.trace), this.filter.messages && timeline.trace.messages.size > 0);
    }
    byId("messages-field").hidden = this.timelines.every(({ trace }) => trace.messages.size === 0);
    byId("messages").checked = this.filter.messages;
    this.search.run(false);
    this.tell();
  }

  /** Shows what processes said and how they ended, or every step. @param {boolean} only */
  onlyMessages(only) {
    this.filter.messages = only;
    this.applyFilter();
  }

  /** @param {Timeline} timeline */
  activate(timeline) {
    if (this.active === timeline) return;
    this.active = timeline;
    this.tell();
  }

  /** @param {Timeline} timeline @param {number} i @param {"near" | "centre"} [how] */
  select(timeline, i, how) {
    if (i === undefined || i < 0) return;
    this.active = timeline;
    timeline.select(i, how);
    const other = this.timelines.find((t) => t !== timeline);
    if (other && this.comparison) {
      const row = this.comparison.counterpart(timeline.trace, i);
      if (row >= 0 && other.layout.isVisible(row)) other.select(row);
    }
    this.tell();
  }

  /** To a row of a record that is on the screen; a filter that hides it is taken away. */
  go(trace, i) {
    const timeline = this.timelines.find((t) => t.trace === trace);
    if (!timeline) return;
    if (!timeline.layout.isVisible(i)) this.filter.clear();
    this.select(timeline, i);
  }

  tell() {
    const { trace, current } = this.active;
    this.timelines.forEach((timeline) => timeline.element.classList.toggle("active", timeline === this.active));
    const beside = this.comparison && trace.rows ? [this.comparison.beside(trace, current, this.inspector)] : [];
    this.inspector.show(trace, current, beside);
    this.search.tell();
    this.speak();
    this.remember();
  }

  toSwitch(by) {
    const { active } = this;
    this.select(active, active.next(by, (i) => active.trace.isSwitch(i)));
  }

  /** To the next of the steps that show what went wrong, from the first one again after the last. */
  toEvidence() {
    const { trace, current } = this.active;
    const { evidence } = trace.data;
    if (evidence.length) this.select(this.active, evidence.find((i) => i > current) ?? evidence[0], "centre");
  }

  /** The record to compare with: one that passes, if there is one. */
  toCompareWith() {
    const others = this.traces.map((_, i) => i).filter((i) => i !== this.shown);
    const differs = (/** @type {number} */ i) => this.traces[i].data.passed !== this.trace.data.passed;
    return others.find(differs) ?? others[0];
  }

  toDifference() {
    const first = this.comparison?.first ?? -1;
    if (first >= 0) this.go(this.active.trace, Math.min(first, this.active.trace.rows - 1));
  }

  help() {
    byId("help").showModal();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
    const inList = target === document.body || (target instanceof Element && target.closest(".timelines"));
    if (event.key === "Escape" && byId("filter").open) {
      byId("filter").open = false;
      this.active.scroller.focus();
    }
    // Letters mean something only where nothing else could be meant by them.
    const action = inList ? this.actions()[event.key] : undefined;
    if (!action) return;
    event.preventDefault();
    action();
  }

  /** @returns {Record<string, () => void>} */
  actions() {
    const { active } = this;
    const to = (/** @type {number} */ i) => this.select(active, i);
    const sameTask = (/** @type {number} */ i) => active.trace.task(i) === active.trace.task(active.current);
    const many = this.traces.length;
    return {
      ArrowDown: () => to(active.away(1)), ArrowUp: () => to(active.away(-1)),
      j: () => to(active.away(1)), k: () => to(active.away(-1)),
      ArrowRight: () => to(active.next(1, sameTask)), ArrowLeft: () => to(active.next(-1, sameTask)),
      PageDown: () => to(active.away(active.page())), PageUp: () => to(active.away(-active.page())),
      Home: () => to(active.layout.visible[0]), End: () => to(active.layout.visible.at(-1)),
      "[": () => this.toSwitch(-1), "]": () => this.toSwitch(1),
      f: () => this.select(active, active.trace.start(), "centre"),
      "/": () => byId("search").focus(),
      n: () => this.search.step(1), p: () => this.search.step(-1),
      r: () => {
        byId("filter").open = true;
        byId("filter").querySelector("input:not([hidden])")?.focus();
      },
      m: () => many > 1 && this.switchTo((this.shown + 1) % many),
      c: () => many > 1 && this.compareWith(this.beside >= 0 ? -1 : this.toCompareWith()),
      d: () => this.toDifference(),
      e: () => this.onlyMessages(!this.filter.messages),
      w: () => this.toEvidence(),
      t: () => this.theme.next(),
      "?": () => this.help(),
    };
  }

  /** The address says what is shown, so that it can be passed on. */
  writeAddress() {
    const { trace, current } = this.active;
    const parts = [`step=${current + trace.data.first + 1}`];
    if (this.shown) parts.push(`record=${this.shown}`);
    if (this.beside >= 0) parts.push(`beside=${this.beside}`);
    try {
      history.replaceState(null, "", `#${parts.join("&")}`);
    } catch {
      // Some browsers forbid it for files.
    }
  }

  readAddress() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const number = (/** @type {string} */ name) => Number.parseInt(asked.get(name) ?? "", 10);
    const record = number("record"), beside = number("beside"), step = number("step");
    if (this.traces[record]) this.shown = record;
    if (this.traces[beside] && beside !== this.shown) this.beside = beside;
    if (step >= 1) this.wanted = Math.max(0, step - 1 - this.trace.data.first);
  }
}

/** Light, dark, or as the system says. */
class Theme {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    this.button = byId("theme");
    this.button.addEventListener("click", () => this.next());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
    let kept = null;
    try {
      kept = localStorage.getItem("drawloom-theme");
    } catch {
      // A page without storage asks the system each time.
    }
    this.set(kept === "light" || kept === "dark" ? kept : "auto");
  }

  next() {
    const order = ["auto", "light", "dark"];
    this.set(order[(order.indexOf(this.theme) + 1) % order.length]);
    this.changed();
    try {
      localStorage.setItem("drawloom-theme", this.theme);
    } catch {
      // As above.
    }
  }

  set(theme) {
    this.theme = theme;
    document.documentElement.dataset.theme = theme;
    this.button.textContent = { auto: "◐ Auto", light: "○ Light", dark: "● Dark" }[theme];
    this.button.setAttribute("aria-label", `Colours: ${theme}. Press to change`);
  }
}

/** What could be done: one line, and under it how, what it costs, and what could go wrong. */
function fixElement(fix, open) {
  const isGood = fix.verified?.startsWith("verified");
  const facts = [["closes", fix.closes], ["cost", fix.cost], ["risk", fix.risk]].filter(([, text]) => text);
  return el("details", { className: isGood ? "fix is-good" : "fix", open },
    el("summary", {}, "Fix: ", ...withCode(fix.title), " ", el("span", { className: "effort" }, fix.effort),
      fix.verified ? el("span", { className: "verified" }, " ", ...withCode(fix.verified)) : ""),
    fix.sketch ? el("pre", { className: "sketch", tabIndex: 0, "aria-label": "Sketch of the fix" }, fix.sketch) : "",
    el("dl", {}, ...facts.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, ...withCode(text))])));
}

function legend() {
  const item = (/** @type {string} */ name, /** @type {string} */ text) => el("li", {}, el("span", { className: `sign ${name}` }), text);
  return el("ul", { className: "legend", "aria-label": "Signs" }, item("hold", "holds a lock"), item("waits", "waits"),
    item("arrow", "happens before"), item("race", "could be the other way round"), item("window", "race window"));
}

async function copy(text) {
  const button = byId("replay-copy");
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(byId("replay-line"));
    button.textContent = "Selected";
  }
  setTimeout(() => (button.textContent = "Copy"), 1500);
}

new Viewer(JSON.parse(byId("data").textContent));
// Read by tests, and by whoever asks why a page is slow.
performance.mark("drawloom-shown");
