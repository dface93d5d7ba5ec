// The whole trace on one strip: who ran when, where the failure and the hits are, what is on the screen.

const OVERVIEW_WIDTH = 44;

class Overview {
  /** @param {(fraction: number) => void} go called with how far down the strip was pressed */
  constructor(go) {
    this.canvas = el("canvas", { className: "overview-picture" });
    this.frame = el("div", { className: "overview-frame" });
    this.element = el("div", { className: "overview", "aria-hidden": "true" }, this.canvas, this.frame);
    const press = (/** @type {PointerEvent} */ event) => {
      if (event.buttons !== 1) return;
      const box = this.element.getBoundingClientRect();
      go((event.clientY - box.top) / box.height);
    };
    this.element.addEventListener("pointerdown", (event) => {
      this.element.setPointerCapture(event.pointerId);
      press(event);
    });
    this.element.addEventListener("pointermove", press);
  }

  /** Draws everything; the frame is moved alone. @param {Layout} layout @param {Inks} inks @param {number[]} hits */
  draw(layout, inks, hits) {
    const height = this.element.clientHeight, scale = devicePixelRatio || 1;
    if (height === 0) return;
    this.canvas.width = OVERVIEW_WIDTH * scale;
    this.canvas.height = height * scale;
    const c = this.canvas.getContext("2d");
    c.scale(scale, scale);
    const { trace, visible } = layout;
    const inner = OVERVIEW_WIDTH - 12, unit = Math.min(4, height / Math.max(1, visible.length));
    const lane = inner / Math.max(1, trace.lanes.length);
    const y = (/** @type {number} */ position) => position * unit;
    if (trace.window) {
      c.fillStyle = inks.window;
      const from = y(layout.position[trace.window.from]), to = y(layout.position[trace.window.to]);
      c.fillRect(0, from, OVERVIEW_WIDTH, Math.max(2, to - from));
    }
    c.globalAlpha = Math.max(0.3, Math.min(0.9, unit));
    visible.forEach((i, position) => {
      const task = trace.task(i);
      c.fillStyle = inks.of(trace, task);
      c.fillRect(4 + trace.laneOf[task] * lane, y(position), Math.max(1.5, lane - 1), Math.max(1, unit - 0.5));
    });
    c.globalAlpha = 1;
    c.fillStyle = inks.hit;
    for (const i of hits) if (layout.isVisible(i)) c.fillRect(OVERVIEW_WIDTH - 7, y(layout.position[i]), 7, Math.max(1.5, unit));
    c.fillStyle = inks.alarm;
    for (const i of trace.failing) c.fillRect(0, y(layout.position[i]) - 0.5, OVERVIEW_WIDTH, 2);
    this.unit = unit;
  }

  /** @param {number} first @param {number} last positions on the screen */
  show(first, last) {
    const unit = this.unit ?? 1;
    const height = Math.max(8, (last - first) * unit);
    this.frame.style.transform = `translateY(${Math.min(first * unit, this.element.clientHeight - height)}px)`;
    this.frame.style.height = `${height}px`;
  }
}
