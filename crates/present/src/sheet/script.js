// What the page can do beyond paper: a theme switch, copying, and throughput charts that zoom and can be read.
"use strict";
(function () {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const redraws = [];

  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const style = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // The theme: the system's until the reader chooses.
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const masthead = document.querySelector(".masthead");
  if (masthead) {
    const button = element("button", { type: "button", className: "theme" });
    const name = () => { button.textContent = isDark() ? "Light theme" : "Dark theme"; };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      name();
      redraws.forEach((redraw) => redraw());
    });
    dark.addEventListener("change", () => { name(); redraws.forEach((redraw) => redraw()); });
    name();
    masthead.append(button);
  }

  // Commands and numbers can be copied.
  for (const block of document.querySelectorAll("pre.command, pre.csv")) {
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

  const short = (value) => {
    if (value === null || value === undefined) return "–";
    const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
    return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  };

  function timeChart(source) {
    const data = JSON.parse(source.textContent);
    const still = source.parentElement.querySelector(".static-chart");
    const points = Math.max(...data.lines.map((line) => line.values.length));
    const seconds = Array.from({ length: points }, (_, index) => (index + 1) * data.step);
    const padded = (line) => seconds.map((_, index) => line.values[index] ?? null);
    const colour = (line) => style("--s" + (line.target % 6));
    const place = element("div", { className: "live" });
    const readout = element("p", { className: "readout" });
    const canvas = element("div", {});
    // Those who listen hear of the drawn chart what they would hear of the still one.
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", [...still.querySelectorAll("title, desc")].map((said) => said.textContent).join(". "));
    const whole = element("button", { type: "button", textContent: "Show the whole run", hidden: true });
    const rest = () => {
      readout.replaceChildren("Point at the chart to read it, drag to zoom.");
    };
    rest();
    place.append(readout, canvas, whole);

    const read = (plot) => {
      const at = plot.cursor.idx;
      if (at === null || at === undefined) return rest();
      const parts = [element("span", { textContent: short(seconds[at]) + " s" })];
      data.lines.forEach((line, index) => {
        if (!line.main) return;
        const name = element("b", { textContent: data.names[line.target], className: "c" + (line.target % 6) });
        parts.push(element("span", {}, name, " " + short(plot.data[index + 1][at]) + " MB/s"));
      });
      readout.replaceChildren(...parts);
    };

    const throttled = (plot) => {
      const context = plot.ctx;
      for (const [target, at] of data.throttled) {
        const x = plot.valToPos(at, "x", true);
        if (x < plot.bbox.left || x > plot.bbox.left + plot.bbox.width) continue;
        const size = 5 * devicePixelRatio;
        context.fillStyle = style("--s" + (target % 6));
        context.beginPath();
        context.moveTo(x - size, plot.bbox.top - size);
        context.lineTo(x + size, plot.bbox.top - size);
        context.lineTo(x, plot.bbox.top + size);
        context.fill();
      }
    };

    // Names beside the ends of the lines, as on the still chart.
    const names = (plot) => {
      const context = plot.ctx;
      const ratio = devicePixelRatio;
      const right = plot.bbox.left + plot.bbox.width;
      const labels = data.means.map(([target, mean]) => {
        const index = data.lines.findIndex((line) => line.main && line.target === target);
        const values = plot.data[index + 1];
        let last = values.length - 1;
        while (last > 0 && (values[last] === null || seconds[last] > plot.scales.x.max)) last -= 1;
        return { text: data.names[target] + " " + short(mean), y: plot.valToPos(values[last] ?? mean, "y", true), target };
      }).sort((one, other) => one.y - other.y);
      let least = plot.bbox.top + 10 * ratio;
      for (const label of labels) {
        label.y = Math.max(label.y, least);
        least = label.y + 15 * ratio;
      }
      let most = plot.bbox.top + plot.bbox.height;
      for (const label of labels.reverse()) {
        label.y = Math.min(label.y, most);
        most = label.y - 15 * ratio;
      }
      context.save();
      context.textAlign = "left";
      context.textBaseline = "middle";
      context.font = 11.5 * ratio + "px " + getComputedStyle(document.body).fontFamily;
      context.fillStyle = style("--soft");
      context.fillText("table, MB/s", right + 8 * ratio, plot.bbox.top - 4 * ratio);
      context.font = "600 " + 12.5 * ratio + "px " + getComputedStyle(document.body).fontFamily;
      for (const label of labels) {
        context.fillStyle = style("--s" + (label.target % 6));
        context.fillText(label.text, right + 8 * ratio, label.y);
      }
      context.restore();
    };

    let plot = null;
    const draw = () => {
      const width = Math.floor(place.clientWidth);
      if (width < 80) return;
      const range = plot && [plot.scales.x.min, plot.scales.x.max];
      plot?.destroy();
      const axis = { stroke: style("--soft"), grid: { stroke: style("--grid"), width: 1 }, ticks: { stroke: style("--grid") },
        font: "12px " + getComputedStyle(document.body).fontFamily };
      plot = new uPlot({
        width, height: 260, legend: { show: false }, padding: [12, width > 560 ? 130 : 116, 0, 0],
        cursor: { y: false, points: { size: 6 }, drag: { x: true, y: false } },
        scales: { x: { time: false, range: (_, low, high) => [low <= seconds[0] ? 0 : low, high] }, y: data.log ? { distr: 3 } : { range: (_, low, high) => [0, high * 1.05 || 1] } },
        axes: [
          { ...axis, label: "seconds since the first counted request", labelSize: 20, size: 34, labelFont: axis.font },
          { ...axis, label: "MB/s", labelSize: 20, size: 58, labelFont: axis.font },
        ],
        series: [{}, ...data.lines.map((line) => ({
          stroke: line.main ? colour(line) : colour(line) + "66", width: line.main ? 2 : 1, spanGaps: false,
          points: { show: line.values.length < 3 },
        }))],
        hooks: {
          setCursor: [read],
          draw: [throttled, names],
          setScale: [(self, key) => {
            if (key !== "x") return;
            const { min, max } = self.scales.x;
            whole.hidden = !(min > seconds[0] || max < seconds[points - 1]);
          }],
        },
      }, [seconds, ...data.lines.map(padded)], canvas);
      if (range && range[0] !== undefined) plot.setScale("x", { min: range[0], max: range[1] });
    };
    whole.addEventListener("click", () => plot?.setScale("x", { min: seconds[0], max: seconds[points - 1] }));

    // The still chart stays for paper: hidden on screen only.
    const frame = still.closest(".scroll");
    frame.after(place);
    frame.hidden = true;
    redraws.push(draw);
    new ResizeObserver(() => {
      if (!plot || Math.abs(plot.width - Math.floor(place.clientWidth)) > 1) draw();
    }).observe(place);
    draw();
  }

  for (const source of document.querySelectorAll("script[data-series]")) {
    try {
      timeChart(source);
    } catch (error) {
      console.error(error);
    }
  }
})();
