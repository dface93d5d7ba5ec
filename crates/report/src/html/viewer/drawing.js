// The lanes: lifelines, locks held, waits, happens-before arrows and steps, drawn on a canvas. It says
// nothing that the rows and the inspector do not say in words, and is hidden from screen readers.

/** The style sheet's colours, as the canvas needs them; read anew when the theme changes. */
class Inks {
  constructor() {
    // A variable's own value is a pair for light and dark; as a colour of an element it is one of them.
    const probe = el("span", { hidden: true });
    document.body.append(probe);
    const style = getComputedStyle(probe);
    const read = (/** @type {string} */ name) => {
      probe.style.color = `var(${name})`;
      return style.color;
    };
    this.tasks = Array.from({ length: TASK_COLOURS }, (_, i) => read(`--task-${i}`));
    this.clock = read("--clock");
    this.arrow = read("--arrow");
    this.race = read("--race");
    this.wait = read("--wait");
    this.alarm = read("--alarm");
    this.ground = read("--ground");
    this.strong = read("--ink");
    this.hit = read("--hit");
    this.window = read("--window");
    probe.remove();
  }

  /** @param {Trace} trace @param {number} task */
  of(trace, task) {
    return trace.tasks[task].clock ? this.clock : this.tasks[Math.max(0, trace.laneOf[task]) % TASK_COLOURS];
  }
}

/** Where things are: which rows are visible, and how wide a lane is. */
class Layout {
  /** @param {Trace} trace @param {number[]} visible */
  constructor(trace, visible) {
    this.trace = trace;
    this.visible = visible;
    /** By row: its position; what is hidden lies half-way between its visible neighbours. */
    this.position = new Float64Array(trace.rows + 1);
    let next = 0;
    for (let i = 0; i <= trace.rows; i++) {
      if (visible[next] === i) this.position[i] = next++;
      else this.position[i] = next - 0.5;
    }
    this.laneWidth = 40;
    /** What processes were told is drawn, and not what comes before what. */
    this.messages = false;
    this.left = 0;
  }

  /** @param {number} task */
  x(task) {
    return (this.trace.laneOf[task] + 0.5) * this.laneWidth - this.left;
  }

  /** @param {number} i */
  isVisible(i) {
    return Number.isInteger(this.position[i]) && this.visible[this.position[i]] === i;
  }
}

/** How visible an arrow is: the farther it reaches, the less, lest long ones hide all others. @param {number} rows */
function strength(rows) {
  return Math.max(0.12, 0.6 - rows * 0.02);
}

/**
 * Draws the lanes of the positions from `first` to `last`.
 * @param {CanvasRenderingContext2D} c @param {Layout} layout @param {Inks} inks
 * @param {{first: number, last: number, rowHeight: number, width: number, current: number}} view
 */
function drawLanes(c, layout, inks, view) {
  const { trace } = layout;
  const { first, last, rowHeight, current } = view;
  const y = (/** @type {number} */ position) => (position - first + 0.5) * rowHeight;
  const outside = (/** @type {number} */ from, /** @type {number} */ to) => to < first - 1 || from > last + 1;
  const clamp = (/** @type {number} */ position) => Math.max(first - 2, Math.min(last + 2, position));
  const chosen = new Set(trace.touches(current));
  c.clearRect(0, 0, view.width, (last - first + 1) * rowHeight);
  c.lineCap = "round";

  for (const task of trace.lanes) {
    // A node is there all the time, also if it only sends.
    const rows = trace.nodes.has(task) ? [0, trace.rows - 1] : trace.ofTask[task];
    const begin = layout.position[rows[0]], end = layout.position[rows[rows.length - 1]];
    if (outside(begin, end)) continue;
    c.globalAlpha = 0.4;
    c.strokeStyle = inks.of(trace, task);
    line(c, layout.x(task), y(clamp(begin)), layout.x(task), y(clamp(end)), 1);
  }
  const step = Math.min(6, layout.laneWidth / 5);
  for (const bar of trace.holds) {
    const from = layout.position[Math.max(0, bar.from)], to = layout.position[Math.min(bar.to, trace.rows)];
    if (outside(from, to) || trace.laneOf[bar.task] < 0) continue;
    const touched = chosen.has(bar.resource);
    const width = Math.min(10, layout.laneWidth / 3);
    const x = layout.x(bar.task) + bar.depth * step;
    c.globalAlpha = touched ? 0.5 : 0.2;
    c.fillStyle = inks.of(trace, bar.task);
    c.beginPath();
    c.roundRect(x - width / 2, y(clamp(from)) - 5, width, y(clamp(to)) - y(clamp(from)) + 10, width / 2);
    c.fill();
    if (bar.shared || touched) {
      c.globalAlpha = touched ? 0.9 : 0.45;
      c.strokeStyle = c.fillStyle;
      c.setLineDash(bar.shared ? [3, 3] : []);
      c.lineWidth = 1;
      c.stroke();
      c.setLineDash([]);
    }
  }
  for (const bar of trace.waits) {
    const from = layout.position[Math.max(0, bar.from)], to = layout.position[Math.min(bar.to, trace.rows)];
    if (outside(from, to) || trace.laneOf[bar.task] < 0) continue;
    c.globalAlpha = chosen.has(bar.resource) ? 1 : 0.55;
    c.strokeStyle = inks.wait;
    c.setLineDash([1, 5]);
    line(c, layout.x(bar.task), y(clamp(from)) + 8, layout.x(bar.task), y(clamp(to)) - 2, 2.5);
    c.setLineDash([]);
  }
  if (layout.messages) drawMessages(c, layout, inks, view, y);
  else drawArrows(c, layout, inks, view, y, outside);
  for (let position = Math.max(0, first); position <= Math.min(last, layout.visible.length - 1); position++) {
    drawNode(c, layout, inks, layout.visible[position], y(position), current);
  }
  c.globalAlpha = 1;
}

