// The graph on a Bokeh plot: expanded clusters as disks, other nodes as marks, edges between marks.
const MAX_LINKS = 10000; // drawn
const MAX_MARKS = 10000; // drawn
const MIN_RINGED = 100; // visible marks from which expanded clusters have labels
const MAX_NEAR = 2000; // highlighted edges
const ISOLATE = ["\u2068", "\u2069"]; // around names, which may run right to left

class Drawing {
  constructor(model, element) {
    this.model = model;
    this.element = element;
    this.source = new Links(model);
    this.hovered = this.selected = -1;
    this.marks = this.rings = [];
    this.links = { a: [], b: [], w: [], length: 0 };
    this.drawn = { links: 0, marks: 0 };
    this.theme = THEMES.light;
    this.make();
    this.view = new View(this.plot, model, element);
  }

  make() {
    const { ColumnDataSource, Range1d, Plot, PanTool, WheelZoomTool, Circle, Segment, Text } = Bokeh;
    const source = (...columns) => new ColumnDataSource({ data: Object.fromEntries(columns.map((c) => [c, []])) });
    const field = (name) => ({ field: name });
    this.plot = new Plot({
      x_range: new Range1d({ start: -1, end: 1 }), y_range: new Range1d({ start: -1, end: 1 }),
      sizing_mode: "stretch_both", toolbar_location: null, outline_line_color: null,
      min_border: 0, lod_threshold: 3000, lod_timeout: 200, lod_factor: 20,
    });
    this.sources = {
      disks: source("x", "y", "r", "fill"), links: source("x0", "y0", "x1", "y1", "width"),
      near: source("x0", "y0", "x1", "y1"), marks: source("x", "y", "r", "fill"),
      rings: source("x", "y", "r", "colour"), labels: source("x", "y", "text", "ink", "back"),
    };
    const ends = { x0: field("x0"), y0: field("y0"), x1: field("x1"), y1: field("y1") };
    const round = { x: field("x"), y: field("y"), radius: field("r"), fill_color: field("fill") };
    // Highlights have a layer of their own: hovering does not redraw the graph.
    const add = (name, glyph, level = "glyph") => { this.plot.add_glyph(glyph, this.sources[name], { level }); return glyph; };
    this.glyphs = {
      disks: add("disks", new Circle({ ...round, fill_alpha: 0.13, line_color: field("fill"), line_alpha: 0.8 })),
      links: add("links", new Segment({ ...ends, line_width: field("width"), line_alpha: 0.3 })),
      near: add("near", new Segment({ ...ends, line_width: 1.6, line_alpha: 0.8 }), "overlay"),
      marks: add("marks", new Circle({ ...round, line_width: 0.5 })),
      rings: add("rings", new Circle({ x: field("x"), y: field("y"), radius: field("r"), fill_color: null, line_color: field("colour"), line_width: 3 }), "overlay"),
      labels: add("labels", new Text({
        x: field("x"), y: field("y"), text: field("text"), text_align: "center", text_baseline: "middle", text_font_size: "12px",
        text_font: "system-ui, sans-serif", text_color: field("ink"), background_fill_color: field("back"), background_fill_alpha: 0.7,
        text_line_height: 1.2, padding: 1, border_radius: 3,
      }), "overlay"),
    };
    const wheel = new WheelZoomTool();
    this.plot.add_tools(new PanTool(), wheel);
    this.plot.toolbar.active_scroll = wheel;
  }

