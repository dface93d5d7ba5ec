// One record as a list of steps beside its lanes. Only the rows on and near the screen exist; the list tells
// screen readers how many there are.

const ROW_HEIGHT = 26;
/** Rows that are made beyond each edge of the screen. */
const MARGIN = 24;
const NARROWEST_LANE = 10, WIDEST_LANE = 56;
/** Lanes of processes are told apart by the arrows between them. */
const NARROWEST_PROCESS = 9;
/** How wide a letter of a lane's name is. */
const LETTER = 6.95;
let timelines = 0;

class Timeline {
  /**
   * @param {Trace} trace
   * @param {{select: (timeline: Timeline, i: number) => void, activate: (timeline: Timeline) => void}} on
   */
  constructor(trace, on) {
    this.trace = trace;
    this.on = on;
    this.id = `t${timelines++}`;
    this.current = trace.opening();
    /** @type {number[]} Rows that search has found, in order. */
    this.hits = [];
    this.hitSet = new Set();
    /** @type {((i: number) => string) | null} How a row compares with the record beside it. */
    this.mark = null;
    /** @type {Map<number, HTMLElement>} By row: its element. */
    this.made = new Map();
    this.messages = false;
    this.layout = new Layout(trace, Array.from({ length: trace.rows }, (_, i) => i));
    const names = trace.data.places.map(([file, line]) => `${baseName(file)}:${line}`.length);
    this.placeWidth = Math.min(24, Math.max(1, ...names));
    this.nameWidth = Math.min(18, Math.max(4, ...trace.lanes.map((task) => trace.tasks[task].tag.length)));
    this.build();
  }

