(() => {
"use strict";
// All that comes from the data becomes text: nodes are made by `make`, and nothing is ever parsed as HTML.
const source = document.getElementById("data").textContent;
const data = JSON.parse(source);
const find = (id) => document.getElementById(id);

function make(tag, attributes, ...children) {
  const svg = tag === "svg" || tag === "path" || tag === "rect" || tag === "text" || tag === "g";
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// -- words -------------------------------------------------------------------------------------------------

function figure(value) {
  // As in the terminal, only an exact 0 or 1 looks like one.
  if (value === null || value === undefined) return "–";
  for (let digits = 2; digits <= 6; digits++) {
    const text = value.toFixed(digits);
    if (!((+text >= 1 && value < 1) || (+text <= 0 && value > 0))) return text;
  }
  return String(value);
}
const change = (value) => value === null ? "" : (value > 0 ? "+" : value < 0 ? "−" : "") + figure(Math.abs(value));
const count = (number, noun) => number.toLocaleString("en") + (noun ? " " + noun + (number === 1 ? "" : "s") : "");
const STATUS = { match: "match", mismatch: "mismatch", omission: "omitted", hallucination: "invented" };

// -- the data ----------------------------------------------------------------------------------------------

const fields = data.fields.map(([path, metric, counts, score, precision, recall, f1, before, leaves], index) => ({
  index, path, metric: data.metrics[metric], extra: data.extra[metric], counts, score, precision, recall, f1, leaves, parts: null,
  change: before === null ? null : score - before,
  total: counts[0] + counts[1] + counts[2] + counts[3],
}));
const cases = data.cases.map((found, index) => ({
  index, shown: found.g, id: found.i, name: found.i.split("::").pop(), verdict: found.v, score: found.s, precision: found.p,
  recall: found.r, f1: found.f, runs: found.u, of: found.o || 1,
  change: found.b === undefined ? null : found.s - found.b, place: found.l, unanswered: found.z, tags: found.t || [], parts: null, scores: null,
}));
// Precision, recall and F1 add information only if one of them is not the score.
const isMeasured = (rows, keys) => rows.some((row) => keys.some((key) => row[key] !== null && Math.abs(row[key] - row.score) > 1e-9));
const measured = isMeasured(fields, ["precision", "recall", "f1"]), casesMeasured = isMeasured(cases, ["f1"]);
const hasBefore = data.cases.some((each) => each.b !== undefined);
const paths = [...new Set(fields.map((field) => field.path))];
const pathIndex = new Map(paths.map((path, index) => [path, index]));

function scoresOf(found) {
  // By path: the mean score over the runs of a case.
  if (found.scores) return found.scores;
  const sums = new Map();
  for (const run of found.runs) for (const compared of run.c || []) {
    for (let at = 0; at < compared.x.length; at += 6) {
      const x = compared.x, total = x[at + 1] + x[at + 2] + x[at + 3] + x[at + 4];
      const place = pathIndex.get(fields[x[at]].path), before = sums.get(place) || [0, 0];
      if (total) sums.set(place, [before[0] + x[at + 5], before[1] + total]);
    }
  }
  found.scores = new Map([...sums].map(([place, [score, total]]) => [place, Math.min(score / total, 1)]));
  return found.scores;
}
const worst = (found) => [...scoresOf(found)].filter(([, score]) => score < 1).sort((a, b) => a[1] - b[1]);

// -- colours -----------------------------------------------------------------------------------------------

let stops, none, ink, faint, focusColor, groundColor;
function readColors() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  stops = get("--scale").split(",").map((text) => [1, 3, 5].map((at) => parseInt(text.trim().slice(at, at + 2), 16)));
  [none, ink, faint, focusColor, groundColor] = ["--none", "--ink", "--faint", "--focus", "--paper"].map(get);
}
function color(score) {
  // The last stop is reserved for perfect scores: a field at 0.99 looks different from one at 1.
  if (score >= 1) return `rgb(${stops[4]})`;
  const at = Math.min(Math.max(score, 0), 1) * 3, low = Math.min(Math.floor(at), 2), part = at - low;
  return `rgb(${stops[low].map((from, i) => Math.round(from + (stops[low + 1][i] - from) * part))})`;
}
function meter(cell, score) {
  if (score === null) return;
  cell.classList.add("meter");
  cell.style.setProperty("--wide", `${Math.max(score, 0.02) * 100}%`);
  cell.style.setProperty("--fill", score >= 1 ? "var(--good)" : color(score));
}

// -- a list of which only the rows in view are drawn -------------------------------------------------------

const ROW = 33, SPARE = 20, MOST_PRINTED = 300;

class List {
  constructor(host, { columns, label, role, draw, order, expand, changed }) {
    Object.assign(this, { host, columns, role, draw, expand, changed, sorted: order, down: false });
    this.rows = [];
    this.open = new Set();
    this.live = new Map();
    this.known = new Map(); // measured heights, by line
    this.current = null;
    host.setAttribute("role", role);
    host.setAttribute("aria-label", label);
    host.setAttribute("tabindex", "0");
    host.setAttribute("aria-colcount", columns.length);
    this.head = make("div", { role: "row", class: "line", "aria-rowindex": 1 });
    for (const column of columns) {
      const button = make("button", { type: "button", title: column.help }, column.title);
      button.addEventListener("click", () => this.sortBy(column));
      column.cell = make("div", { role: "columnheader", class: column.class }, button);
      this.head.append(column.cell);
    }
    this.body = make("div", { role: "rowgroup", class: "list-rows" });
    host.append(make("div", { role: "rowgroup", class: "list-head" }, this.head), this.body);
    addEventListener("scroll", () => this.soon(), { passive: true });
    addEventListener("resize", () => this.soon());
    host.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => {
      if (host.clientWidth === this.wide) { this.soon(); return; }
      this.wide = host.clientWidth; // lines break elsewhere now
      this.known.clear();
      if (this.lines) { this.measure(); this.soon(); }
    }).observe(host);
    this.mark();
  }
  sortBy(column) {
    this.down = this.sorted === column.key ? !this.down : Boolean(column.down);
    this.sorted = column.key;
    this.mark();
    this.changed();
  }
  mark() {
    for (const column of this.columns) {
      const own = column.key === this.sorted;
      if (own) column.cell.setAttribute("aria-sort", this.down ? "descending" : "ascending");
      else column.cell.removeAttribute("aria-sort");
      column.cell.firstChild.textContent = column.title + (own ? (this.down ? " ↓" : " ↑") : "");
    }
  }
  show(rows) {
    const late = (row) => (row.score === 1 ? 2 : row.unanswered ? 1 : 0); // wrong answers, none, right ones
    const column = this.columns.find((each) => each.key === this.sorted), sign = this.down ? -1 : 1;
    const keys = new Map(rows.map((row) => [row, column.value(row)]));
    this.rows = rows.sort((one, other) => {
      const a = keys.get(one), b = keys.get(other);
      if (this.sorted === "score" && late(one) !== late(other)) return (late(one) - late(other)) * sign;
      if (a === b) return one.index - other.index;
      if (a === null || a === undefined) return 1; // rows without a figure come last, in either order
      if (b === null || b === undefined) return -1;
      return (a < b ? -1 : 1) * sign;
    });
    this.lay();
  }
  lay() {
    this.lines = [];
    for (const row of this.rows) {
      this.lines.push(row);
      if (this.open.has(row)) this.lines.push(...this.expand(row));
    }
    this.host.setAttribute("aria-rowcount", this.lines.length + 1);
    this.measure();
    this.render();
  }
  measure() {
    this.tops = new Float64Array(this.lines.length + 1);
    this.lines.forEach((line, index) => { this.tops[index + 1] = this.tops[index] + (this.known.get(line) || ROW); });
    this.body.style.height = `${this.tops[this.lines.length]}px`;
  }
  at(top) {
    let low = 0, high = this.lines.length;
    while (low < high) { const middle = (low + high) >> 1; if (this.tops[middle + 1] <= top) low = middle + 1; else high = middle; }
    return low;
  }
  soon() {
    this.frame ||= requestAnimationFrame(() => { this.frame = 0; this.render(); });
  }
  render() {
    if (this.printing || !this.lines) return;
    for (let tries = 0; tries < 4; tries++) {
      const top = -this.body.getBoundingClientRect().top;
      const first = Math.max(this.at(top) - SPARE, 0), last = Math.min(this.at(top + innerHeight) + SPARE, this.lines.length);
      this.fill(first, last);
      let settled = true;
      for (const [line, node] of this.live) {
        const own = node.offsetHeight || ROW;
        if (Math.abs(own - (this.known.get(line) || ROW)) > 0.5) { this.known.set(line, own); settled = false; }
      }
      if (settled) break;
      this.measure();
    }
    if (!this.lines.length && !this.body.firstChild) this.body.append(make("div", { class: "empty", role: "row" }, make("span", { role: "gridcell" }, "nothing matches the filter")));
  }
  fill(first, last) {
    const wanted = new Set(this.lines.slice(first, last));
    for (const [line, node] of this.live) {
      if (wanted.has(line)) continue;
      if (node.contains(document.activeElement)) this.host.focus({ preventScroll: true });
      node.remove();
      this.live.delete(line);
    }
    if (!this.live.size) this.body.replaceChildren();
    let cursor = this.body.firstChild;
    for (let index = first; index < last; index++) {
      const line = this.lines[index];
      let node = this.live.get(line);
      if (!node) { node = this.draw(line, this); node.id = `${this.host.id}-${line.key ?? line.index}`; this.live.set(line, node); }
      if (node === cursor) cursor = cursor.nextSibling; else this.body.insertBefore(node, cursor);
      node.style.top = `${this.tops[index]}px`;
      node.setAttribute("aria-rowindex", index + 2);
      node.classList.toggle("current", line === this.current);
    }
  }
  cells(line, attributes) {
    const node = make("div", { role: "row", ...attributes });
    for (const column of this.columns) {
      const cell = make("div", { role: "gridcell", class: column.class }, column.draw(line));
      if (column.dress) column.dress(cell, line);
      node.append(cell);
    }
    return node;
  }
  toggle(row) {
    if (!this.expand || !this.expand(row).length) return;
    if (this.open.has(row)) this.open.delete(row); else this.open.add(row);
    const node = this.live.get(row);
    if (node) {
      node.setAttribute("aria-expanded", this.open.has(row));
      node.querySelector(".toggle").setAttribute("aria-expanded", this.open.has(row));
    }
    this.lay();
  }
  go(row, { focus = true } = {}) {
    this.current = row;
    const index = this.lines.indexOf(row), head = this.head.offsetHeight;
    if (index < 0) return;
    const at = this.body.getBoundingClientRect().top, top = at + this.tops[index] - head, bottom = at + this.tops[index + 1];
    if (top < 0) scrollBy(0, top);
    else if (bottom > innerHeight) scrollBy(0, Math.min(bottom - innerHeight, top));
    this.render();
    const node = this.live.get(row);
    if (node) this.host.setAttribute("aria-activedescendant", node.id);
    if (focus) this.host.focus({ preventScroll: true });
  }
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("button, input, select, summary") || !this.rows.length) return;
    const at = this.rows.indexOf(this.current), last = this.rows.length - 1;
    const moves = { ArrowDown: Math.min(at + 1, last), ArrowUp: Math.max(at - 1, 0), Home: 0, End: last };
    if (event.key in moves) this.go(this.rows[moves[event.key]]);
    else if (this.expand && at >= 0 && (event.key === "Enter" || event.key === " ")) this.toggle(this.current);
    else if (this.expand && at >= 0 && event.key === "ArrowRight" && !this.open.has(this.current)) this.toggle(this.current);
    else if (this.expand && at >= 0 && event.key === "ArrowLeft" && this.open.has(this.current)) this.toggle(this.current);
    else return;
    event.preventDefault();
  }
  print(on) {
    this.printing = false;
    this.live.clear();
    this.body.replaceChildren();
    if (!on) { this.render(); return; }
    const shown = this.lines.slice(0, MOST_PRINTED);
    for (const line of shown) this.body.append(this.draw(line, this));
    if (shown.length < this.lines.length) this.body.append(make("div", { class: "line" }, make("span", { class: "faint" }, `and ${count(this.lines.length - shown.length, "more row")}, not printed`)));
    this.printing = true;
  }
}

