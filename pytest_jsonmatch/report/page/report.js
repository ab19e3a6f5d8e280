// Sort, filter, search and unfold the tables of a page. The script draws nothing: all rows are in the page.
(() => {
"use strict";

const all = (root, selector) => [...root.querySelectorAll(selector)];
const numeric = /^[+-]?[\d,]*\.?\d+(?:e[+-]?\d+)?/;

// -- rows ---------------------------------------------------------------------------------------------------

/** Return an entry for each row of a table, in the order of the report or of the last sort. */
function getEntries(table) {
  table.entries ||= all(table.tBodies[0], "tr.row").map((row, at) => ({
    row,
    at,
    text: row.textContent.toLowerCase(),
    marks: (row.dataset.marks || "").split(" "),
    detail: null,
  }));
  return table.entries;
}

/** Return the sort key of a cell: a number, text, or null for an empty cell. */
function getValue(row, column) {
  const cell = row.cells[column];
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
  const text = (cell.querySelector("code") || cell).textContent.trim(); // without a chip
  if (text === "" || text === "–") return null;
  const found = cell.classList.contains("number") && numeric.exec(text);
  return found ? Number(found[0].replaceAll(",", "")) : text;
}

function compare(one, other) {
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? 1 : -1; // cells without a value come last
  return typeof one === typeof other ? (one < other ? -1 : 1) : (typeof one === "number" ? -1 : 1);
}

function sort(table, column, isDown) {
  const keyed = getEntries(table).map((entry) => [getValue(entry.row, column), entry]);
  keyed.sort(([one, a], [other, b]) => {
    const order = compare(one, other);
    return (isDown && one !== null && other !== null ? -order : order) || a.at - b.at;
  });
  table.entries = keyed.map(([, entry]) => entry);
  const body = table.tBodies[0], place = body.nextSibling;
  body.remove(); // the browser lays the table out once, not for each row
  for (const entry of table.entries) {
    body.append(entry.row);
    if (entry.detail) body.append(entry.detail);
  }
  table.insertBefore(body, place);
  show(table);
}

// -- filters ------------------------------------------------------------------------------------------------

/** Show the rows that match the filter: the first ones, or all after a click on "show all". */
function show(table) {
  const form = document.querySelector(`form[data-table="${table.id}"]`);
  const words = form ? form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean) : [];
  const selected = form ? all(form, "select").map((select) => select.value).filter(Boolean) : [];
  const maxRows = table.showsAll ? Infinity : Number(table.dataset.maxRows);
  let matching = 0;
  for (const entry of getEntries(table)) {
    const matches = words.every((word) => entry.text.includes(word))
      && selected.every((mark) => entry.marks.includes(mark));
    const isHidden = !matches || matching >= maxRows;
    matching += matches;
    if (entry.row.hidden !== isHidden) entry.row.hidden = isHidden;
    if (entry.detail) entry.detail.hidden = isHidden;
  }
  count(table, matching);
}

function count(table, matching) {
  const total = getEntries(table).length, noun = table.dataset.noun;
  const label = document.getElementById(`${table.id}-count`);
  table.size ||= label ? label.textContent : "";
  if (label) label.textContent = matching === total ? table.size : `${matching.toLocaleString("en")} of ${table.size}`;
  const button = document.querySelector(`button.all[data-table="${table.id}"]`);
  if (button) {
    button.hidden = table.showsAll || matching <= Number(table.dataset.maxRows);
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

/** Unfold or fold the details of a row, which are created when they are first unfolded. */
function unfold(entry, isOpen) {
  const template = entry.row.querySelector("template");
  if (!template || isOpen === Boolean(entry.detail)) return;
  if (isOpen) {
    entry.detail = document.createElement("tr");
    entry.detail.className = "detail";
    const cell = document.createElement("td");
    cell.colSpan = entry.row.cells.length;
    cell.append(template.content.cloneNode(true));
    entry.detail.append(cell);
    entry.row.after(entry.detail);
  } else {
    entry.detail.remove();
    entry.detail = null;
  }
  entry.row.querySelector("button.toggle").setAttribute("aria-expanded", String(isOpen));
}

// -- events -------------------------------------------------------------------------------------------------

for (const table of all(document, "table[data-max-rows]")) {
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
    const entry = getEntries(table).find((candidate) => candidate.row === row);
    unfold(entry, !entry.detail);
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
    table.showsAll = true;
    show(table);
  });
}

addEventListener("beforeprint", () => {
  for (const table of all(document, "table.opens")) {
    const shown = getEntries(table).filter((entry) => !entry.row.hidden);
    for (const entry of shown.slice(0, 300)) unfold(entry, true);
  }
});

// -- the theme ----------------------------------------------------------------------------------------------

const THEMES = ["auto", "light", "dark"], KEY = "jsonmatch-theme";
const theme = document.getElementById("theme");

/** Return the stored theme; a browser may not allow storage. */
function storedTheme() {
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
  } catch { /* not stored, but painted */ }
  paint(next);
});
paint(THEMES.includes(storedTheme()) ? storedTheme() : "auto");
})();
