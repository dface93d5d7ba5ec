// A record as the page moves through it. Everything is by the index of a *row*: the steps in order, then
// the endings, which tell where failing tasks were.

/**
 * @typedef {{verb: string, object: string, told: string, reason: string}} Words
 * @typedef {{from: number, to: number, race: boolean}} Arrow
 * @typedef {{task: number, resource: number, from: number, to: number, shared: boolean, depth: number}} Bar
 * @typedef {{resource: number, text: string, since: number, changed: boolean}} State
 * @typedef {{file: string, line: number, column: number}} Place
 */

/** Source excerpts by file and line. */
class Sources {
  /** @param {{file: string, parts: [number, string[]][]}[]} files */
  constructor(files) {
    /** @type {Map<string, Map<number, string>>} */
    this.files = new Map();
    for (const { file, parts } of files) {
      const lines = new Map();
      for (const [first, texts] of parts) texts.forEach((text, i) => lines.set(first + i, text));
      this.files.set(file, lines);
    }
  }

  /** @param {Place | null} place @returns {string} the line without its indentation; empty if not known */
  line(place) {
    return (place && this.files.get(place.file)?.get(place.line)?.trim()) || "";
  }

  /** @param {Place} place @param {number} around @returns {[number, string][]} */
  around(place, around) {
    const lines = this.files.get(place.file);
    if (!lines) return [];
    /** @type {[number, string][]} */
    const found = [];
    for (let n = place.line - around; n <= place.line + around; n++) {
      const text = lines.get(n);
      if (text !== undefined) found.push([n, text]);
    }
    return found;
  }
}

class Trace {
  /** @param {any} data @param {Sources} sources */
  constructor(data, sources) {
    this.data = data;
    this.sources = sources;
    this.label = data.label;
    /** Steps, without endings. */
    this.steps = data.steps.task.length;
    /** Rows in all. */
    this.rows = this.steps + data.endings.length;
    this.tasks = data.tasks;
    this.resources = data.resources;
    this.failing = new Set(data.failing);
    for (let i = this.steps; i < this.rows; i++) this.failing.add(i);
    this.window = data.window && { from: data.window[0], to: data.window[1], resource: data.window[2] };
    /** @type {number[][]} By task: its rows. */
    this.ofTask = this.tasks.map(() => []);
    /** The number of a row among its task's. */
    this.ordinal = new Uint32Array(this.rows);
    for (let i = 0; i < this.rows; i++) this.ordinal[i] = this.ofTask[this.task(i)].push(i) - 1;
    /** @type {number[]} Tasks that have a lane, in order. */
    const others = new Set(data.messages.map((message) => message.other));
    /** Nodes of a cluster that have a part in it. */
    this.nodes = new Set(data.nodes.filter((/** @type {number} */ t) => this.ofTask[t].length > 0 || others.has(t)));
    this.lanes = this.tasks.map((_, t) => t).filter((t) => this.ofTask[t].length > 0 || this.nodes.has(t));
    this.laneOf = new Int32Array(this.tasks.length).fill(-1);
    this.lanes.forEach((task, lane) => (this.laneOf[task] = lane));
    /** @type {Map<number, {kind: string, other: number, whom: string, text: string}>} By row: what a process was told. */
    this.messages = new Map(data.messages.map((message) => [message.step, message]));
    this.readArrows();
    this.holds = this.readBars(data.holds);
    this.waits = this.readBars(data.waits);
    /** By task: its waits, and where they begin. */
    this.waitsOf = this.tasks.map(() => /** @type {Bar[]} */ ([]));
    for (const bar of this.waits) this.waitsOf[bar.task].push(bar);
    this.waitStarts = this.waitsOf.map((bars) => bars.map((bar) => bar.from));
    this.readChanges();
    /** @type {string[] | null} What search looks at, made when it is first needed. */
    this.searchable = null;
  }

  readArrows() {
    /** @type {Arrow[]} */
    this.arrows = [];
    /** @type {Map<number, Arrow[]>} */
    this.into = new Map();
    /** @type {Map<number, Arrow[]>} */
    this.outOf = new Map();
    const put = (map, key, arrow) => (map.has(key) ? map.get(key).push(arrow) : map.set(key, [arrow]));
    const numbers = this.data.arrows;
    for (let k = 0; k < numbers.length; k += 3) {
      const arrow = { from: numbers[k], to: numbers[k + 1], race: numbers[k + 2] === 1 };
      this.arrows.push(arrow);
      put(this.into, arrow.to, arrow);
      put(this.outOf, arrow.from, arrow);
    }
  }

  /** Bars, with how many others of their task were open when they began. @param {number[]} numbers */
  readBars(numbers) {
    /** @type {Bar[]} */
    const bars = [];
    /** @type {Bar[][]} */
    const open = this.tasks.map(() => []);
    for (let k = 0; k < numbers.length; k += 5) {
      const [task, resource, from, to, shared] = numbers.slice(k, k + 5);
      const still = open[task].filter((bar) => bar.to > from);
      let depth = 0;
      while (still.some((bar) => bar.depth === depth)) depth++;
      const bar = { task, resource, from, to: to >= this.steps ? this.rows : to, shared: shared === 1, depth };
      still.push(bar);
      open[task] = still;
      bars.push(bar);
    }
    return bars;
  }