// -- fields ------------------------------------------------------------------------------------------------

const number = (key, title, help, extra) => ({
  key, title, help, class: "number", value: (row) => row[key], draw: (row) => figure(row[key]), ...extra,
});
const counted = (key, title, place, help) => ({
  key, title, help, class: "number less", down: true, value: (row) => place < 0 ? row.total : row.counts[place],
  draw(row) { return count(this.value(row)); },
  dress(cell, row) { if (!this.value(row)) cell.classList.add("zero"); },
});
const inventedColumn = { ...counted("hallucination", "invented", 3, "there, but not expected; some metrics do not count it"),
  draw: (row) => row.extra ? count(row.counts[3]) : "–" };
const changeColumn = { key: "change", title: "change", help: "against the baseline", class: "number less", value: (row) => row.change,
  draw: (row) => change(row.change), dress: (cell, row) => cell.classList.add(row.change < 0 ? "down" : row.change > 0 ? "up" : "zero") };
const scoreColumn = { key: "score", title: "score", help: "mean score", class: "", value: (row) => row.score, draw: (row) => row.shown || figure(row.score), dress: (cell, row) => meter(cell, row.score) };

function fieldName(row) {
  const name = make("span", { class: "clip clip-start mono" }, make("bdi", {}, row.path)), both = document.createDocumentFragment();
  if (data.metrics.length > 1) name.append(make("small", {}, row.metric));
  const toggle = toggleOf(row, fieldList, row.path);
  if (!row.leaves.length) toggle.style.visibility = "hidden";
  both.append(toggle, name);
  return both;
}
const fieldList = find("fields") && new List(find("fields"), {
  label: "Fields", role: "treegrid", order: "score",
  columns: [
    { key: "path", title: "field", class: "name", value: (row) => row.path, draw: fieldName, dress: (cell, row) => { cell.title = row.path; } },
    scoreColumn,
    ...(hasBefore ? [changeColumn] : []),
    { ...counted("total", "n", -1, "results"), class: "number" },
    counted("match", "match", 0, "right"), counted("mismatch", "mismatch", 1, "on both sides, but different"),
    counted("omission", "omitted", 2, "expected, but missing"), inventedColumn,
    ...(measured ? [
      { ...number("precision", "precision", "how much of what came is right"), class: "number less measured" },
      { ...number("recall", "recall", "how much of what was expected is right"), class: "number less measured" },
      { ...number("f1", "F1", "precision and recall combined"), class: "number less measured" },
    ] : []),
  ],
  draw: (line, list) => line.part ? line.part() : drawRow(line, list, line.leaves.length ? "opening" : ""),
  expand: (row) => row.parts ||= row.leaves.map((leaf, at) => leafPart(`${row.index}-${at}`, leaf)),
  changed: () => filterFields(),
});
for (const note of data.absence) if (find("fields")) find("fields").after(make("p", { class: "less" }, note));

