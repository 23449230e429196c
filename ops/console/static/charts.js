// Draws the table of minutes.  The table is what is read without scripts, and what is drawn with them.
"use strict";

(() => {
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const column = (name) => [...document.querySelectorAll("#minutes tbody tr")].map((row) => {
    const text = row.dataset[name];
    return text === "" ? null : Number(text);
  });
  const span = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : ms < 60000 ? `${+(ms / 1000).toFixed(1)} s` : `${+(ms / 60000).toFixed(1)} min`);
  const KINDS = {
    throughput: {
      columns: ["created", "completed", "failed"],
      series: () => [
        { label: "created", stroke: colour("--idle"), width: 1.5, dash: [4, 3], points: { show: false } },
        { label: "completed", stroke: colour("--done"), fill: `${colour("--done")}1f`, width: 2, points: { show: false } },
        { label: "failed", stroke: colour("--bad"), width: 2, points: { show: false } },
      ],
      show: (value) => (value === null ? "–" : String(value)),
    },
    p95: {
      columns: ["p95"],
      series: () => [{ label: "p95", stroke: colour("--working"), fill: `${colour("--working")}1f`, width: 2, points: { size: 5 } }],
      show: (value) => (value === null ? "–" : span(value)),
    },
  };
  const plots = new Map();

  const data = (kind) => [column("begins").map((ms) => ms / 1000), ...kind.columns.map(column)];
  const size = (element) => ({ width: element.clientWidth, height: 196 });
  const axis = { font: "12px system-ui, sans-serif", ticks: { show: false } };
  const build = (element, kind) => {
    const grid = { stroke: colour("--line"), width: 1 };
    const stroke = colour("--muted");
    const values = kind.series().map((it) => ({ ...it, value: (_, raw) => kind.show(raw) }));
    return new uPlot({
      ...size(element),
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      scales: { y: { range: (_, low, high) => [0, Math.max(kind.columns.length > 1 ? 4 : 10, high * 1.1)] } },
      cursor: { y: false, drag: { setScale: false } },
      axes: [
        { ...axis, stroke, size: 30, grid: { show: false }, values: (_, times) => times.map((t) => new Date(t * 1000).toISOString().slice(11, 16)) },
        { ...axis, stroke, grid, size: 64, values: (_, ticks) => ticks.map((t) => (Number.isInteger(t) || kind.columns.length === 1 ? kind.show(t) : "")) },
      ],
      series: [{ label: "at", value: (_, t) => (t === null ? "–" : new Date(t * 1000).toISOString().slice(11, 16)) }, ...values],
    }, data(kind), element);
  };
  const draw = (anew = false) => {
    for (const element of document.querySelectorAll("[data-plot]")) {
      const kind = KINDS[element.dataset.plot];
      const plot = plots.get(element);
      if (plot && !anew) {
        plot.setData(data(kind));
        continue;
      }
      plot?.destroy();
      plots.set(element, build(element, kind));
    }
  };

  draw();
  document.addEventListener("htmx:afterSettle", () => draw());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(true));
  new ResizeObserver(() => {
    for (const [element, plot] of plots) plot.setSize(size(element));
  }).observe(document.getElementById("main"));
})();