  readChanges() {
    /** @type {{steps: number[], texts: number[]}[]} */
    this.changes = this.resources.map(() => ({ steps: [], texts: [] }));
    const numbers = this.data.changes;
    for (let k = 0; k < numbers.length; k += 3) {
      const of = this.changes[numbers[k + 1]];
      of.steps.push(numbers[k]);
      of.texts.push(numbers[k + 2]);
    }
  }

  /** @param {number} i */
  text(i) {
    return i < 0 ? "" : this.data.texts[i];
  }

  isEnding(i) {
    return i >= this.steps;
  }

  /** @param {number} i @returns {number} */
  task(i) {
    return i < this.steps ? this.data.steps.task[i] : this.data.endings[i - this.steps].task;
  }

  /** What people call the row: the number of the step, or ✗. @param {number} i */
  number(i) {
    return this.isEnding(i) ? "✗" : String(i + this.data.first + 1);
  }

  /** @param {number} i @returns {Words} */
  words(i) {
    if (this.isEnding(i)) return { verb: this.data.endings[i - this.steps].what, object: "", told: "", reason: "" };
    const { verb, object, told, reason } = this.data.steps;
    return {
      verb: this.text(verb[i]), object: this.text(object[i]), told: this.text(told[i]), reason: this.text(reason[i]),
    };
  }

  /** @param {number} i @returns {Place | null} */
  place(i) {
    return this.placeAt(this.isEnding(i) ? this.data.endings[i - this.steps].place : this.data.steps.place[i]);
  }

  /** @param {number} index @returns {Place | null} */
  placeAt(index) {
    if (index < 0) return null;
    const [file, line, column] = this.data.places[index];
    return { file, line, column };
  }

  /** @param {number} i @returns {number[]} the resources that the row touches */
  touches(i) {
    if (this.isEnding(i)) return [];
    return [this.data.steps.resource[i], this.data.steps.other[i]].filter((r) => r >= 0);
  }

  /** @param {number} i */
  wasChoice(i) {
    return !this.isEnding(i) && this.data.steps.choice[i] === 1;
  }

  /** Whether another task made the row before. @param {number} i */
  isSwitch(i) {
    return i > 0 && this.task(i) !== this.task(i - 1);
  }

  /** The row that the page opens at: where the race window opens, else the failure. */
  opening() {
    return this.data.evidence[0] ?? this.start();
  }

  /** The failure: the step that failed, else where the failing task was in the end, else the last. */
  start() {
    const failing = this.data.failing;
    if (failing.length > 0) return failing[failing.length - 1];
    return this.rows > this.steps ? this.steps : Math.max(0, this.rows - 1);
  }

  /** In one line: `lock mutex `a`, reads 3`. @param {number} i */
  describe(i) {
    const { verb, object, told } = this.words(i);
    return (object ? `${verb} ${object}` : verb) + (told ? `, ${told}` : "");
  }

  /** Everything that is said of a row when one comes to it. @param {number} i */
  spoken(i) {
    const place = this.place(i);
    const { reason } = this.words(i);
    return [
      this.isEnding(i) ? "In the end" : `Step ${this.number(i)} of ${this.steps + this.data.first}`,
      `task ${this.tasks[this.task(i)].tag}`,
      this.describe(i).replaceAll("`", ""),
      this.failing.has(i) ? "the failure" : "",
      this.isSwitch(i) ? "after a switch" : "",
      reason && this.task(i) !== this.task(Math.min(i + 1, this.rows - 1)) ? `then ${reason.replaceAll("`", "")}` : "",
      place ? `${place.file} line ${place.line}` : "",
      this.sources.line(place),
    ].filter(Boolean).join(", ");
  }

  /** What every resource is after row `i`. @param {number} i @returns {State[]} */
  stateAfter(i) {
    return this.changes.map(({ steps, texts }, resource) => {
      const at = lastAtMost(steps, i);
      const since = at < 0 ? -1 : steps[at];
      return { resource, text: at < 0 ? "" : this.text(texts[at]), since, changed: since === i };
    });
  }

  /** Where a task is after row `i`, and whether that is the failure. @param {number} task @param {number} i @returns {{row: number, status: string, bad?: boolean}} */
  standing(task, i) {
    const rows = this.ofTask[task];
    const at = lastAtMost(rows, i);
    if (at < 0) return { row: -1, status: "not begun" };
    const row = rows[at];
    if (this.isEnding(row)) return { row, status: this.data.ended, bad: true };
    if (this.words(row).verb === "exit") return { row, status: "finished" };
    const waits = this.waitsOf[task];
    const last = waits[lastAtMost(this.waitStarts[task], i)];
    return { row, status: last && i < last.to ? "waits" : task === this.task(i) ? "runs" : at + 1 < rows.length ? "ready" : "last seen" };
  }

  /** The text that search looks at, in small letters. @param {number} i */
  haystack(i) {
    this.searchable ??= Array.from({ length: this.rows }, (_, row) => {
      const place = this.place(row);
      const { reason } = this.words(row);
      const where = place ? `${place.file}:${place.line}` : "";
      const said = [this.tasks[this.task(row)].tag, this.describe(row), reason, where, this.sources.line(place)];
      return said.join(" ").replaceAll("`", "").toLowerCase();
    });
    return this.searchable[i];
  }
}

/** The place of the last number that is not above `limit`; -1 if there is none. @param {ArrayLike<number>} sorted */
function lastAtMost(sorted, limit) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