const FIELD_STATUS = {
  imperfect: (row) => row.total > row.counts[0], perfect: (row) => row.total === row.counts[0],
  mismatch: (row) => row.counts[1] > 0, omission: (row) => row.counts[2] > 0, hallucination: (row) => row.counts[3] > 0,
  lost: (row) => row.change < 0 && row.change !== null, gained: (row) => row.change > 0, moved: (row) => row.change !== 0 || row.total > row.counts[0],
};
const CASE_STATUS = {
  passed: (row) => row.verdict === "passed", failed: (row) => row.verdict === "failed",
  undecided: (row) => row.verdict === "undecided", imperfect: (row) => row.score < 1,
  lost: (row) => row.change < 0 && row.change !== null, gained: (row) => row.change > 0,
  moved: (row) => row.change !== 0 || row.verdict === "failed",
};

function chosen(form, rows, statuses, text) {
  const get = (name) => form.elements[name].value.trim();
  const words = get("text").toLowerCase().split(/\s+/).filter(Boolean), status = statuses[get("status")];
  const low = get("low") === "" ? -1 : +get("low"), high = get("high") === "" ? 2 : +get("high");
  const tag = form.elements.tag ? get("tag") : "";
  return rows.filter((row) => (!status || status(row)) && (!tag || row.tags.includes(+tag)) && (row.score ?? 0) >= low && (row.score ?? 0) <= high
    && words.every((word) => text(row).includes(word)));
}
function filterFields() {
  const rows = chosen(find("fields-filter"), fields, FIELD_STATUS, (row) => row.path.toLowerCase());
  fieldList.show(rows);
  find("fields-count").textContent = rows.length === fields.length ? count(rows.length) : `${count(rows.length)} of ${count(fields.length)}`;
  heat.lay();
}

