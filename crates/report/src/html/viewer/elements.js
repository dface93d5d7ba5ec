// Small helpers for elements.

/**
 * An element. Properties that begin with `aria-`, `data-` or are `role` become attributes.
 * @param {string} tag @param {Record<string, any>} [properties] @param {...(Node | string)} children
 * @returns {any}
 */
function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "role" || name === "for" || name.includes("-")) element.setAttribute(name, String(value));
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

/** @param {string} id @returns {any} */
function byId(id) {
  return document.getElementById(id);
}

/**
 * Text in which what stands between backticks is code. Of a place, by which things without a name are called,
 * only the file itself is shown.
 * @param {string} text @returns {Node[]}
 */
function withCode(text) {
  const code = (/** @type {string} */ part) => {
    const isPlace = /[/\\][^/\\]+:\d+$/.test(part);
    return isPlace ? el("code", { title: part }, baseName(part)) : el("code", {}, part);
  };
  return text.split("`").map((part, i) => (i % 2 === 1 ? code(part) : document.createTextNode(part)));
}

/** As `withCode`; the kind of a thing, before its name, can be left out by the style. @param {string} text */
function withSort(text) {
  const at = text.indexOf("`");
  return at <= 0 ? withCode(text) : [el("span", { className: "sort" }, text.slice(0, at)), ...withCode(text.slice(at))];
}

/** The last part of a path. @param {string} file */
function baseName(file) {
  return file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1);
}

/** Which of the page's colours a lane has. @param {Trace} trace @param {number} task */
function hueOf(trace, task) {
  return trace.tasks[task].clock ? "var(--clock)" : `var(--task-${Math.max(0, trace.laneOf[task]) % TASK_COLOURS})`;
}

/** As many as the style sheet has. */
const TASK_COLOURS = 8;

/** `1 step`, `2,000 steps`. @param {number} number @param {string} thing */
function counted(number, thing) {
  return `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;
}

/** Calls `action` once things have been quiet for a while. @param {() => void} action @param {number} ms */
function whenQuiet(action, ms) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, ms);
  };
}

/** A place, as a link into the editor where it is known how to get there. @param {Trace} trace */
function whereOf(trace, place) {
  const text = `${place.file}:${place.line}`;
  const href = trace.editor.address(place);
  return href ? el("a", { className: "where", href, title: "Open in the editor" }, text) : el("span", { className: "where" }, text);
}

/** How to open a place in an editor. */
class Editor {
  /** @param {string | null} template @param {string | null} root the way from the page's folder to where names of files begin */
  constructor(template, root) {
    this.template = template;
    this.root = root;
  }

  /** @param {{file: string, line: number, column?: number}} place @returns {string | null} */
  address({ file, line, column }) {
    const path = this.template && this.path(file.replaceAll("\\", "/"));
    if (!path) return null;
    const parts = { path, line: String(line), column: String(column || 1) };
    return this.template.replace(/\{(path|line|column)\}/g, (_, /** @type {"path" | "line" | "column"} */ part) => parts[part]);
  }

  /** The whole path, as an address has it. A name that is not whole begins at the root, which is known of pages in files. */
  path(file) {
    const written = (/** @type {string} */ path) => path.split("/").map(encodeURIComponent).join("/");
    if (file.startsWith("/")) return written(file);
    if (/^[A-Za-z]:\//.test(file)) return `/${file.slice(0, 2)}${written(file.slice(2))}`;
    if (this.root === null || location.protocol !== "file:") return null;
    return new URL(`${written(this.root)}/${written(file)}`, location.href).pathname;
  }
}