function drawArrows(c, layout, inks, { first, last, current }, y, outside) {
  const { trace } = layout;
  for (const bold of [false, true]) {
    for (const arrow of trace.arrows) {
      const isBold = arrow.from === current || arrow.to === current;
      if (isBold !== bold || !layout.isVisible(arrow.from) || !layout.isVisible(arrow.to)) continue;
      const from = layout.position[arrow.from], to = layout.position[arrow.to];
      if (outside(from, to)) continue;
      c.globalAlpha = bold ? 1 : strength(to - from);
      c.strokeStyle = c.fillStyle = arrow.race ? inks.race : bold ? inks.strong : inks.arrow;
      const x1 = layout.x(trace.task(arrow.from)), x2 = layout.x(trace.task(arrow.to));
      const y1 = y(from), y2 = y(to) - 6;
      // Far ends are brought near: a curve of half a million pixels is slow, and looks the same.
      const top = Math.max(y1, y(first) - 2000), bottom = Math.min(y2, y(last) + 2000);
      const bend = Math.min(48, (bottom - top) * 0.6);
      c.lineWidth = bold ? 2 : 1.2;
      c.setLineDash(arrow.race ? [4, 3] : []);
      c.beginPath();
      c.moveTo(x1, top);
      c.bezierCurveTo(x1, top + bend, x2, bottom - bend, x2, bottom);
      c.stroke();
      c.setLineDash([]);
      const size = bold ? 5 : 4;
      c.beginPath();
      c.moveTo(x2, y2 + 2);
      c.lineTo(x2 - size * 0.8, y2 - size);
      c.lineTo(x2 + size * 0.8, y2 - size);
      c.fill();
    }
  }
}

/** From lane to lane, in the row that tells of it. */
function drawMessages(c, layout, inks, { first, last, current }, y) {
  const { trace } = layout;
  for (let position = Math.max(0, first); position <= Math.min(last, layout.visible.length - 1); position++) {
    const i = layout.visible[position], message = trace.messages.get(i);
    if (!message || message.other < 0 || trace.laneOf[message.other] < 0) continue;
    const own = layout.x(trace.task(i)), other = layout.x(message.other);
    const received = message.kind === "received" || message.kind === "lost";
    const from = received ? other : own, to = received ? own : other;
    if (from === to) continue;
    const lost = message.kind === "sent" || message.kind === "lost", sign = to > from ? 1 : -1, at = y(position);
    const end = to - sign * (received ? 6 : 3);
    c.globalAlpha = i === current ? 1 : 0.75;
    c.strokeStyle = c.fillStyle = lost || message.kind === "signalled" || message.kind === "struck" ? inks.alarm : inks.of(trace, received ? message.other : trace.task(i));
    c.setLineDash(lost ? [3, 3] : []);
    line(c, from, at, end, at, i === current ? 2 : 1.3);
    c.setLineDash([]);
    if (lost) {
      line(c, end - 3, at - 3, end + 3, at + 3, 1.5);
      line(c, end - 3, at + 3, end + 3, at - 3, 1.5);
      continue;
    }
    c.beginPath();
    c.moveTo(end, at);
    c.lineTo(end - sign * 6, at - 3.5);
    c.lineTo(end - sign * 6, at + 3.5);
    c.fill();
  }
}

function drawNode(c, layout, inks, i, y, current) {
  const { trace } = layout;
  const x = layout.x(trace.task(i));
  const small = layout.laneWidth < 16;
  c.globalAlpha = 1;
  c.setLineDash([]);
  if (i === current) {
    c.fillStyle = inks.ground;
    c.strokeStyle = trace.failing.has(i) ? inks.alarm : inks.of(trace, trace.task(i));
    c.lineWidth = 2;
    c.beginPath();
    c.arc(x, y, small ? 5.5 : 8, 0, 2 * Math.PI);
    c.fill();
    c.stroke();
  }
  if (trace.failing.has(i)) {
    c.strokeStyle = inks.alarm;
    const r = small ? 3 : 4;
    line(c, x - r, y - r, x + r, y + r, 2.5);
    line(c, x - r, y + r, x + r, y - r, 2.5);
    return;
  }
  c.fillStyle = inks.of(trace, trace.task(i));
  c.beginPath();
  c.arc(x, y, small ? 2.5 : 4, 0, 2 * Math.PI);
  c.fill();
}

function line(c, x1, y1, x2, y2, width) {
  c.lineWidth = width;
  c.beginPath();
  c.moveTo(x1, y1);
  c.lineTo(x2, y2);
  c.stroke();
}