// -- cases -------------------------------------------------------------------------------------------------

function runMarks(row) {
  if (row.of === 1 && row.runs.length === 1) return "1";
  const passed = row.runs.filter((run) => run.k).length;
  if (row.of > 8) return `${passed} of ${row.of}`;
  const marks = row.runs.map((run) => run.k ? "●" : "○").join("") + "·".repeat(Math.max(row.of - row.runs.length, 0));
  return make("span", { class: "runs", role: "img", "aria-label": `${passed} of ${row.of} runs passed`, title: `${passed} of ${row.of} runs passed` }, marks);
}
const caseList = find("cases") && new List(find("cases"), {
  label: "Cases", role: "treegrid", order: "score",
  columns: [
    { key: "id", title: "case", class: "name", value: (row) => row.id, draw: caseName, dress: (cell, row) => { cell.title = row.id; } },
    { key: "verdict", title: "verdict", class: "", value: (row) => row.verdict, draw: (row) => make("span", { class: `chip ${row.verdict}` }, row.verdict) },
    scoreColumn,
    ...(hasBefore ? [changeColumn] : []),
    ...(casesMeasured ? [{ ...number("f1", "F1", "precision and recall combined"), class: "number less" }] : []),
    { key: "runs", title: "runs", class: "less", value: (row) => row.of, draw: runMarks },
    { key: "worst", title: "worst fields", class: "less clip mono", value: (row) => worst(row).length, down: true, draw: worstFields, dress: (cell) => { cell.title = cell.textContent; } },
  ],
  draw: (line, list) => line.part ? line.part() : drawRow(line, list, "case opening"),
  expand: (row) => row.parts ||= [...partsOf(row)],
  changed: () => filterCases(),
});
const toggleOf = (row, list, name) => make("button", { type: "button", class: "toggle", tabindex: "-1", "aria-expanded": String(list.open.has(row)), "aria-label": `details of ${name}` });
function caseName(row) {
  const both = document.createDocumentFragment();
  both.append(toggleOf(row, caseList, row.id), make("bdi", { class: "clip" }, row.name));
  return both;
}
function worstFields(row) {
  const found = worst(row), shown = found.slice(0, 2).map(([place, score]) => `${paths[place]} ${figure(score)}`).join(", ");
  if (row.runs.every((run) => !(run.c || []).length)) return row.runs[0].e || "nothing was compared";
  return shown + (found.length > 2 ? `, and ${found.length - 2} more` : "");
}
function drawRow(row, list, kind) {
  // A field without differences to show has nothing below it.
  const node = list.cells(row, { class: `line row ${kind}`, "aria-level": 1, "aria-expanded": kind !== "" && String(list.open.has(row)) });
  node.addEventListener("click", () => {
    if (String(getSelection())) return; // text is being selected
    list.current = row;
    list.toggle(row);
  });
  return node;
}
function filterCases() {
  const rows = chosen(find("cases-filter"), cases, CASE_STATUS, (row) => row.id.toLowerCase());
  caseList.show(rows);
  find("cases-count").textContent = rows.length === cases.length ? count(rows.length) : `${count(rows.length)} of ${count(cases.length)}`;
  heat.lay();
  markSpread();
}

// -- what a case holds -------------------------------------------------------------------------------------

