// The graph on a Bokeh plot: expanded clusters as disks, other nodes as marks, edges between marks.
const MAX_LINKS = 20000;
const MAX_LABELS = 70;
const MAX_AVOIDED = 400; // marks that labels avoid
const ISOLATE = ["\u2068", "\u2069"]; // around names, which may run right to left

// Replace control characters and truncate.
function shorten(text, max) {
  const letters = Array.from(text.slice(0, 4 * max), (c) => (/\p{C}|\p{Zl}|\p{Zp}/u.test(c) ? " " : c));
  return letters.length > max ? letters.slice(0, max - 1).join("") + "…" : letters.join("");
}

// Candidate boxes (left, bottom, right, top) of a disk's label: inside if it fits, else around it.
function labelBoxes({ x, y, r }, half, outside) {
  const at = ([dx, dy]) => [x + dx - half, y + dy - 9, x + dx + half, y + dy + 9];
  const around = [[0, -r - 9], [0, r + 9], [r + half, 0], [-r - half, 0]];
  return (outside && half > r ? [...around, [0, 0]] : [[0, 0]]).map(at);
}

const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

function covers([left, bottom, right, top], { x, y, r }) {
  const clamp = (value, from, to) => Math.min(Math.max(value, from), to);
  return Math.hypot(x - clamp(x, left, right), y - clamp(y, bottom, top)) < 0.85 * r;
}

class Drawing {
  constructor(model, palette, element) {
    this.model = model;
    this.palette = palette;
    this.element = element;
    this.hovered = this.selected = -1;
    this.marks = this.links = [];
    this.make();
  }

  make() {
    const { ColumnDataSource, Range1d, Plot, PanTool, WheelZoomTool, Circle, Segment, Text } = Bokeh;
    const source = (...columns) => new ColumnDataSource({ data: Object.fromEntries(columns.map((c) => [c, []])) });
    const field = (name) => ({ field: name });
    this.plot = new Plot({
      x_range: new Range1d({ start: -1, end: 1 }), y_range: new Range1d({ start: -1, end: 1 }),
      sizing_mode: "stretch_both", toolbar_location: null, outline_line_color: null,
      min_border: 0, background_fill_color: "#ffffff", lod_threshold: 6000, lod_timeout: 250,
    });
    this.sources = {
      disks: source("x", "y", "r", "fill"), links: source("x0", "y0", "x1", "y1", "width"),
      near: source("x0", "y0", "x1", "y1"), marks: source("x", "y", "r", "fill"),
      rings: source("x", "y", "r", "colour"), labels: source("x", "y", "text"),
    };
    const ends = { x0: field("x0"), y0: field("y0"), x1: field("x1"), y1: field("y1") };
    const round = { x: field("x"), y: field("y"), radius: field("r"), fill_color: field("fill") };
    // Highlights have a layer of their own: hovering does not redraw the graph.
    const add = (glyph, name, level = "glyph") => this.plot.add_glyph(glyph, this.sources[name], { level });
    add(new Circle({ ...round, fill_alpha: 0.13, line_color: field("fill"), line_alpha: 0.8 }), "disks");
    this.edges = new Segment({ ...ends, line_width: field("width"), line_color: "#59626e", line_alpha: 0.3 });
    add(this.edges, "links");
    add(new Segment({ ...ends, line_width: 1.6, line_color: "#2f3640", line_alpha: 0.8 }), "near", "overlay");
    add(new Circle({ ...round, line_color: "#ffffff", line_width: 0.5 }), "marks");
    add(new Circle({ x: field("x"), y: field("y"), radius: field("r"), fill_color: null, line_color: field("colour"), line_width: 3 }), "rings", "overlay");
    add(new Text({
      x: field("x"), y: field("y"), text: field("text"), text_align: "center", text_baseline: "middle",
      text_font_size: "12px", text_font: "system-ui, sans-serif", text_color: "#16191d",
      background_fill_color: "#ffffff", background_fill_alpha: 0.75, padding: 1, border_radius: 3,
    }), "labels", "overlay");
    const wheel = new WheelZoomTool();
    this.plot.add_tools(new PanTool(), wheel);
    this.plot.toolbar.active_scroll = wheel;
  }

