// Two records side by side. A step of one has its counterpart in the other: the step with the same number
// among those of the same task, if it does the same. So two schedules can be followed in step although
// their switches differ.

class Comparison {
  /** @param {Trace} a @param {Trace} b */
  constructor(a, b) {
    this.a = a;
    this.b = b;
    const taskOf = (/** @type {Trace} */ trace) => new Map(trace.tasks.map((task, t) => [task.path, t]));
    this.tasks = new Map([[a, taskOf(a)], [b, taskOf(b)]]);
    this.first = this.firstDifference();
  }

  /** @param {Trace} trace @returns {Trace} */
  other(trace) {
    return trace === this.a ? this.b : this.a;
  }

  /** The row of the other record that is the same step; -1 if there is none. @param {Trace} trace @param {number} i */
  counterpart(trace, i) {
    const other = this.other(trace);
    const task = this.tasks.get(other).get(trace.tasks[trace.task(i)].path);
    const row = task === undefined ? undefined : other.ofTask[task][trace.ordinal[i]];
    return row !== undefined && same(trace, i, other, row) ? row : -1;
  }

  /** How a row compares: "only" here, "differs" in its result, or "". @param {Trace} trace @param {number} i */
  mark(trace, i) {
    const row = this.counterpart(trace, i);
    if (row < 0) return "only";
    return trace.words(i).told === this.other(trace).words(row).told ? "" : "differs";
  }

  /** The first row at which the two do not go on with the same step. */
  firstDifference() {
    const { a, b } = this;
    const rows = Math.min(a.rows, b.rows);
    for (let i = 0; i < rows; i++) {
      const alike = a.tasks[a.task(i)].path === b.tasks[b.task(i)].path && same(a, i, b, i);
      if (!alike || a.words(i).told !== b.words(i).told) return i;
    }
    return a.rows === b.rows ? -1 : rows;
  }

  /** In one sentence. */
  summary() {
    const { a, b, first } = this;
    if (first < 0) return "Both records make the same steps.";
    const say = (/** @type {Trace} */ t) => (first < t.rows ? `${t.label}: task ${t.tasks[t.task(first)].tag}, ${t.describe(first)}` : `${t.label}: nothing more`);
    const until = first === 0 ? "They differ from the first step on" : `The same until step ${a.number(first - 1)}; then`;
    return `${until} – ${say(a)} – ${say(b)}.`;
  }

  /** What the inspector says of the step in the other record. @param {Trace} trace @param {number} i @param {Inspector} inspector */
  beside(trace, i, inspector) {
    const other = this.other(trace), row = this.counterpart(trace, i);
    const text = row < 0 ? [document.createTextNode("this step does not happen")]
      : [inspector.link(other, row, other.isEnding(row) ? "the end" : `step ${other.number(row)}`, ""), document.createTextNode(" "), ...withCode(other.words(row).told || "the same")];
    const differs = this.mark(trace, i);
    return el("section", { className: `beside ${differs ? `is-${differs}` : ""}` }, el("h3", {}, el("span", {}, `In “${other.label}”`)), el("p", {}, ...text));
  }
}

function same(a, i, b, j) {
  if (a.isEnding(i) !== b.isEnding(j)) return false;
  const left = a.words(i), right = b.words(j);
  return left.verb === right.verb && left.object === right.object;
}
