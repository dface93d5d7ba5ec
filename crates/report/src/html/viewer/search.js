// Search in what rows say, and in their source lines. All words must occur, in any order.

class Search {
  /** @param {() => Timeline[]} timelines @param {() => Timeline} active @param {(i: number) => void} go */
  constructor(timelines, active, go) {
    this.timelines = timelines;
    this.active = active;
    this.go = go;
    this.input = byId("search");
    this.output = byId("hits");
    this.input.addEventListener("input", () => this.run(true));
    this.input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
      else if (event.key === "Escape") {
        this.input.value = "";
        this.run(false);
        this.active().scroller.focus();
      } else return;
      event.preventDefault();
    });
  }

  /** Finds anew. @param {boolean} move whether to go to a hit at once */
  run(move) {
    const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const timeline of this.timelines()) {
      const { trace, layout } = timeline;
      timeline.find(words.length === 0 ? [] : layout.visible.filter((i) => {
        const text = trace.haystack(i);
        return words.every((word) => text.includes(word));
      }));
    }
    const { hits, current } = this.active();
    if (move && hits.length > 0 && !hits.includes(current)) {
      // Most come from the failure, and look for what led to it.
      this.go(hits[Math.max(0, lastAtMost(hits, current))]);
    }
    this.tell();
  }

  /** @param {1 | -1} by */
  step(by) {
    const { hits, current } = this.active();
    if (hits.length === 0) return;
    const at = lastAtMost(hits, current);
    const on = at >= 0 && hits[at] === current;
    const next = by > 0 ? at + 1 : on ? at - 1 : at;
    this.go(hits[(next + hits.length) % hits.length]);
    this.tell();
  }

  tell() {
    const { hits, current } = this.active();
    if (this.input.value.trim() === "") this.output.textContent = "";
    else if (hits.length === 0) this.output.textContent = "not found";
    else {
      const at = hits.indexOf(current);
      this.output.textContent = at < 0 ? counted(hits.length, "hit") : `${(at + 1).toLocaleString("en")} of ${hits.length.toLocaleString("en")}`;
    }
  }
}