  build() {
    this.title = el("h2", { className: "pane-title" });
    this.head = el("div", { className: "lanes-head", "aria-hidden": "true" });
    this.canvas = el("canvas", { className: "lanes", "aria-hidden": "true" });
    this.list = el("div", { className: "rows", role: "presentation" }, this.canvas);
    this.scroller = el("div", {
      className: "scroller", role: "listbox", tabIndex: 0, id: this.id, "aria-label": `Steps, ${this.trace.label}`,
    }, this.list);
    this.empty = el("p", { className: "empty", hidden: true }, this.trace.rows === 0 ? "No step was made." : "The filter hides every step.");
    this.overview = new Overview((fraction) => this.jumpTo(fraction));
    this.element = el("section", { className: "pane", "aria-label": this.trace.label }, this.title, this.head,
      el("div", { className: "pane-body" }, this.scroller, this.empty, this.overview.element));
    this.scroller.addEventListener("scroll", () => this.render());
    this.scroller.addEventListener("focus", () => this.on.activate(this));
    this.list.addEventListener("click", (event) => {
      const row = event.target.closest("[role=option]");
      if (row) this.on.select(this, Number(row.dataset.row));
    });
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.scroller);
  }

  /** Takes the element away. */
  remove() {
    this.observer.disconnect();
    this.element.remove();
  }

  /** Shows these rows only. @param {number[]} visible @param {boolean} messages what processes were told, in place of steps */
  show(visible, messages) {
    this.messages = messages;
    this.element.classList.toggle("messages", messages);
    this.layout = new Layout(this.trace, visible);
    this.layout.messages = this.messages;
    this.empty.hidden = visible.length > 0;
    if (visible.length > 0 && !this.layout.isVisible(this.current)) {
      this.current = visible[Math.max(0, lastAtMost(visible, this.current))];
    }
    this.resize();
    this.reveal(this.current, "centre");
  }

  /** @param {number[]} hits */
  find(hits) {
    this.hits = hits;
    this.hitSet = new Set(hits);
    this.repaint();
  }

  /** After a change of the size, of the theme, or of what rows say. */
  resize() {
    const width = this.scroller.clientWidth;
    if (width === 0) return;
    const lanes = Math.max(1, this.trace.lanes.length);
    const room = Math.max(60, width * (width < 560 ? 0.3 : 0.32));
    this.layout.laneWidth = Math.max(this.trace.messages.size > 0 ? NARROWEST_PROCESS : NARROWEST_LANE, Math.min(WIDEST_LANE, room / lanes));
    this.laneRoom = Math.min(room, this.layout.laneWidth * lanes);
    this.element.style.setProperty("--lanes", `${this.laneRoom}px`);
    this.element.classList.toggle("narrow", width < 560);
    this.element.classList.toggle("tight", width < 800);
    this.element.classList.toggle("compact", width - this.laneRoom < 660);
    // Names of tasks have room at any width: less for the picture of the lanes, if it must be.
    this.element.style.setProperty("--who", `${Math.round(Math.min(this.nameWidth * LETTER + 8, Math.max(38, width * 0.16)))}px`);
    this.element.style.setProperty("--place", `${this.placeWidth}ch`);
    // Who a process is says more than where it comes from: names stand upright where they have no room.
    const upright = this.trace.messages.size > 0 && this.trace.lanes.some((task) => this.trace.tasks[task].name.length * LETTER > this.layout.laneWidth);
    const longest = Math.max(4, ...this.trace.lanes.map((task) => this.trace.tasks[task].name.length));
    this.upright = upright;
    this.element.classList.toggle("upright", upright);
    this.element.style.setProperty("--head", upright ? `${Math.min(15, longest) * 7 + 12}px` : "28px");
    this.list.style.height = `${this.layout.visible.length * ROW_HEIGHT}px`;
    this.repaint();
  }

  repaint() {
    this.inks = new Inks();
    for (const element of this.made.values()) element.remove();
    this.made.clear();
    this.drawHead();
    this.overview.draw(this.layout, this.inks, this.hits);
    this.render();
  }

  drawHead() {
    const { trace, layout } = this;
    const show = layout.laneWidth >= 22;
    this.head.replaceChildren(...trace.lanes.map((task, lane) => {
      const { path, full, tag } = trace.tasks[task];
      const name = this.upright ? trace.tasks[task].name : tag.length * LETTER <= layout.laneWidth ? tag : path;
      const label = el("span", { className: "lane", title: full }, show || this.upright ? name : "");
      label.style.left = `${lane * layout.laneWidth}px`;
      label.style.width = `${layout.laneWidth}px`;
      label.style.setProperty("--hue", hueOf(trace, task));
      return label;
    }));
  }

  /** Makes the rows that are missing, and draws their lanes. */
  render() {
    const height = this.scroller.clientHeight, top = this.scroller.scrollTop;
    const count = this.layout.visible.length;
    const begin = Math.floor(top / ROW_HEIGHT), end = Math.ceil((top + height) / ROW_HEIGHT);
    const first = Math.max(0, begin - MARGIN), last = Math.min(count - 1, end + MARGIN);
    this.overview.show(top / ROW_HEIGHT, (top + height) / ROW_HEIGHT);
    const wanted = new Set(this.layout.visible.slice(first, last + 1));
    for (const [i, element] of this.made) {
      if (!wanted.has(i)) {
        element.remove();
        this.made.delete(i);
      }
    }
    for (let position = first; position <= last; position++) {
      const i = this.layout.visible[position];
      if (!this.made.has(i)) {
        const element = this.row(i, position);
        this.made.set(i, element);
        this.list.append(element);
      }
    }
    this.markCurrent();
    this.drawCanvas(first, last);
  }

  drawCanvas(first, last) {
    const rows = last - first + 1;
    if (rows <= 0) return;
    const scale = devicePixelRatio || 1, height = rows * ROW_HEIGHT;
    this.keepLaneInView();
    if (this.canvas.width !== Math.round(this.laneRoom * scale) || this.canvas.height !== height * scale) {
      this.canvas.width = Math.round(this.laneRoom * scale);
      this.canvas.height = height * scale;
      this.canvas.style.width = `${this.laneRoom}px`;
      this.canvas.style.height = `${height}px`;
    }
    this.canvas.style.transform = `translateY(${first * ROW_HEIGHT}px)`;
    const c = this.canvas.getContext("2d");
    c.setTransform(scale, 0, 0, scale, 0, 0);
    const view = { first, last, rowHeight: ROW_HEIGHT, width: this.laneRoom, current: this.current };
    drawLanes(c, this.layout, this.inks, view);
  }

  /** Where there are more lanes than room, those around the current task are shown. */
  keepLaneInView() {
    const { layout, trace } = this;
    const whole = layout.laneWidth * trace.lanes.length;
    const wanted = (trace.laneOf[trace.task(this.current)] + 0.5) * layout.laneWidth - this.laneRoom / 2;
    layout.left = Math.max(0, Math.min(whole - this.laneRoom, wanted));
    this.head.style.setProperty("--left", `${-layout.left}px`);
  }

  /** @param {number} i @param {number} position */
  row(i, position) {
    const { trace } = this;
    const { verb, object, told, reason } = trace.words(i);
    const place = trace.place(i);
    const before = position > 0 ? this.layout.visible[position - 1] : -1;
    const after = this.layout.visible[position + 1];
    const task = trace.task(i);
    const message = this.messages ? trace.messages.get(i) : undefined;
    const leaves = !message && reason && (after === undefined || trace.task(after) !== task);
    const mark = this.mark ? this.mark(i) : "";
    const classes = ["row"];
    if (before >= 0 && trace.task(before) !== task) classes.push("switch");
    if (before >= 0 && before !== i - 1) classes.push("gap");
    if (trace.failing.has(i)) classes.push("failing");
    if (trace.window && i >= trace.window.from && i <= trace.window.to) classes.push("window");
    if (this.hitSet.has(i)) classes.push("hit");
    if (mark) classes.push(`is-${mark}`);
    const row = el("div", {
      className: classes.join(" "), role: "option", id: `${this.id}-${i}`, "data-row": i,
      "aria-selected": i === this.current, "aria-setsize": this.layout.visible.length, "aria-posinset": position + 1,
      "aria-label": `${trace.number(i)}, ${trace.tasks[task].tag}, ${trace.describe(i).replaceAll("`", "")}`,
    },
    el("span", { className: "number" }, trace.number(i)),
    el("span", { className: "space" }),
    el("span", { className: "who", title: trace.tasks[task].full }, trace.tasks[task].tag),
    message ? messageElement(trace, i, message) : el("span", { className: "operation" }, el("b", {}, ...withCode(verb)), object ? " " : "", ...withSort(object),
      told ? el("i", {}, ...withCode(told)) : "",
      leaves ? el("span", { className: reason === "preempted" ? "why preempted" : "why" }, ...withCode(reason)) : ""),
    el("span", { className: "source" }, trace.sources.line(place)),
    el("span", { className: "place" }, place ? `${baseName(place.file)}:${place.line}` : ""));
    row.style.transform = `translateY(${position * ROW_HEIGHT}px)`;
    row.style.setProperty("--hue", hueOf(trace, task));
    return row;
  }

  markCurrent() {
    const element = this.made.get(this.current);
    if (element === this.marked && element) return;
    this.marked?.setAttribute("aria-selected", "false");
    element?.setAttribute("aria-selected", "true");
    this.marked = element;
    this.scroller.setAttribute("aria-activedescendant", `${this.id}-${this.current}`);
  }

  /** Makes `i` the current row. @param {number} i @param {"near" | "centre"} [how] */
  select(i, how = "near") {
    this.current = i;
    this.reveal(i, how);
    this.render();
  }

  /** Scrolls as little as needed; far away, so that the row comes to two thirds of the height. */
  reveal(i, how) {
    const height = this.scroller.clientHeight, top = this.scroller.scrollTop;
    const y = this.layout.position[i] * ROW_HEIGHT;
    const edge = Math.min(3 * ROW_HEIGHT, height / 4);
    const isFar = y < top - height || y > top + 2 * height;
    if (how === "centre" || isFar) this.scroller.scrollTop = y - height * 0.66;
    else if (y < top + edge) this.scroller.scrollTop = y - edge;
    else if (y + ROW_HEIGHT > top + height - edge) this.scroller.scrollTop = y + ROW_HEIGHT - height + edge;
  }

  /** @param {number} fraction of the overview's height */
  jumpTo(fraction) {
    const position = (fraction * this.overview.element.clientHeight) / (this.overview.unit || 1);
    this.scroller.scrollTop = position * ROW_HEIGHT - this.scroller.clientHeight / 2;
  }

  /** The row that lies `by` visible rows away. @param {number} by */
  away(by) {
    const { visible, position } = this.layout;
    const at = Math.round(position[this.current]) + by;
    return visible[Math.max(0, Math.min(visible.length - 1, at))];
  }

  /** The next visible row that `is`, or the current one. @param {1 | -1} by @param {(i: number) => boolean} is */
  next(by, is) {
    const { visible, position } = this.layout;
    for (let at = position[this.current] + by; at >= 0 && at < visible.length; at += by) {
      if (is(visible[at])) return visible[at];
    }
    return this.current;
  }

  /** Visible rows on one screen. */
  page() {
    return Math.max(1, Math.floor(this.scroller.clientHeight / ROW_HEIGHT) - 2);
  }
}

const SIGNS = { received: "←", sent: "→", signalled: "⇒", ended: "■", did: "·", lost: "✗", struck: "↯" };

/** What a process was told, by whom, or how it ended. @param {Trace} trace @param {number} i */
function messageElement(trace, i, { kind, whom, text }) {
  const name = el("span", { className: "self" }, trace.tasks[trace.task(i)].name);
  return el("span", { className: `operation message is-${kind === "ended" && text.startsWith("normal") ? "did" : kind}`, title: text }, name, el("b", { className: "sign-of" }, SIGNS[kind]),
    whom ? el("span", { className: "whom" }, whom) : "", el("i", {}, kind === "ended" ? `ends: ${text}` : text));
}