  async show() {
    this.view = await Bokeh.Plotting.show(this.plot, this.element);
    let timer = 0;
    const moved = () => { clearTimeout(timer); timer = setTimeout(() => this.updateView(), 100); };
    this.plot.x_range.change.connect(moved);
    new ResizeObserver(() => { this.keepAspect(); moved(); }).observe(this.element);
  }

  // Pixels per data unit, equal in both directions.
  scale() { return this.element.clientWidth / (this.plot.x_range.end - this.plot.x_range.start); }

  frame(x, y, halfWidth) {
    const tall = this.element.clientHeight / Math.max(this.element.clientWidth, 1);
    this.plot.x_range.setv({ start: x - halfWidth, end: x + halfWidth });
    this.plot.y_range.setv({ start: y - halfWidth * tall, end: y + halfWidth * tall });
  }

  fit(id) {
    const { x, y, r } = this.model;
    let box = [x[id] - r[id], y[id] - r[id], x[id] + r[id], y[id] + r[id]];
    if (id === this.model.root) {
      box = [Infinity, Infinity, -Infinity, -Infinity];
      for (const child of this.model.childrenOf(id)) {
        box[0] = Math.min(box[0], x[child] - r[child]); box[1] = Math.min(box[1], y[child] - r[child]);
        box[2] = Math.max(box[2], x[child] + r[child]); box[3] = Math.max(box[3], y[child] + r[child]);
      }
    } else if (this.model.isLeaf(id)) {
      box = [x[id] - 15, y[id] - 15, x[id] + 15, y[id] + 15];
    }
    const wide = this.element.clientWidth / Math.max(this.element.clientHeight, 1);
    const half = Math.max(box[2] - box[0], (box[3] - box[1]) * wide) / 2;
    this.frame((box[0] + box[2]) / 2, (box[1] + box[3]) / 2, half * 1.06);
  }

  keepAspect() {
    const { x_range: h, y_range: v } = this.plot;
    this.frame((h.start + h.end) / 2, (v.start + v.end) / 2, (h.end - h.start) / 2);
  }

  zoom(factor) {
    const { x_range: h, y_range: v } = this.plot;
    this.frame((h.start + h.end) / 2, (v.start + v.end) / 2, (h.end - h.start) / 2 * factor);
  }

  pan(right, up) {
    const { x_range: h, y_range: v } = this.plot, step = (h.end - h.start) / 8;
    this.frame((h.start + h.end) / 2 + right * step, (v.start + v.end) / 2 + up * step, (h.end - h.start) / 2);
  }

  colourOf(id) {
    const level = Math.max(this.model.level[id], this.colourLevel);
    return level >= this.model.height ? "#5c6673" : this.palette[this.model.colour[this.model.ancestor(id, level)]];
  }

  // Redraw after a change of clusters or colours.
  update(walk) {
    const { model } = this;
    const circles = (ids, shrink) => ({
      x: ids.map((id) => model.x[id]), y: ids.map((id) => model.y[id]),
      r: ids.map((id) => model.r[id] * shrink(id)), fill: ids.map((id) => this.colourOf(id)),
    });
    const several = walk.disks.filter((id) => model.childrenOf(id).length > 1);
    this.marks = walk.marks;
    this.links = model.linksBetween(walk.marks);
    this.sources.disks.data = circles(several, () => 1);
    this.sources.marks.data = circles(walk.marks, (id) => (model.isLeaf(id) ? 0.85 : 0.92));
    this.updateView();
    this.highlight();
  }

