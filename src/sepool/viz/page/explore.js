// The page: model, drawing, outline, search and controls.
const MAX_MARKS = 5000;
const $ = (id) => document.getElementById(id);

class Explorer {
  constructor(data) {
    this.model = new Model(data);
    this.drawing = new Drawing(this.model, data.palette, $("graph"));
    this.drawing.colourLevel = data.colourLevel;
    this.drawing.onmove = () => { if (this.drawing.hidden !== this.hiddenBefore) this.setStatus(); };
    this.outline = new Outline(this.model, $("outline"), (id) => this.drawing.colourOf(id));
    this.title = data.title;
    this.selected = -1;
    // Large graphs start on a coarse level.
    const coarse = data.counts.findIndex((count) => count <= MAX_MARKS);
    this.model.showLevel(Math.min(coarse, Math.max(this.model.height - 1, 0)));
    this.fillSelects(data, Math.min(coarse, this.model.height - 1));
    this.listen();
  }

  fillSelects(data, shown) {
    const option = (level, text) => {
      const item = document.createElement("option");
      item.value = level;
      item.textContent = text;
      return item;
    };
    data.counts.slice(0, -1).forEach((count, level) => {
      const what = level ? "clusters" : "nodes";
      $("show").append(option(level, `${level}: ${count.toLocaleString("en")} ${what}`));
      if (level) $("colour").append(option(level, `${level}: ${count.toLocaleString("en")} ${what}`));
    });
    $("show").append(option(-1, "custom"));
    $("show").value = shown;
    $("colour").append(option(this.model.height, "none"));
    $("colour").value = data.colourLevel;
  }

  async start() {
    this.drawing.fit(this.model.root);
    this.refresh(); // before the plot exists: a single draw
    await this.drawing.show();
    requestAnimationFrame(() => setTimeout(() => performance.mark("drawn")));
  }

  refresh() {
    this.walk = this.model.walk();
    this.drawing.update(this.walk);
    this.outline.update(this.walk.rows);
    this.setStatus();
    this.showDetails();
  }

  setStatus(text) {
    const { marks } = this.drawing, hidden = this.drawing.hidden;
    this.hiddenBefore = hidden; // layout events of the plot must not replace a message
    const suffix = hidden ? `, ${hidden.toLocaleString("en")} lightest hidden: zoom in` : "";
    const links = this.drawing.links.length.toLocaleString("en");
    $("status").textContent = text || `${marks.length.toLocaleString("en")} visible nodes, ${links} edges${suffix}`;
  }

  toggle(id, open) {
    if (this.model.isLeaf(id) || id === this.model.root) return;
    if (open) this.model.expand(id); else this.model.collapse(id);
    $("show").value = -1;
    this.refresh();
  }

  select(id) {
    this.selected = this.drawing.selected = this.outline.selected = id;
    if (id >= 0) this.outline.active = id;
    this.drawing.highlight();
    if (id >= 0) this.outline.scrollTo(id); else this.outline.draw();
    this.showDetails();
  }

  // Graph and outline both report the pointer; leaving one must not reset the other.
  hover(id, from) {
    if (id < 0 && from !== this.hoveredFrom) return;
    this.hoveredFrom = from;
    if (id === this.drawing.hovered) return;
    this.drawing.hovered = id;
    this.drawing.highlight();
    this.outline.hover(id);
  }

  goTo(id) {
    this.model.reveal(id);
    $("show").value = -1;
    this.refresh();
    this.select(id);
    this.drawing.fit(id);
  }