function part(key, kind, ...children) {
  return { key, part: () => make("div", { role: "row", class: `line part ${kind}`, "aria-level": 2 }, make("div", { role: "gridcell", "aria-colspan": caseList.columns.length }, ...children.map((child) => typeof child === "function" ? child() : child))) };
}
function* partsOf(row) {
  // What is wrong comes first; what is right, and the documents, are folded.
  let number = 0;
  const key = () => `${row.index}-${number++}`;
  const named = [row.id !== row.name ? row.id : "", row.place || ""].filter(Boolean);
  if (named.length) yield part(key(), "id", () => make("span", {}, ...named.map((text) => make("code", {}, text))));
  const asked = row.runs.find((run) => run.q);
  for (const run of row.runs) {
    if (row.of > 1 || run.e) yield part(key(), "title", () => make("span", {}, row.of > 1 ? `Run ${run.n} of ${row.of}: ${run.k ? "passed" : "failed"}` : "Failed", run.e ? make("span", { class: "faint" }, run.e) : null));
    for (const compared of run.c || []) {
      const limits = compared.t ? `, required ${compared.t}` : "", more = compared.d || {};
      yield part(key(), "title", () => make("span", {}, data.metrics[compared.m],
        make("span", { class: "faint" }, `score ${compared.g || figure(compared.s)}, precision ${figure(compared.p)}, recall ${figure(compared.r)}, F1 ${figure(compared.f)}${limits}`)));
      for (const text of compared.w || []) yield part(key(), "warn", text);
      for (const leaf of more.leaves || []) yield leafPart(key(), leaf);
      if (more.more) yield part(key(), "warn", `${count(more.more, "more leaf").replace("leafs", "leaves")} that differ`);
      for (const array of more.arrays || []) yield arrayPart(key(), array);
      if (compared.x.length) yield fieldsPart(key(), compared);
      if (compared.o) yield documentsPart(key(), compared.o);
    }
    if (run === asked) yield textPart(key(), "Input", run.q, false);
    if (run.a) yield textPart(key(), "Raw answer", run.a, !(run.c || []).length);
  }
}
function foldPart(key, kind, title, open, contents) {
  // Folded contents may be long: they are made when opened, and stay open while the page scrolls.
  const line = { key, open, part: () => {
    const body = make("div", {}), fold = make("details", { class: kind }, make("summary", {}, title), body);
    const fill = () => body.replaceChildren(...(line.open ? contents() : []));
    fold.open = line.open;
    fill();
    fold.addEventListener("toggle", () => {
      if (line.open === fold.open) return;
      line.open = fold.open;
      fill();
      caseList.soon();
    });
    return make("div", { role: "row", class: "line part", "aria-level": 2 }, make("div", { role: "gridcell", "aria-colspan": caseList.columns.length }, fold));
  } };
  return line;
}
const textPart = (key, title, text, open) => foldPart(key, "text", title, open, () => [make("div", { class: "side" }, make("code", { dir: "auto" }, text))]);
function fieldsPart(key, compared) {
  const found = [];
  for (let at = 0; at < compared.x.length; at += 6) found.push(compared.x.slice(at, at + 6));
  const mean = (x) => Math.min(x[5] / (x[1] + x[2] + x[3] + x[4] || 1), 1), right = found.filter((x) => mean(x) >= 1).length;
  found.sort((a, b) => mean(a) - mean(b));
  const wrong = found.length - right, title = `${count(found.length, "field")}: ${wrong ? `${wrong} not right, ` : ""}${right} right`;
  return foldPart(key, "fields", title, !compared.d && wrong > 0, () => found.map((x) => {
    const counts = ["match", "mismatch", "omission", "hallucination"].map((name, at) => x[at + 1] ? `${x[at + 1]} ${STATUS[name]}` : "").filter(Boolean).join(", ");
    const cell = make("div", {}, counts ? figure(mean(x)) : "");
    if (counts) meter(cell, mean(x));
    return make("div", { class: "field" }, make("code", {}, fields[x[0]].path), make("span", { class: "faint" }, counts || "not compared"), cell);
  }));
}
const MARKS = { "-": "del", "+": "ins" }; // only in expected, only in actual
function side(title, spans, missing) {
  const code = make("code", { dir: "auto" });
  if (spans === null) code.append(missing);
  else for (const [kind, text] of spans) code.append(kind === "=" ? text : make(MARKS[kind], {}, text));
  return make("div", { class: `side${spans === null ? " missing" : ""}` }, make("span", {}, title), code);
}
function leafPart(key, leaf) {
  return part(key, `leaf ${leaf.k}`, () => make("div", {},
    make("div", { class: "leaf-head" }, make("code", {}, leaf.p), make("span", { class: `chip ${leaf.k}` }, STATUS[leaf.k] || leaf.k),
      leaf.k === "mismatch" ? make("span", {}, figure(leaf.s)) : null, leaf.q ? make("span", { class: "faint" }, `in actual: ${leaf.q}`) : null,
      leaf.y ? make("span", { class: "faint" }, leaf.y) : null),
    make("div", { class: "sides" }, side("expected", leaf.e, "nothing"), side("actual", leaf.a, "missing"))));
}
function arrayPart(key, array) {
  return part(key, "leaf", () => make("div", {},
    make("div", { class: "leaf-head" }, make("code", {}, array.p), make("span", { class: "faint" }, array.note)), make("div", { class: "wide" }, drawPairs(array))));
}
function documentsPart(key, [expected, actual]) {
  return foldPart(key, "documents", actual === 0 ? "Whole documents, both the same" : "Whole documents, side by side", false, () => [make("div", { class: "sides" },
    side("expected", expected, "nothing"), side("actual", actual === 0 ? expected : actual, "missing"))]);
}
function drawPairs(array) {
  // Expected on the left, actual on the right, a line for each pair; elements without a partner below.
  const height = 26, tall = height - 5, wide = 760, box = 270, gap = 44, across = array.pairs.length;
  const left = [...array.pairs.map((pair) => pair[0])].sort((a, b) => a - b), right = [...array.pairs.map((pair) => pair[1])].sort((a, b) => a - b);
  const alone = Math.max(array.expected.length, array.actual.length);
  const total = 18 + across * height + (alone ? 22 + alone * height : 0);
  const told = [...array.pairs.map(([i, j, score]) => `expected ${i} with actual ${j}: ${figure(score)}`),
    ...array.expected.map((i) => `expected ${i} without a partner`), ...array.actual.map((j) => `actual ${j} without a partner`)].join("; ");
  const svg = make("svg", { class: "pairs", viewBox: `0 0 ${wide} ${total}`, role: "img", "aria-label": `Pairs of ${array.p}. ${told}` });
  const text = (index, names) => { const name = `[${index}] ${names[index] ?? ""}`; return name.length > 37 ? name.slice(0, 36) + "…" : name; };
  const cell = (x, y, words, kind) => svg.append(make("rect", { x: x + 1, y, width: box - 2, height: tall, rx: 5, class: kind }), make("svg", { x: x + 8, y, width: box - 16, height: tall }, make("text", { x: 0, y: tall / 2 + 4.5 }, words)));
  const row = (place) => 18 + place * height;
  svg.append(make("text", { x: 2, y: 11, class: "label" }, "expected"), make("text", { x: wide - box + 2, y: 11, class: "label" }, "actual"));
  for (const [i, j, score] of array.pairs) {
    const from = row(left.indexOf(i)) + tall / 2, to = row(right.indexOf(j)) + tall / 2, a = box + gap, b = wide - box - 2;
    const line = make("path", { d: `M${a} ${from} C${a + 60} ${from} ${b - 60} ${to} ${b} ${to}` });
    line.style.stroke = score >= 1 ? "var(--good)" : color(score);
    svg.append(line);
  }
  for (const [i, , score] of array.pairs)
    svg.append(make("text", { x: box + 8, y: row(left.indexOf(i)) + tall / 2 + 4.5, class: "score" }, figure(score)));
  left.forEach((index, place) => cell(0, row(place), text(index, array.e), ""));
  right.forEach((index, place) => cell(wide - box, row(place), text(index, array.a), ""));
  if (alone) {
    const start = row(across) + 18;
    svg.append(make("text", { x: 2, y: start - 5, class: "label" }, "without a partner"));
    array.expected.forEach((index, place) => cell(0, start + place * height, text(index, array.e), "alone"));
    array.actual.forEach((index, place) => cell(wide - box, start + place * height, text(index, array.a), "alone"));
  }
  return svg;
}

