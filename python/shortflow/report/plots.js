// Draws each figure's plots in the page's colours, with what its legend and its menu show.
const root = document.documentElement;
const quiet = { displaylogo: false, responsive: true, showSendToCloud: false };

// Of many marks on a narrow axis every other one.
function thinned(axis) {
  const every = (list) => (list?.length > 5 ? list.filter((_, place) => place % 2 === 0) : list);
  return axis.ticktext && axis.type === "log" ? { ...axis, tickvals: every(axis.tickvals), ticktext: every(axis.ticktext) } : axis;
}

function themed(layout, narrow) {
  const style = getComputedStyle(root);
  const [ink, soft, rule] = ["--ink", "--soft", "--rule"].map((name) => style.getPropertyValue(name).trim());
  const clear = "rgba(0,0,0,0)";
  const axes = Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key));
  const drawn = (axis) => ({ ...(narrow ? thinned(axis) : axis), gridcolor: rule, linecolor: soft, tickcolor: soft });
  return {
    ...layout,
    ...Object.fromEntries(axes.map((key) => [key, drawn(layout[key])])),
    font: { ...layout.font, color: ink, size: narrow ? 11 : 13 },
    paper_bgcolor: clear,
    plot_bgcolor: clear,
    modebar: { orientation: "h", bgcolor: clear, color: soft, activecolor: ink },
  };
}

// Error bars on bars are in the colour of text, which is the page's.
function inked(trace) {
  const ink = getComputedStyle(root).getPropertyValue("--ink").trim();
  return trace.type === "bar" && trace.error_y ? { ...trace, error_y: { ...trace.error_y, color: ink } } : trace;
}

const figures = [...document.querySelectorAll("figure")].map((figure) => {
  const plots = [...figure.querySelectorAll("script[data-plot]")].map((script) => ({
    box: document.getElementById(script.dataset.plot),
    ...JSON.parse(script.textContent),
  }));
  const menu = figure.querySelector("select");
  const hidden = new Set();
  const draw = () => {
    const seen = (name, at) => !hidden.has(name) && (!menu || at == null || at === menu.value);
    const printed = root.hasAttribute("data-print") ? { width: plots.length > 1 ? 310 : 640 } : {};
    for (const { box, data, layout } of plots) {
      if (layout.height) box.style.height = `${layout.height}px`;
      const shapes = (layout.shapes ?? []).map((each) => ({ ...each, visible: seen(each.legendgroup, null) }));
      const traces = data.map((each) => ({ ...inked(each), visible: seen(each.legendgroup, each.meta?.at) }));
      Plotly.react(box, traces, { ...themed(layout, box.clientWidth < 420), shapes, ...printed }, quiet);
    }
  };
  menu?.addEventListener("change", draw);
  for (const button of figure.querySelectorAll(".legend button")) {
    button.addEventListener("click", () => {
      const name = button.dataset.group;
      button.setAttribute("aria-pressed", hidden.has(name));
      if (!hidden.delete(name)) hidden.add(name);
      draw();
    });
  }
  return draw;
});

const drawAll = () => figures.forEach((draw) => draw());
drawAll();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
for (const [event, on] of [["beforeprint", true], ["afterprint", false]]) {
  addEventListener(event, () => {
    root.toggleAttribute("data-print", on);
    drawAll();
  });
}