  async show() {
    this.shown = await Bokeh.Plotting.show(this.plot, this.element);
    const moved = () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => { this.timer = 0; this.updateView(); }, 100);
    };
    this.plot.x_range.change.connect(moved);
    new ResizeObserver(() => { this.view.change(1); moved(); }).observe(this.element);
  }

  // Resolve once the plot is painted: Bokeh waits for at most a 60th of a second, then for a frame.
  async settled() {
    do {
      await new Promise((resolve) => { setTimeout(resolve, 20); });
      await new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); });
    } while (this.timer);
  }

  setTheme(theme) {
    const { links, near, marks } = this.glyphs;
    this.theme = theme;
    this.plot.setv({ background_fill_color: theme.back, border_fill_color: theme.back });
    links.line_color = theme.edge;
    near.line_color = theme.near;
    marks.line_color = theme.rim;
  }

  colourOf(id) {
    return this.theme.lift ? blend(this.baseColour(id), "#ffffff", 1 - this.theme.lift) : this.baseColour(id);
  }

  // The colour of a cluster or node: by `colourBy`, a level, or its class.
  baseColour(id) {
    const { model } = this, { classes } = model.head;
    if (id === model.root) return this.theme.plain;
    if (this.colourBy === "class") return blend(classes.colours[model.class[id]], "#9aa5b3", model.share[id]);
    const level = Math.max(model.level[id], this.colourBy);
    return level >= model.height ? this.theme.plain : hex(model.fill(model.ancestor(id, level)));
  }

  // Redraw after a change of clusters.
  update(walk) {
    this.marks = walk.marks;
    this.disks = walk.disks;
    this.links = this.source.between(walk.marks);
    this.byVolume = walk.marks.concat(walk.disks).sort((a, b) => this.model.volume[b] - this.model.volume[a] || b - a);
    this.recolour();
  }

  // Redraw after a change of clusters or colours.
  recolour() {
    this.sources.disks.data = this.circles(this.disks, 1);
    this.dirty = true;
    this.updateView();
    this.highlight();
  }

  circles(ids, shrink) {
    const { model } = this;
    return {
      x: ids.map((id) => model.x[id]), y: ids.map((id) => model.y[id]),
      r: ids.map((id) => model.r[id] * shrink), fill: ids.map((id) => this.colourOf(id)),
    };
  }

  // Update visible marks, edges and labels after panning and zooming.
  updateView() {
    const { view, marks, links } = this;
    const many = marks.length > MAX_MARKS;
    if (this.dirty || many) {
      const drawn = many ? this.byVolume.filter((id) => !this.model.open[id] && view.shows(id)).slice(0, MAX_MARKS) : marks;
      this.drawn.marks = drawn.length;
      this.sources.marks.data = this.circles(drawn, 0.88);
    }
    if (this.dirty || links.length > MAX_LINKS) this.drawLinks();
    this.dirty = false;
    const { r } = this.sources.marks.data, mean = r.reduce((sum, value) => sum + value, 0) / r.length;
    this.glyphs.marks.line_alpha = mean * view.scale < 4 ? 0 : 1; // a rim would hide small marks
    this.label();
    this.onmove?.();
  }

  drawLinks() {
    const { links } = this, { x, y } = this.model, [left, right, bottom, top] = this.view.box;
    const visible = (i) => {
      const a = links.a[i], b = links.b[i];
      return Math.max(x[a], x[b]) >= left && Math.min(x[a], x[b]) <= right && Math.max(y[a], y[b]) >= bottom && Math.min(y[a], y[b]) <= top;
    };
    const { chosen, total } = heaviest(links, MAX_LINKS, links.length > MAX_LINKS ? visible : null);
    this.drawn.links = chosen.length;
    this.drawn.visible = total;
    const max = chosen.length ? links.w[chosen.at(-1)] : 1;
    const width = Math.min(3, Math.max(0.6, 60 / Math.sqrt(chosen.length || 1)));
    this.glyphs.links.line_alpha = Math.min(0.45, Math.max(0.14, 12 / Math.sqrt(chosen.length || 1)));
    this.sources.links.data = {
      ...this.lines(chosen), width: chosen.map((i) => width * (0.35 + 0.65 * Math.sqrt(links.w[i] / max))),
    };
  }

  lines(indices) {
    const { x, y } = this.model, { a, b } = this.links;
    return {
      x0: indices.map((i) => x[a[i]]), y0: indices.map((i) => y[a[i]]),
      x1: indices.map((i) => x[b[i]]), y1: indices.map((i) => y[b[i]]),
    };
  }

  label() {
    const { model, view, theme } = this, [left, , bottom] = view.box, { scale } = view;
    const disks = [], visible = this.marks.filter((id) => view.shows(id)).length;
    for (const id of this.byVolume) {
      // Few nodes have names of their own.
      if (!view.shows(id) || (model.open[id] && !model.isLeaf(id) && visible < MIN_RINGED)) continue;
      disks.push({ ...view.disk(id), ring: model.open[id] === 1, name: () => model.name(id) });
      if (disks.length >= MAX_MARKS) break;
    }
    const placed = placeLabels(disks, this.element.clientWidth, this.element.clientHeight);
    const middle = (box, i) => (box[i] + box[i + 2]) / 2 / scale;
    this.sources.labels.data = {
      x: placed.map(({ box }) => left + middle(box, 0)), y: placed.map(({ box }) => bottom + middle(box, 1)),
      text: placed.map(({ lines }) => lines.map((line) => ISOLATE.join(line)).join("\n")),
      ink: placed.map(({ id, inside }) => (inside ? inkOn(this.colourOf(id)) : theme.text)),
      back: placed.map(({ inside }) => (inside ? "#00000000" : theme.back)),
    };
    this.labels = placed;
  }

  highlight() {
    const { model, theme } = this;
    const rings = [[this.hovered, theme.hover], [this.selected, theme.selected]].filter(([id]) => id >= 0 && id !== model.root);
    this.sources.rings.data = {
      x: rings.map(([id]) => model.x[id]), y: rings.map(([id]) => model.y[id]),
      r: rings.map(([id]) => model.r[id]), colour: rings.map(([, colour]) => colour),
    };
    const id = this.selected, near = [];
    if (id >= 0) {
      const { a, b, length } = this.links;
      for (let i = 0; i < length && near.length < MAX_NEAR; i++) if (a[i] === id || b[i] === id) near.push(i);
    }
    this.sources.near.data = this.lines(near);
  }

  png() {
    const { canvas } = this.shown.export("png", true);
    return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
  }
}