// -- the heat map ------------------------------------------------------------------------------------------

const heat = {
  at: null, height: 20,
  start() {
    this.host = find("heat");
    this.canvas = make("canvas", { role: "img" });
    this.space = make("div", {}, this.canvas);
    this.host.append(this.space);
    this.host.addEventListener("scroll", () => this.soon(), { passive: true });
    this.host.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("mousemove", (event) => this.move(this.under(event)));
    this.canvas.addEventListener("mouseleave", () => this.move(null));
    this.canvas.addEventListener("click", (event) => { const cell = this.under(event); if (cell) openCase(caseList.rows[cell[0]]); });
    new ResizeObserver(() => this.lay()).observe(this.host.parentElement);
  },
  lay() {
    if (!this.host || !caseList.rows || !fieldList.rows.length && !fields.length) return;
    this.paths = [...new Set(fieldList.rows.map((row) => row.path))];
    this.host.style.width = "";
    const room = this.host.clientWidth, across = caseList.rows.length;
    const context = this.canvas.getContext("2d");
    context.font = this.font();
    const longest = Math.max(40, ...this.paths.slice(0, 400).map((path) => context.measureText(path).width));
    this.gutter = Math.min(longest + 20, Math.max(room * 0.32, 90));
    this.width = Math.max(4, Math.min(72, Math.floor((room - this.gutter) / Math.max(across, 1))));
    // Names of cases are written vertically above their columns, as many as fit.
    const names = caseList.rows.slice(0, 400).map((row) => context.measureText(row.name).width);
    this.head = Math.min(Math.max(0, ...names), 130) + 12;
    this.every = Math.ceil(15 / this.width);
    this.space.style.width = `${Math.max(this.gutter + across * this.width, 1)}px`;
    this.host.style.width = `${Math.min(this.gutter + across * this.width + 6, room) + 2}px`; // no wider than the cases
    this.space.style.height = `${this.head + this.paths.length * this.height + 4}px`;
    this.canvas.setAttribute("aria-label", `Heat map: ${count(this.paths.length, "field")} by ${count(across, "case")}. The lists below hold the same figures.`);
    if (this.at && (this.at[0] >= across || this.at[1] >= this.paths.length)) this.at = null;
    this.draw();
  },
  short(context, text, room) { // cut at its start: names mostly differ at their end
    while (text.length > 2 && context.measureText(text).width > room) text = "…" + text.slice(text[0] === "…" ? 2 : 1);
    return text;
  },
  font: () => `12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace`,
  soon() { this.frame ||= requestAnimationFrame(() => { this.frame = 0; this.draw(); }); },
  draw() {
    if (!this.paths) return;
    const { host, canvas, gutter, width, height, head } = this, ratio = devicePixelRatio || 1;
    const wide = Math.min(host.clientWidth, parseFloat(this.space.style.width)), high = Math.min(440, parseFloat(this.space.style.height));
    if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio)) {
      canvas.width = Math.round(wide * ratio); canvas.height = Math.round(high * ratio);
      canvas.style.width = `${wide}px`; canvas.style.height = `${high}px`;
    }
    const context = canvas.getContext("2d"), left = host.scrollLeft, top = host.scrollTop;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = groundColor;
    context.fillRect(0, 0, wide, high);
    const firstRow = Math.max(Math.floor(top / height), 0), lastRow = Math.min(Math.ceil((top + high - head) / height), this.paths.length);
    const first = Math.floor(left / width), last = Math.min(Math.ceil((left + wide - gutter) / width), caseList.rows.length);
    const gap = width >= 8 ? 2 : width >= 5 ? 1 : 0;
    for (let column = first; column < last; column++) {
      const scores = scoresOf(caseList.rows[column]), x = gutter + column * width - left;
      for (let row = firstRow; row < lastRow; row++) {
        const score = scores.get(pathIndex.get(this.paths[row]));
        context.fillStyle = score === undefined ? none : color(score);
        context.globalAlpha = score === undefined ? 0.55 : 1;
        context.fillRect(x, head + row * height - top + 1, width - gap, height - 2);
      }
    }
    context.globalAlpha = 1;
    context.font = this.font();
    context.textBaseline = "middle";
    context.fillStyle = groundColor;
    context.fillRect(0, 0, gutter - 4, high);
    for (let row = firstRow; row < lastRow; row++) {
      context.fillStyle = this.at && this.at[1] === row ? ink : faint;
      context.fillText(this.short(context, this.paths[row], gutter - 18), 8, head + row * height - top + height / 2 + 1);
    }
    context.fillStyle = groundColor;
    context.fillRect(0, 0, wide, head);
    for (let column = first; column < last; column++) {
      const x = gutter + column * width - left, isAt = this.at && this.at[0] === column;
      if (x < gutter - 2 || (column % this.every && !isAt)) continue;
      context.save();
      context.translate(x + (width - gap) / 2, head - 6);
      context.rotate(-Math.PI / 2);
      context.fillStyle = isAt ? ink : faint;
      context.fillText(this.short(context, caseList.rows[column].name, head - 10), 0, 0);
      context.restore();
    }
    if (this.at) {
      const x = gutter + this.at[0] * width - left, y = head + this.at[1] * height - top;
      context.strokeStyle = focusColor; context.lineWidth = 2;
      if (x >= gutter - 1) context.strokeRect(x, y, width - gap, height);
    }
  },
  under(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - this.gutter + this.host.scrollLeft) / this.width);
    const row = Math.floor((event.clientY - box.top - this.head + this.host.scrollTop) / this.height);
    return event.clientY - box.top > this.head && event.clientX - box.left > this.gutter && column >= 0 && column < caseList.rows.length && row >= 0 && row < this.paths.length ? [column, row] : null;
  },
  move(cell) {
    if (String(cell) === String(this.at)) return;
    this.at = cell;
    const found = cell && caseList.rows[cell[0]];
    const score = found && scoresOf(found).get(pathIndex.get(this.paths[cell[1]]));
    find("heat-cell").textContent = found ? `${this.paths[cell[1]]} in ${found.id}: ${score === undefined ? "no such field" : figure(score)}` : "\u00a0";
    this.soon();
  },
  key(event) {
    const [column, row] = this.at || [-1, 0], moves = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    if (event.key === "Enter" && this.at) openCase(caseList.rows[column]);
    else if (event.key in moves && caseList.rows.length && this.paths.length) {
      const step = this.at ? moves[event.key] : [1, 0];
      const next = [Math.max(0, Math.min(column + step[0], caseList.rows.length - 1)), Math.max(0, Math.min(row + step[1], this.paths.length - 1))];
      const x = next[0] * this.width, y = next[1] * this.height, room = this.host.clientWidth - this.gutter;
      if (x < this.host.scrollLeft) this.host.scrollLeft = x; else if (x + this.width > this.host.scrollLeft + room) this.host.scrollLeft = x + this.width - room;
      if (y < this.host.scrollTop) this.host.scrollTop = y; else if (y + this.height + this.head + 4 > this.host.scrollTop + this.host.clientHeight) this.host.scrollTop = y + this.height + this.head + 4 - this.host.clientHeight;
      this.move(next);
    } else return;
    event.preventDefault();
  },
};
function openCase(row) {
  if (!caseList.open.has(row)) caseList.toggle(row);
  caseList.go(row);
}