  // Update visible edges and labels after panning and zooming.
  updateView() {
    const { model } = this, { x_range: h, y_range: v } = this.plot;
    const visible = ({ a, b }) =>
      Math.max(model.x[a], model.x[b]) >= h.start && Math.min(model.x[a], model.x[b]) <= h.end &&
      Math.max(model.y[a], model.y[b]) >= v.start && Math.min(model.y[a], model.y[b]) <= v.end;
    const shown = this.links.filter(visible);
    this.edges.line_alpha = Math.min(0.45, Math.max(0.12, 12 / Math.sqrt(shown.length || 1)));
    this.hidden = Math.max(0, shown.length - MAX_LINKS);
    const all = this.links.length <= MAX_LINKS;
    if (!all || this.links !== this.drawn) this.drawLinks(all ? this.links : shown.slice(0, MAX_LINKS));
    this.drawn = this.links;
    this.label();
    this.onmove?.();
  }

  drawLinks(links) {
    const max = links.length ? links[0].w : 1; // sorted by weight
    const width = Math.min(3, Math.max(0.6, 60 / Math.sqrt(links.length || 1)));
    this.sources.links.data = {
      ...this.lines(links), width: links.map(({ w }) => width * (0.35 + 0.65 * Math.sqrt(w / max))),
    };
  }

  lines(links) {
    const { x, y } = this.model;
    return {
      x0: links.map(({ a }) => x[a]), y0: links.map(({ a }) => y[a]),
      x1: links.map(({ b }) => x[b]), y1: links.map(({ b }) => y[b]),
    };
  }

  label() {
    const { model } = this, { x_range: h, y_range: v } = this.plot, scale = this.scale();
    const visible = this.marks.filter((id) =>
      model.x[id] > h.start && model.x[id] < h.end && model.y[id] > v.start && model.y[id] < v.end);
    const large = visible.filter((id) => visible.length <= 60 || model.r[id] * scale > 9);
    large.sort((a, b) => model.r[b] - model.r[a] || model.volume[b] - model.volume[a]);
    const few = visible.length <= MAX_AVOIDED, disks = few ? visible.map((id) => this.disk(id)) : [];
    const taken = [], shown = [];
    for (const id of large.slice(0, 20 * MAX_LABELS)) {
      const text = model.isLeaf(id) ? shorten(model.name(id), 18) : model.size[id].toLocaleString("en");
      const boxes = labelBoxes(this.disk(id), 3.6 * Array.from(text).length + 3, few)
        .filter((box) => !taken.some((other) => overlap(box, other)));
      if (!boxes.length) continue;
      const free = (box) => !disks.some((disk) => disk.id !== id && covers(box, disk));
      const box = boxes.find(free) ?? boxes.at(-1); // the last one is inside the disk
      taken.push(box);
      shown.push([(box[0] + box[2]) / 2, (box[1] + box[3]) / 2, ISOLATE.join(text)]);
      if (shown.length >= MAX_LABELS) break;
    }
    this.sources.labels.data = {
      x: shown.map(([x]) => h.start + x / scale), y: shown.map(([, y]) => v.start + y / scale),
      text: shown.map(([, , text]) => text),
    };
  }

  // Centre and radius of a mark in pixels from the lower left.
  disk(id) {
    const { model } = this, { x_range: h, y_range: v } = this.plot, scale = this.scale();
    return { id, x: (model.x[id] - h.start) * scale, y: (model.y[id] - v.start) * scale, r: model.r[id] * scale };
  }

  highlight() {
    const { model } = this;
    const rings = [[this.hovered, "#e0247a"], [this.selected, "#16191d"]]
      .filter(([id]) => id >= 0 && id !== model.root);
    this.sources.rings.data = {
      x: rings.map(([id]) => model.x[id]), y: rings.map(([id]) => model.y[id]),
      r: rings.map(([id]) => model.r[id]), colour: rings.map(([, colour]) => colour),
    };
    const id = this.selected;
    const near = id >= 0 && !model.open[id] ? this.links.filter(({ a, b }) => a === id || b === id) : [];
    this.sources.near.data = this.lines(near.slice(0, 2000));
  }

  png() {
    const { canvas } = this.view.export("png", true);
    return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
  }
}
