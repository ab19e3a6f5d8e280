// The behaviour of all tables of a page: sort, filter, search, unfold. Rows are in the page; nothing is drawn here.
(() => {
"use strict";

const all = (root, selector) => [...root.querySelectorAll(selector)];
const numeric = /^[+-]?[\d,]*\.?\d+(?:e[+-]?\d+)?/;

// -- rows ---------------------------------------------------------------------------------------------------

/** What the script knows of each row of a table, in the order in which the report was written. */
function rowsOf(table) {
  table.known ||= all(table.tBodies[0], "tr.row").map((row, at) => ({
    row,
    at,
    text: row.textContent.toLowerCase(),
    marks: (row.dataset.marks || "").split(" "),
    detail: null,
  }));
  return table.known;
}

/** The value that a column is sorted by: a number, text, or null for a cell without either. */
function valueOf(row, column) {
  const cell = row.cells[column];
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
  const text = (cell.querySelector("code") || cell).textContent.trim(); // without a chip
  if (text === "" || text === "–") return null;
  const found = cell.classList.contains("number") && numeric.exec(text);
  return found ? Number(found[0].replaceAll(",", "")) : text;
}

function compare(one, other) {
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? 1 : -1; // what has no value comes last
  return typeof one === typeof other ? (one < other ? -1 : 1) : (typeof one === "number" ? -1 : 1);
}

function sort(table, column, isDown) {
  const keyed = rowsOf(table).map((each) => [valueOf(each.row, column), each]);
  keyed.sort(([one, a], [other, b]) => {
    const order = compare(one, other);
    return (isDown && one !== null && other !== null ? -order : order) || a.at - b.at;
  });
  table.known = keyed.map(([, each]) => each);
  const body = table.tBodies[0], place = body.nextSibling;
  body.remove(); // a table is laid out once, not for each row
  for (const each of table.known) {
    body.append(each.row);
    if (each.detail) body.append(each.detail);
  }
  table.insertBefore(body, place);
  show(table);
}

// -- which rows are shown -----------------------------------------------------------------------------------

/** Show the rows that match the filter: the first ones, or all of them once they were asked for. */
function show(table) {
  const form = document.querySelector(`form[data-table="${table.id}"]`);
  const words = form ? form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean) : [];
  const wanted = form ? all(form, "select").map((each) => each.value).filter(Boolean) : [];
  const most = table.isWhole ? Infinity : Number(table.dataset.most);
  let matching = 0;
  for (const each of rowsOf(table)) {
    const matches = words.every((word) => each.text.includes(word))
      && wanted.every((mark) => each.marks.includes(mark));
    const isHidden = !matches || matching >= most;
    matching += matches;
    if (each.row.hidden !== isHidden) each.row.hidden = isHidden;
    if (each.detail) each.detail.hidden = isHidden;
  }
  count(table, matching);
}

function count(table, matching) {
  const every = rowsOf(table).length, noun = table.dataset.noun;
  const told = document.getElementById(`${table.id}-count`);
  table.size ||= told ? told.textContent : "";
  if (told) told.textContent = matching === every ? table.size : `${matching.toLocaleString("en")} of ${table.size}`;
  const button = document.querySelector(`button.all[data-table="${table.id}"]`);
  if (button) {
    button.hidden = table.isWhole || matching <= Number(table.dataset.most);
    button.textContent = `show all ${matching.toLocaleString("en")} ${noun}${matching === 1 ? "" : "s"}`;
  }
  const head = table.closest("section").querySelector(".nothing");
  if (head) head.remove();
  if (!matching) {
    const line = document.createElement("p");
    line.className = "nothing faint";
    line.textContent = "nothing matches the filter";
    table.parentElement.after(line);
  }
}

// -- details ------------------------------------------------------------------------------------------------

/** Unfold or fold the details of a row; they are made when somebody looks at them. */
function unfold(each, isOpen) {
  const template = each.row.querySelector("template");
  if (!template || isOpen === Boolean(each.detail)) return;
  if (isOpen) {
    each.detail = document.createElement("tr");
    each.detail.className = "detail";
    const cell = document.createElement("td");
    cell.colSpan = each.row.cells.length;
    cell.append(template.content.cloneNode(true));
    each.detail.append(cell);
    each.row.after(each.detail);
  } else {
    each.detail.remove();
    each.detail = null;
  }
  each.row.querySelector("button.toggle").setAttribute("aria-expanded", String(isOpen));
}

// -- events -------------------------------------------------------------------------------------------------

for (const table of all(document, "table[data-most]")) {
  for (const button of all(table, "thead button")) {
    button.addEventListener("click", () => {
      const head = button.closest("th"), isDown = head.getAttribute("aria-sort") === "ascending";
      for (const other of all(table, "th[aria-sort]")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      sort(table, head.cellIndex, isDown);
    });
  }
  table.addEventListener("click", (event) => {
    const row = event.target.closest("tr.row");
    if (!row || event.target.closest("a") || String(getSelection())) return;
    const each = rowsOf(table).find((known) => known.row === row);
    unfold(each, !each.detail);
  });
}

for (const form of all(document, "form.filter")) {
  const table = document.getElementById(form.dataset.table);
  form.addEventListener("input", () => show(table));
  form.addEventListener("reset", () => setTimeout(() => show(table)));
  form.addEventListener("submit", (event) => event.preventDefault());
}

for (const button of all(document, "button.all")) {
  const table = document.getElementById(button.dataset.table);
  button.addEventListener("click", () => {
    table.isWhole = true;
    show(table);
  });
}

addEventListener("beforeprint", () => {
  for (const table of all(document, "table.opens")) {
    const shown = rowsOf(table).filter((each) => !each.row.hidden);
    for (const each of shown.slice(0, 300)) unfold(each, true);
  }
});

// -- the theme ----------------------------------------------------------------------------------------------

const THEMES = ["auto", "light", "dark"], KEY = "jsonmatch-theme";
const theme = document.getElementById("theme");

/** Return the theme that was chosen; a browser may refuse to keep it. */
function kept() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function paint(name) {
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  theme.textContent = `theme: ${name}`;
}

theme.hidden = false;
theme.addEventListener("click", () => {
  const next = THEMES[(THEMES.indexOf(theme.textContent.slice(7)) + 1) % THEMES.length];
  try {
    localStorage.setItem(KEY, next);
  } catch { /* it is painted all the same */ }
  paint(next);
});
paint(THEMES.includes(kept()) ? kept() : "auto");
})();
