// Puts model, drawing and outline together.
const MOST_MARKS = 5000;
const $ = (id) => document.getElementById(id);

class Explorer {
  constructor(data) {
    this.model = new Model(data);
    this.drawing = new Drawing(this.model, data.palette, $("graph"));
    this.drawing.colourLevel = data.colourLevel;
    this.drawing.onmove = () => this.say();
    this.outline = new Outline(this.model, $("outline"), (id) => this.drawing.colourOf(id));
    this.title = data.title;
    this.selected = -1;
    // Fine levels of a large graph wait until they are asked for.
    const coarse = data.counts.findIndex((count) => count <= MOST_MARKS);
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
    $("show").append(option(-1, "as opened by hand"));
    $("show").value = shown;
    $("colour").append(option(this.model.height, "none"));
    $("colour").value = data.colourLevel;
  }

  async start() {
    this.drawing.fit(this.model.root);
    this.refresh(); // before there is a plot, so that it is drawn once
    await this.drawing.show();
    requestAnimationFrame(() => setTimeout(() => performance.mark("drawn")));
  }

  refresh() {
    this.walk = this.model.walk();
    this.drawing.update(this.walk);
    this.outline.update(this.walk.rows);
    this.say();
    this.tell();
  }

  say(text) {
    const { marks } = this.drawing, hidden = this.drawing.hidden;
    const rest = hidden ? `, ${hidden.toLocaleString("en")} lightest not drawn: zoom in` : "";
    const links = this.drawing.links.length.toLocaleString("en");
    $("status").textContent = text || `${marks.length.toLocaleString("en")} marks, ${links} edges between them${rest}`;
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
    this.tell();
  }

  // Graph and outline both say where the pointer is; leaving one must not undo the other.
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

  // What is known of the selected cluster or node.
  tell() {
    const { model } = this, id = this.selected < 0 ? model.root : this.selected;
    const number = (x) => x.toLocaleString("en", { maximumFractionDigits: 4 });
    const whole = model.below[model.root] || 1;
    const facts = [["Level", String(model.level[id])]];
    if (!model.isLeaf(id)) facts.push(["Nodes", number(model.size[id])]);
    facts.push([model.isLeaf(id) ? "Degree" : "Volume", number(model.volume[id])]);
    if (id !== model.root) facts.push(["Weight that leaves", number(model.boundary[id])], ["Entropy it adds", `${bitsText(model.bits[id])} bits`]);
    if (!model.isLeaf(id)) {
      facts.push(["Entropy below it", `${bitsText(model.below[id])} bits`]);
      if (id !== model.root) facts.push(["Of all", `${((model.bits[id] + model.below[id]) / whole * 100).toFixed(1)} %`]);
    }
    const heading = document.createElement("h2"), name = document.createElement("bdi"), list = document.createElement("dl");
    name.textContent = shorten(model.name(id), 500);
    heading.append(name);
    for (const [term, text] of facts) {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = term;
      dd.textContent = text;
      list.append(dt, dd);
    }
    const buttons = [];
    const button = (text, act) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = text;
      made.addEventListener("click", () => {
        act();
        $("facts").querySelector("button").focus(); // the one that was pressed may be gone
      });
      buttons.push(made);
    };
    if (!model.isLeaf(id) && id !== model.root) button(model.open[id] ? "Close" : "Open", () => this.toggle(id, !model.open[id]));
    button("Zoom to", () => this.drawing.fit(id));
    $("facts").replaceChildren(heading, list, ...buttons);
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
    new Finder(this, $("find"), $("found"));
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && !/^(INPUT|SELECT)$/.test(event.target.tagName)) {
        event.preventDefault();
        $("find").focus();
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
      if (performance.now() - opened < 500) return; // the first click has just opened it
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

  // Closes a cluster, or the one around it if there is nothing to close.
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
    this.say(`Saved ${link.download}`);
  }

  // Where a node of a level is on the screen, for scripts that drive the page.
  screen(level, index) {
    const id = this.model.offset[level] + index, box = $("graph").getBoundingClientRect();
    const { x_range: h, y_range: v } = this.drawing.plot, scale = this.drawing.scale();
    return [box.left + (this.model.x[id] - h.start) * scale, box.top + (v.end - this.model.y[id]) * scale];
  }
}

Bokeh.set_log_level("warn");
window.explorer = new Explorer(JSON.parse($("data").textContent));
window.explorer.start();
