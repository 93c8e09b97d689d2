// Draws the charts of a page when they come into view. A scope is what shares a legend and a menu: a study, or a chart.
const root = document.documentElement;
const tip = document.getElementById("tip");
const config = JSON.parse(document.getElementById("config").textContent);
// Expressions are interpreted, since the page's policy allows no code from strings. Errors alone are logged (1).
const options = { mode: "vega-lite", ast: true, actions: false, renderer: "svg", hover: true, defaultStyle: false, logLevel: 1 };

const scopeOf = (element) => element.closest("[data-scope]") ?? document.body;
const unpacked = ({ columns, values }) =>
  values.map((each) => (each.runs ? each.runs.flatMap(([value, count]) => Array(count).fill(value)) : each));
function rowsOf(figure) {
  if (!figure.rows) {
    const { columns } = figure.data, values = unpacked(figure.data);
    figure.rows = (values[0] ?? []).map((_, i) => Object.fromEntries(columns.map((name, k) => [name, values[k][i]])));
  }
  return figure.rows;
}

function place(x, y) {
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${y + 16 + tip.offsetHeight > innerHeight ? Math.max(4, y - tip.offsetHeight - 10) : y + 16}px`;
}
function tell(value, x, y) {
  const none = value == null || value === "";
  tip.hidden = none;
  if (none) return;
  const table = document.createElement("table");
  for (const [name, text] of Object.entries(value)) {
    if (text === "" || text === "null" || text === "undefined" || text === "NaN") continue;
    const row = table.insertRow();
    if (name.trim()) row.insertCell().textContent = name;
    const cell = row.insertCell();
    cell.textContent = text;
    if (!name.trim()) cell.colSpan = 2;
  }
  tip.replaceChildren(table);
  place(x, y);
}

async function draw(box) {
  const figure = box.closest("figure"), scope = scopeOf(box);
  const panel = figure.data.panels[[...figure.querySelectorAll(".plot")].indexOf(box)];
  const params = ["shown", "focus", "at"].map((name) => ({ name, value: scope.state[name] ?? null }));
  const whole = { ...panel, data: { name: "t" }, params, config, width: "container", autosize: { type: "fit-x", contains: "padding" } };
  const patch = (spec) => {
    for (const each of spec.data) if (each.name === "t") each.values = rowsOf(figure);
    return spec;
  };
  const tooltip = (_, event, item, value) => tell(value, event.clientX, event.clientY);
  const { view } = await vegaEmbed(box, whole, { ...options, patch, tooltip });
  box.view = view;
  view.addEventListener("pointerover", (_, item) => item?.datum?.scheme && focusOn(scope, item.datum.scheme));
  view.addEventListener("pointerout", () => focusOn(scope, null));
  for (const name of ["shown", "at"]) set(view, name, scope.state[name] ?? null);
}
function set(view, name, value) {
  try { view.signal(name, value).runAsync(); } catch { /* a chart without it */ }
}
function send(scope, name, value) {
  scope.state[name] = value;
  for (const box of scope.querySelectorAll(".plot")) if (box.view && scopeOf(box) === scope) set(box.view, name, value);
}
function focusOn(scope, scheme) {
  clearTimeout(scope.pending);
  const seen = scope.state.shown.includes(scheme) ? scheme : null;
  scope.pending = setTimeout(() => scope.state.focus !== seen && send(scope, "focus", seen), 40);
}

// The marks of a chart that have a tooltip, with their places, from left to right.
function marksOf(view) {
  const found = [];
  const walk = (item, x, y) => {
    for (const each of item.items ?? []) {
      if (each.tooltip && each.bounds) {
        found.push({ item: each, x: x + (each.bounds.x1 + each.bounds.x2) / 2, y: y + (each.bounds.y1 + each.bounds.y2) / 2 });
      }
      walk(each, x + (each.marktype ? 0 : each.x ?? 0) * (each.items ? 1 : 0), y + (each.marktype ? 0 : each.y ?? 0) * (each.items ? 1 : 0));
    }
  };
  const [x, y] = view.origin();
  walk(view.scenegraph().root, x, y);
  return found.sort((a, b) => a.x - b.x || a.y - b.y);
}
function step(box, by) {
  const marks = marksOf(box.view);
  if (!marks.length) return;
  box.step = ((box.step ?? (by > 0 ? -1 : 0)) + by + marks.length) % marks.length;
  const { item, x, y } = marks[box.step], at = box.querySelector("svg").getBoundingClientRect();
  tell(typeof item.tooltip === "object" ? item.tooltip : { "": item.tooltip }, at.left + x, at.top + y);
  if (item.datum?.scheme) focusOn(scopeOf(box), item.datum.scheme);
}

for (const figure of document.querySelectorAll("figure")) {
  const script = figure.querySelector("script");
  if (script) figure.data = JSON.parse(script.textContent);
}
for (const scope of [document.body, ...document.querySelectorAll("[data-scope]")]) {
  const bar = scope === document.body ? null : scope.querySelector(".bar");
  const chips = [...(bar?.querySelectorAll("button") ?? [])];
  const shown = () => chips.filter((each) => each.getAttribute("aria-pressed") === "true").map((each) => each.dataset.scheme);
  const menus = [...(bar?.querySelectorAll("select") ?? [])], at = () => (menus.length ? menus.map((menu) => menu.value) : null);
  scope.state = { shown: shown(), focus: null, at: at() };
  for (const chip of chips) {
    chip.onclick = () => {
      chip.setAttribute("aria-pressed", chip.getAttribute("aria-pressed") === "false");
      send(scope, "shown", shown());
    };
    chip.onpointerenter = () => focusOn(scope, chip.dataset.scheme);
    chip.onpointerleave = () => focusOn(scope, null);
  }
  const check = () => {
    for (const figure of menus.length ? scope.querySelectorAll("figure:has(.missing)") : []) {
      figure.toggleAttribute("data-empty", !rowsOf(figure).some((row) => row.at === at().join(", ")));
    }
  };
  check();
  for (const menu of menus) menu.onchange = () => { send(scope, "at", at()); check(); };
}
for (const box of document.querySelectorAll(".plot")) {
  box.onkeydown = (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") tip.hidden = true;
    if (!by || !box.view) return;
    event.preventDefault();
    step(box, by);
  };
  box.onblur = () => { tip.hidden = true; focusOn(scopeOf(box), null); };
}

const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) { seen.unobserve(target); draw(target); }
}, { rootMargin: "600px" });
for (const box of document.querySelectorAll(".plot")) seen.observe(box);
addEventListener("beforeprint", () => {
  root.toggleAttribute("data-print", true);
  for (const box of document.querySelectorAll(".plot")) if (!box.view) draw(box);
});
addEventListener("afterprint", () => root.toggleAttribute("data-print", false));

function save(name, columns, rows) {
  const cell = (value) => (value == null ? "" : /[",\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
  const text = [columns, ...rows].map((row) => row.map(cell).join()).join("\r\n");
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: `${name}.csv` });
  link.click();
}
for (const button of document.querySelectorAll("figure .csv")) {
  button.onclick = () => {
    const figure = button.closest("figure"), { columns } = figure.data;
    save(button.dataset.name, columns, rowsOf(figure).map((row) => columns.map((name) => row[name])));
  };
}
// Tables that sort by a click on a head, and show the rows whose words have all words of the filter.
const numberIn = (text) => parseFloat(text.replace(/[≥≤,\s]/g, ""));
function compare(a, b) {
  const [x, y] = [numberIn(a), numberIn(b)];
  if (isNaN(x) || isNaN(y)) return isNaN(x) && isNaN(y) ? a.localeCompare(b) : isNaN(x) ? 1 : -1;
  return x - y;
}
for (const button of document.querySelectorAll("table.sortable thead button")) {
  button.onclick = () => {
    const head = button.parentElement, body = head.closest("table").tBodies[0], place = head.cellIndex;
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const each of head.parentElement.cells) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const text = (row) => row.cells[place].textContent.trim();
    body.append(...[...body.rows].sort((a, b) => compare(text(a), text(b)) * (up ? 1 : -1)));
  };
}
for (const input of document.querySelectorAll("input.filter")) {
  input.oninput = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of input.closest(".card").querySelector("tbody").rows) {
      const cells = [...row.querySelectorAll("th, td:not(.number)")].map((cell) => cell.textContent.toLowerCase());
      row.hidden = !words.every((word) => cells.some((cell) => cell.startsWith(word)));
    }
  };
}
for (const button of document.querySelectorAll(".card .csv")) {
  button.onclick = () => {
    const rows = [...button.closest(".card").querySelectorAll("tr")].map((row) => [...row.cells].map((cell) => cell.innerText.replace(/\s+/g, " ").trim()));
    save(button.dataset.name, rows[0], rows.slice(1));
  };
}
