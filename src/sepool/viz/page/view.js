// The extent of the plot: equal scales in both directions.
class View {
  constructor(plot, model, element) {
    this.plot = plot;
    this.model = model;
    this.element = element;
  }

  // left, right, bottom, top
  get box() {
    const { x_range: h, y_range: v } = this.plot;
    return [h.start, h.end, v.start, v.end];
  }

  // Pixels per data unit.
  get scale() {
    const [left, right] = this.box;
    return this.element.clientWidth / (right - left);
  }

  frame(x, y, halfWidth) {
    const tall = this.element.clientHeight / Math.max(this.element.clientWidth, 1);
    this.plot.x_range.setv({ start: x - halfWidth, end: x + halfWidth });
    this.plot.y_range.setv({ start: y - halfWidth * tall, end: y + halfWidth * tall });
  }

  // Scale and move by shares of the width.
  change(factor, right = 0, up = 0) {
    const [x0, x1, y0, y1] = this.box, wide = x1 - x0;
    this.frame((x0 + x1) / 2 + right * wide, (y0 + y1) / 2 + up * wide, wide / 2 * factor);
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

  // A disk of the model in pixels from the lower left.
  disk(id) {
    const { model, scale } = this, [left, , bottom] = this.box;
    return { id, x: (model.x[id] - left) * scale, y: (model.y[id] - bottom) * scale, r: model.r[id] * scale };
  }

  shows(id) {
    const { x, y, r } = this.model, [left, right, bottom, top] = this.box;
    return x[id] + r[id] > left && x[id] - r[id] < right && y[id] + r[id] > bottom && y[id] - r[id] < top;
  }
}
