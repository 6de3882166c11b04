// Draws a figure (Plotly JSON whose colours and fonts are roles such as "role:c1" or "role:c1@0.4") in the page's theme.
//
// Markup:  <figure class="chart" data-chart> <script type="application/json">{data, layout}</script> </figure>
// Script:  <script defer src="charts.js" data-plotly="plotly.min.js"></script>
// Nothing is animated, so that there is no motion to reduce. Plotly is fetched only once a chart is on the page. Without JavaScript the table beside the chart says the same.
(() => {
  "use strict";
  const source = document.currentScript.dataset.plotly;
  const NARROW_PX = 520;
  const ROLE = /^role:([a-z0-9-]+)(?:@([0-9.]+))?$/;
  const drawn = new Set();
  let loading = null;

  const plotly = () => {
    if (window.Plotly) return Promise.resolve(window.Plotly);
    loading ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = source;
      script.onload = () => resolve(window.Plotly);
      script.onerror = () => { loading = null; reject(new Error(`could not load ${source}`)); };
      document.head.append(script);
    });
    return loading;
  };

  const faded = (colour, opacity) => {
    const hex = colour.replace("#", "");
    const full = hex.length === 3 ? [...hex].map((digit) => digit + digit).join("") : hex;
    const parts = [0, 2, 4].map((at) => parseInt(full.slice(at, at + 2), 16));
    return parts.some(Number.isNaN) ? colour : `rgba(${parts.join(",")},${opacity})`;
  };

  const themed = (value, style) => {
    if (Array.isArray(value)) return value.map((item) => themed(item, style));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, themed(item, style)]));
    }
    const match = typeof value === "string" ? ROLE.exec(value) : null;
    if (!match) return value;
    const found = style.getPropertyValue(`--${match[1]}`).trim();
    return match[2] ? faded(found, match[2]) : found;
  };

  const fitted = (layout, width) => {
    const fit = { ...layout, width, height: layout.meta?.body_px ?? layout.height, autosize: false, showlegend: false };
    if (width < NARROW_PX && fit.xaxis) fit.xaxis = { ...fit.xaxis, nticks: 4 };
    return fit;
  };

  // Plotly's own legend wraps into columns as wide as its longest entry; a list of our own wraps as text does.
  const legend = (entries, style) => entries.map(({ name, colour, shape }) => {
    const item = document.createElement("li");
    const mark = document.createElement("span");
    mark.className = `chart-mark chart-mark-${shape}`;
    mark.style.backgroundColor = themed(colour, style);
    item.append(mark, name);
    return item;
  });

  const draw = async (figure) => {
    const width = Math.floor(figure.clientWidth);
    if (!width || !figure.isConnected) return;
    const { data, layout } = figure.chart;
    const Plotly = await plotly();
    const style = getComputedStyle(figure);
    const place = figure.querySelector(".chart-plot");
    await Plotly.react(place, themed(data, style), themed(fitted(layout, width), style), {
      displayModeBar: false, responsive: false, scrollZoom: false, doubleClick: false, showTips: false,
    });
    figure.querySelector(".chart-legend").replaceChildren(...legend(layout.meta?.legend ?? [], style));
    figure.drawnWidth = width;
    figure.dataset.drawn = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    figure.classList.remove("chart-failed");
  };

  const attempt = (figure) => draw(figure).catch((error) => {
    figure.classList.add("chart-failed");
    console.error("chart not drawn, its table holds the same data:", error);
  });

  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      // A new height is our own doing; only a new width needs another drawing.
      if (Math.floor(target.clientWidth) !== target.drawnWidth) requestAnimationFrame(() => attempt(target));
    }
  });

  const adopt = (figure) => {
    if (drawn.has(figure)) return;
    const text = figure.querySelector('script[type="application/json"]')?.textContent ?? "{}";
    const chart = JSON.parse(text);
    if (!chart.data) return;
    figure.chart = chart;
    // A page restored from the browser's history still holds the old drawing.
    figure.querySelectorAll(".chart-plot, .chart-legend").forEach((old) => old.remove());
    const place = document.createElement("div");
    place.className = "chart-plot";
    const list = document.createElement("ul");
    list.className = "chart-legend";
    list.setAttribute("aria-hidden", "true");
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", chart.layout.meta?.alt ?? "");
    figure.prepend(list, place);
    drawn.add(figure);
    resized.observe(figure);
  };

  const adoptAll = (root) => {
    for (const gone of [...drawn].filter((figure) => !figure.isConnected)) {
      resized.unobserve(gone);
      if (window.Plotly) window.Plotly.purge(gone.querySelector(".chart-plot"));
      drawn.delete(gone);
    }
    if (root.matches?.("[data-chart]")) adopt(root);
    root.querySelectorAll?.("[data-chart]").forEach(adopt);
  };

  const redrawAll = () => drawn.forEach((figure) => figure.isConnected && attempt(figure));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  new MutationObserver(redrawAll).observe(document.documentElement, { attributeFilter: ["class", "data-theme"] });
  document.addEventListener("htmx:load", (event) => adoptAll(event.detail?.elt ?? document));
  adoptAll(document);
})();
