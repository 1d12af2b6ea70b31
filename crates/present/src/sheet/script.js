// What the page can do beyond paper: a theme switch, copying, charts that are read and enlarged.
"use strict";
(function () {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");

  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  // The theme: the system's until the reader chooses.
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const theme = element("button", { type: "button", className: "theme" });
  const name = () => { theme.textContent = isDark() ? "Light theme" : "Dark theme"; };
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
  });
  dark.addEventListener("change", name);
  name();
  document.querySelector(".masthead")?.append(theme);

  // Commands and numbers can be copied.
  for (const block of document.querySelectorAll("pre")) {
    const button = element("button", { type: "button", textContent: "Copy" });
    const text = block.textContent;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(block);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    const frame = element("div", { className: "copied" });
    block.replaceWith(frame);
    frame.append(block, button);
  }

  // Any small chart fills the page's width, and is small again.
  for (const panel of document.querySelectorAll(".panel")) {
    const button = element("button", { type: "button", className: "enlarge", textContent: "Enlarge" });
    button.setAttribute("aria-label", "Enlarge the chart of " + panel.querySelector(".panel-name").textContent);
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => button.setAttribute("aria-pressed", panel.classList.toggle("large")));
    panel.append(button);
  }

  const short = (value) => {
    const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
    return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  };

  // Under the pointer, the values of a chart of throughput: from its lines, as they are drawn.
  for (const chart of document.querySelectorAll("[data-axes]")) {
    const [left, right, end, top, bottom, low, high, logarithmic] = chart.dataset.axes.split(" ").map(Number);
    const names = chart.dataset.names.split("\n");
    const { unit } = chart.dataset;
    const svg = chart.querySelector("svg");
    const lines = [...svg.querySelectorAll("path.line")].map((path) => ({
      target: Number(path.classList[1].slice(1)),
      points: [...path.getAttribute("d").matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)].map((found) => [+found[1], +found[2]]),
    }));
    const readout = element("p", { className: "readout" });
    chart.append(readout);
    const value = (y) => {
      const share = (bottom - y) / (bottom - top);
      return logarithmic ? low * (high / low) ** share : low + share * (high - low);
    };
    svg.addEventListener("pointerleave", () => readout.replaceChildren());
    svg.addEventListener("pointermove", (event) => {
      const x = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
      if (x < left || x > right) return readout.replaceChildren();
      const nearest = (points) => points.reduce((one, other) => (Math.abs(other[0] - x) < Math.abs(one[0] - x) ? other : one));
      const parts = lines.map(({ target, points }) => {
        const known = element("b", { textContent: names[target] ?? "", className: "c" + target });
        return element("span", {}, known, " " + short(value(nearest(points)[1])) + " " + unit);
      });
      readout.replaceChildren(element("span", { textContent: short(((x - left) / (right - left)) * end) + " s" }), ...parts);
    });
  }
})();