// -- the distribution --------------------------------------------------------------------------------------

const BINS = 20;
const bins = Array.from({ length: BINS + 1 }, (_, at) => ({ low: at / BINS, high: at === BINS ? 1 : (at + 1) / BINS, many: 0 }));
function drawSpread() {
  for (const each of cases) bins[each.score >= 1 ? BINS : Math.min(Math.floor(each.score * BINS + 1e-9), BINS - 1)].many++;
  const most = Math.max(1, ...bins.map((bin) => bin.many));
  bins.forEach((bin, at) => {
    const bar = make("span", { class: "bar" });
    bar.style.height = `${bin.many ? Math.max(bin.many / most * 104, 3) : 1}px`;
    if (bin.many) bar.style.background = at === BINS ? "var(--good)" : "var(--accent)";
    const name = at === BINS ? "1" : at % 4 ? "" : bin.low.toFixed(1).replace(/^0\.0$/, "0");
    bin.button = make("button", { type: "button", "aria-pressed": "false", disabled: !bin.many,
      "aria-label": at === BINS ? `score 1: ${count(bin.many, "case")}` : `score from ${bin.low} to below ${bin.high}: ${count(bin.many, "case")}` },
      make("span", { class: "many" }, bin.many ? count(bin.many) : ""), bar, make("span", { class: "at" }, name));
    bin.button.addEventListener("click", () => {
      const form = find("cases-filter"), on = bin.button.getAttribute("aria-pressed") === "true";
      form.elements.low.value = on ? "" : bin.low;
      form.elements.high.value = on ? "" : at === BINS ? 1 : below(bin.high);
      filterCases();
    });
    find("spread").append(bin.button);
  });
}
const below = (value) => +(value - 1e-6).toFixed(6); // figures have six decimals
function markSpread() {
  const form = find("cases-filter"), low = form.elements.low.value, high = form.elements.high.value;
  bins.forEach((bin, at) => bin.button?.setAttribute("aria-pressed", String(low !== "" && +low === bin.low && +high === (at === BINS ? 1 : below(bin.high)))));
}
function drawScale() {
  const canvas = find("scale"), context = canvas.getContext("2d");
  for (let x = 0; x < canvas.width; x++) {
    context.fillStyle = color(x >= canvas.width - 12 ? 1 : x / (canvas.width - 12));
    context.fillRect(x, 0, 1, canvas.height);
  }
}