  // Details of the selected cluster or node.
  showDetails() {
    const { model } = this, id = this.selected < 0 ? model.root : this.selected;
    const number = (x) => x.toLocaleString("en", { maximumFractionDigits: 4 });
    const entropy = model.below[model.root] || 1;
    const details = [["Level", String(model.level[id])]];
    if (!model.isLeaf(id)) details.push(["Nodes", number(model.size[id])]);
    details.push([model.isLeaf(id) ? "Degree" : "Volume", number(model.volume[id])]);
    if (id !== model.root) details.push(["Boundary", number(model.boundary[id])], ["Entropy contribution", `${bitsText(model.bits[id])} bits`]);
    if (!model.isLeaf(id)) {
      details.push(["Entropy below", `${bitsText(model.below[id])} bits`]);
      if (id !== model.root) details.push(["Share of the entropy", `${((model.bits[id] + model.below[id]) / entropy * 100).toFixed(1)} %`]);
    }
    const heading = document.createElement("h2"), name = document.createElement("bdi"), list = document.createElement("dl");
    name.textContent = shorten(model.name(id), 500);
    heading.append(name);
    for (const [term, text] of details) {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = term;
      dd.textContent = text;
      list.append(dt, dd);
    }
    const buttons = [];
    const addButton = (text, action) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.addEventListener("click", () => {
        action();
        $("details").querySelector("button").focus(); // the pressed one may be replaced
      });
      buttons.push(button);
    };
    if (!model.isLeaf(id) && id !== model.root) addButton(model.open[id] ? "Collapse" : "Expand", () => this.toggle(id, !model.open[id]));
    addButton("Zoom to", () => this.drawing.fit(id));
    $("details").replaceChildren(heading, list, ...buttons);
  }

  listen() {
    const { model, drawing, outline } = this;
    $("show").addEventListener("change", () => {
      if (Number($("show").value) >= 0) model.showLevel(Number($("show").value));
      this.refresh();
    });
    $("colour").addEventListener("change", () => {
      drawing.colourLevel = Number($("colour").value);
      this.refresh();
    });
    $("fit").addEventListener("click", () => drawing.fit(model.root));
    $("png").addEventListener("click", async () => this.save(await drawing.png(), "png"));
    $("csv").addEventListener("click", () => this.save(new Blob([model.csv()], { type: "text/csv" }), "csv"));
    this.listenToGraph();
    this.listenToOutline();
    new Search(this, $("query"), $("results"));
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && !/^(INPUT|SELECT)$/.test(event.target.tagName)) {
        event.preventDefault();
        $("query").focus();
      }
    });
  }

  listenToGraph() {
    const { model, drawing } = this;
    const slack = () => 3 / drawing.scale();
    let opened = -Infinity;
    drawing.plot.on_event("mousemove", ({ x, y }) => {
      const id = model.at(x, y, slack());
      this.hover(id === model.root ? -1 : id, "graph");
    });
    drawing.plot.on_event("mouseleave", () => this.hover(-1, "graph"));
    drawing.plot.on_event("tap", ({ x, y }) => {
      const id = model.at(x, y, slack());
      if (id === model.root) return this.select(-1);
      if (!model.isLeaf(id) && !model.open[id]) {
        opened = performance.now();
        this.toggle(id, true);
      }
      this.select(id);
    });
    drawing.plot.on_event("doubletap", ({ x, y }) => {
      if (performance.now() - opened < 500) return; // the first click expanded it
      let id = model.at(x, y, slack());
      if (model.isLeaf(id)) id = model.parent[id];
      this.toggle(id, false);
      this.select(id === model.root ? -1 : id);
    });
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    $("graph").addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (moves[event.key]) drawing.pan(...moves[event.key]);
      else if (event.key === "+" || event.key === "=") drawing.zoom(0.8);
      else if (event.key === "-") drawing.zoom(1.25);
      else if (event.key === "0") drawing.fit(model.root);
      else if (event.key === "Enter" && this.selected >= 0) this.toggle(this.selected, true);
      else if (event.key === "Backspace" && this.selected >= 0) this.close(this.selected);
      else if (event.key === "Escape") this.select(-1);
      else return;
      event.preventDefault();
    });
  }

  // Collapse a cluster, or its parent if it is collapsed already.
  close(id) {
    const target = this.model.open[id] ? id : this.model.parent[id];
    this.toggle(target, false);
    this.select(target);
  }

  listenToOutline() {
    const { model, outline } = this;
    const activate = (id) => { outline.active = id; this.hover(id === model.root ? -1 : id, "outline"); outline.scrollTo(id); };
    $("outline").addEventListener("mousemove", (event) => {
      const id = outline.idOf(event);
      this.hover(id === model.root ? -1 : id, "outline");
    });
    $("outline").addEventListener("mouseleave", () => this.hover(-1, "outline"));
    $("outline").addEventListener("click", (event) => {
      const id = outline.idOf(event);
      if (id < 0) return;
      if (!model.isLeaf(id)) this.toggle(id, !model.open[id]);
      this.select(id);
    });
    $("outline").addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const id = outline.active;
      if (/^(Arrow(Up|Down)|Page(Up|Down)|Home|End)$/.test(event.key)) activate(outline.neighbour(event.key));
      else if (event.key === "ArrowRight" && !model.isLeaf(id)) {
        if (model.open[id]) activate(model.childrenOf(id)[0]); else this.toggle(id, true);
      } else if (event.key === "ArrowLeft" && id !== model.root) {
        if (!model.isLeaf(id) && model.open[id]) this.toggle(id, false); else activate(model.parent[id]);
      } else if (event.key === "Enter" || event.key === " ") {
        this.select(id);
        this.drawing.fit(id);
      } else return;
      event.preventDefault();
    });
  }

  save(blob, suffix) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${this.title.replace(/[^\w.-]+/g, "_").slice(0, 60) || "graph"}.${suffix}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    this.setStatus(`Saved ${link.download}`);
  }

  // Position of a node on the screen, for browser tests.
  screen(level, index) {
    const id = this.model.offset[level] + index, box = $("graph").getBoundingClientRect();
    const { x_range: h, y_range: v } = this.drawing.plot, scale = this.drawing.scale();
    return [box.left + (this.model.x[id] - h.start) * scale, box.top + (v.end - this.model.y[id]) * scale];
  }
}

Bokeh.set_log_level("warn");
window.explorer = new Explorer(JSON.parse($("data").textContent));
window.explorer.start();
