// Which steps are shown: those on the chosen resources, of the chosen tasks. By name, so that a choice means
// the same in every record of the page. The failure is always shown.

const MOST_CHOICES = 200;

class Filter {
  /** @param {Trace[]} traces @param {() => void} changed */
  constructor(traces, changed) {
    this.traces = traces;
    this.changed = changed;
    /** @type {Set<string>} */
    this.resources = new Set();
    /** @type {Set<string>} */
    this.tasks = new Set();
    /** Among processes: only what they said and how they ended. */
    this.messages = traces.some((trace) => trace.messages.size > 0);
    this.count = byId("filter-count");
    this.popover = byId("filter");
    this.build(byId("filter-body"));
  }

  /** The rows of `trace` that are shown. @param {Trace} trace @returns {number[]} */
  rows(trace) {
    const told = (/** @type {number} */ i) => !this.messages || trace.messages.size === 0 || trace.failing.has(i) || trace.messages.has(i);
    const all = Array.from({ length: trace.rows }, (_, i) => i).filter(told);
    if (this.resources.size === 0 && this.tasks.size === 0) return all;
    const resources = trace.resources.map((resource) => this.resources.size === 0 || this.resources.has(resource.name));
    const tasks = trace.tasks.map((task) => this.tasks.size === 0 || this.tasks.has(task.path));
    const touches = (/** @type {number} */ i) => this.resources.size === 0 || trace.touches(i).some((r) => resources[r]);
    return all.filter((i) => trace.failing.has(i) || (tasks[trace.task(i)] && touches(i)));
  }

  build(body) {
    /** @type {Map<string, number>} */
    const resources = new Map(), tasks = new Map();
    const trace = this.traces[0];
    for (const { resources: names } of this.traces) for (const { name } of names) resources.set(name, 0);
    for (const other of this.traces) for (const t of other.lanes) tasks.set(other.tasks[t].path, 0);
    for (let i = 0; i < trace.rows; i++) {
      for (const r of trace.touches(i)) resources.set(trace.resources[r].name, (resources.get(trace.resources[r].name) ?? 0) + 1);
      tasks.set(trace.tasks[trace.task(i)].path, (tasks.get(trace.tasks[trace.task(i)].path) ?? 0) + 1);
    }
    this.clearButton = el("button", { type: "button", className: "quiet" }, "Show everything");
    this.clearButton.addEventListener("click", () => this.clear());
    body.append(this.choices("Resources", resources, this.resources), this.choices("Tasks", tasks, this.tasks), this.clearButton);
    this.told();
  }

  /** @param {string} title @param {Map<string, number>} counts @param {Set<string>} chosen */
  choices(title, counts, chosen) {
    const list = el("div", { className: "choices" });
    const fill = (/** @type {string} */ wanted) => {
      const found = [...counts].filter(([name]) => name.toLowerCase().includes(wanted.toLowerCase()));
      const items = found.slice(0, MOST_CHOICES).map(([name, count]) => {
        const box = el("input", { type: "checkbox", checked: chosen.has(name), value: name });
        box.addEventListener("change", () => {
          if (box.checked) chosen.add(name);
          else chosen.delete(name);
          this.told();
          this.changed();
        });
        return el("label", { className: "choice" }, box, el("span", {}, ...withCode(name)), el("small", {}, count.toLocaleString("en")));
      });
      const more = found.length - items.length;
      list.replaceChildren(...items, more > 0 ? el("small", {}, `${more} more: type to find them`) : "");
    };
    this.refill = [...(this.refill ?? []), () => fill("")];
    fill("");
    const find = el("input", { type: "search", placeholder: `Find ${title.toLowerCase()}`, "aria-label": `Find ${title.toLowerCase()}`, hidden: counts.size <= 10 });
    find.addEventListener("input", () => fill(find.value));
    return el("fieldset", {}, el("legend", {}, title), find, list);
  }

  clear() {
    this.messages = false;
    this.resources.clear();
    this.tasks.clear();
    this.refill.forEach((fill) => fill());
    this.told();
    this.changed();
  }

  told() {
    const chosen = this.resources.size + this.tasks.size;
    this.count.textContent = chosen ? `· ${chosen}` : "";
    this.popover.classList.toggle("active", chosen > 0);
    this.clearButton.disabled = chosen === 0;
  }
}