// -- light and dark ----------------------------------------------------------------------------------------

const THEMES = ["auto", "light", "dark"];
let theme = "auto";
try { theme = THEMES.find((each) => each === localStorage.getItem("jsonmatch-theme")) || "auto"; } catch { /* a file may have no storage */ }
function applyTheme() {
  if (theme === "auto") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = theme;
  find("theme").textContent = `theme: ${theme}`;
  readColors();
  repaint();
}
function repaint() {
  if (!caseList) return;
  if (find("heat")) drawScale();
  for (const list of [fieldList, caseList]) { list.live.clear(); list.body.replaceChildren(); list.render(); }
  heat.lay();
}

find("theme").hidden = false;
find("theme").addEventListener("click", () => {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  try { localStorage.setItem("jsonmatch-theme", theme); } catch { /* then it is forgotten */ }
  applyTheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", applyTheme);
applyTheme();
if (caseList) {
  for (const list of [fieldList, caseList]) list.host.classList.toggle("was", hasBefore);
  fieldList.host.classList.toggle("measured", measured);
  caseList.host.classList.toggle("measured", casesMeasured);
  // If only the worst cases are listed, a picture of them would say nothing about all.
  if (find("heat")) { drawSpread(); heat.start(); }
  for (const [id, filter] of [["fields-filter", filterFields], ["cases-filter", filterCases]]) {
    find(id).addEventListener("input", filter);
    // If anything changed against a baseline, only that is shown at first; "all" shows the rest.
    const [rows, statuses] = filter === filterFields ? [fields, FIELD_STATUS] : [cases, CASE_STATUS];
    if (hasBefore && rows.some(statuses.moved)) find(id).elements.status.value = "moved";
    find(id).addEventListener("submit", (event) => event.preventDefault());
    find(id).addEventListener("reset", () => setTimeout(filter));
  }
  filterFields();
  filterCases();
  if (cases.length === 1) caseList.toggle(cases[0]);
  addEventListener("beforeprint", () => { fieldList.print(true); caseList.print(true); });
  addEventListener("afterprint", () => { fieldList.print(false); caseList.print(false); });
}
})();
