// The page: model, drawing, outline, search and controls.
const MAX_NODES = 5000; // shown at the start; larger graphs open on their highest level

class Explorer {
  constructor(head) {
    this.model = new Model(head);
    this.drawing = new Drawing(this.model, $("graph"));
    this.outline = new Outline(this.model, $("outline"), (id) => this.drawing.colourOf(id));
    this.tooltip = new Tooltip($("tip"), this.model);
    this.title = head.title;
    this.selected = -1;
    this.drawing.onmove = () => this.count();
    const level = this.firstLevel(head);
    this.model.showLevel(level);
    this.fillSelects(head, level);
    this.theme = new Theme($("theme"), (colours) => {
      this.drawing.setTheme(colours);
      if (this.walk) this.recolour();
    });
    listenToGraph(this);
    listenToOutline(this);
    listenToControls(this);
    new Search(this, $("query"), $("results"));
  }

  firstLevel({ counts }) {
    if (counts[0] <= MAX_NODES) return 0;
    let level = counts.length - 2;
    while (level > 0 && counts[level] === 1) level--;
    return level;
  }

  fillSelects({ counts, classes }, shown) {
    const add = (select, value, text) => {
      const item = element("option", "", text);
      item.value = value;
      select.append(item);
    };
    if (classes) add($("colour"), "class", "labels");
    counts.slice(0, -1).forEach((count, level) => {
      const text = `${level}: ${counted(count, level ? "cluster" : "node")}`;
      add($("show"), level, text);
      if (level) add($("colour"), level, text);
    });
    add($("show"), -1, "custom");
    add($("colour"), this.model.height, "none");
    $("show").value = shown;
    this.colourBy(classes ? "class" : String(Math.min(1, this.model.height)));
  }

  async start() {
    this.drawing.view.fit(this.model.root);
    this.refresh(); // before the plot exists: a single draw
    await this.drawing.show();
    await new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); });
    performance.mark("drawn");
  }

  colourBy(value) {
    $("colour").value = value;
    this.drawing.colourBy = value === "class" ? value : Number(value);
    showLegend($("legend"), value === "class" ? this.model.head.classes : null);
    if (this.walk) this.recolour();
  }

  recolour() {
    this.drawing.recolour();
    this.outline.draw();
  }

  refresh() {
    this.walk = this.model.walk();
    this.drawing.update(this.walk);
    this.outline.update(this.walk);
    this.say("");
    this.showDetails();
  }

  // Change the model and redraw, measured until the frame is painted.
  async timed(change) {
    const start = performance.now();
    change();
    this.refresh();
    await this.drawing.settled();
    performance.measure("changed", { start });
  }

  // The numbers of visible and of drawn nodes and edges; messages have an element of their own.
  count() {
    const { marks, links, drawn } = this.drawing, text = (number) => number.toLocaleString("en");
    const nodes = drawn.marks < marks.length ? `${text(drawn.marks)} of ${text(marks.length)} visible nodes` : counted(marks.length, "visible node");
    let edges = counted(links.length, "edge");
    if (drawn.links < links.length) edges = `${text(drawn.links)} of ${edges}, ${drawn.links < drawn.visible ? "the heaviest" : "those in view"}`;
    $("status").textContent = `${nodes}, ${edges}`;
  }

  say(text) { $("message").textContent = text; }

  toggle(id, open) {
    if (this.model.isSingle(id) || id === this.model.root) return;
    $("show").value = -1;
    this.timed(() => { if (open) this.model.expand(id); else this.model.collapse(id); });
  }

  select(id) {
    this.selected = this.drawing.selected = this.outline.selected = id;
    if (id >= 0) this.outline.active = id;
    this.drawing.highlight();
    if (id >= 0) this.outline.scrollTo(id); else this.outline.draw();
    this.showDetails();
  }

  // Graph and outline both report the pointer; leaving one must not reset the other.
  hover(id, from, event) {
    if (id < 0 && from !== this.hoveredFrom) return;
    this.hoveredFrom = from;
    this.tooltip.show(id, event);
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
    this.drawing.view.fit(id);
  }

  showDetails() {
    const { model } = this, id = this.selected < 0 ? model.root : this.selected, actions = [];
    if (!model.isSingle(id) && id !== model.root) {
      actions.push([model.open[id] ? "Collapse" : "Expand", () => this.toggle(id, !model.open[id])]);
    }
    actions.push(["Zoom to", () => this.drawing.view.fit(id)]);
    showDetails($("details"), model, id, actions);
  }

  // Collapse a cluster, or the one around it if it is collapsed already.
  close(id) {
    const target = this.model.open[id] ? id : this.model.parentOf(id);
    this.toggle(target, false);
    this.select(target);
  }

  save(blob, suffix) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${this.title.replace(/[^\w.-]+/g, "_").slice(0, 60) || "graph"}.${suffix}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    this.say(`Saved ${link.download}`);
  }

  settled() { return this.drawing.settled(); }

  // Position of a node on the screen, for browser tests.
  screen(level, index) {
    const box = $("graph").getBoundingClientRect(), { x, y } = this.drawing.view.disk(this.model.offset[level] + index);
    return [box.left + x, box.bottom - y];
  }
}

Bokeh.set_log_level("warn");
window.explorer = new Explorer(JSON.parse($("data").textContent));
window.explorer.ready = window.explorer.start();
