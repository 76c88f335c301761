// Placement of labels, important ones first: they cover neither one another nor nodes.
const MAX_LABELS = 70;
const MAX_ATTEMPTS = 500;
const LINE = 15; // pixels
const CELL = 48; // of the grid in which disks and labels are looked up
const FONT = "12px system-ui, sans-serif";

const measure = (() => {
  const context = document.createElement("canvas").getContext("2d"), widths = new Map();
  context.font = FONT;
  return (text) => {
    if (widths.size > 20000) widths.clear();
    if (!widths.has(text)) widths.set(text, context.measureText(text).width);
    return widths.get(text);
  };
})();

// Boxes (left, bottom, right, top) and disks in pixels, by the cells that they touch.
class Grid {
  constructor() { this.cells = new Map(); }

  * keys([left, bottom, right, top]) {
    for (let i = Math.floor(left / CELL); i <= right / CELL; i++) {
      for (let j = Math.floor(bottom / CELL); j <= top / CELL; j++) yield i * 65536 + j;
    }
  }

  add(box, item) {
    for (const key of this.keys(box)) {
      const cell = this.cells.get(key);
      if (cell) cell.push(item); else this.cells.set(key, [item]);
    }
  }

  some(box, test) {
    for (const key of this.keys(box)) if (this.cells.get(key)?.some(test)) return true;
    return false;
  }
}

const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

function covers([left, bottom, right, top], { x, y, r }) {
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  return Math.hypot(x - clamp(x, left, right), y - clamp(y, bottom, top)) < r;
}

// Forms of a label in order of preference: { lines, box, inside }.
function forms({ x, y, r, name, ring }, max) {
  const long = shorten(name, 26), lines = name.split(", ").map((part) => shorten(part, 14)).slice(0, 3);
  const at = (text, dx, dy, inside) => {
    const half = Math.max(...text.map(measure)) / 2 + 3, high = text.length * LINE / 2;
    const gap = dx && dy ? 0.72 * r : r; // a corner of the box is nearer than a side
    const [across, up] = [x + dx * (gap + half), y + dy * (gap + high)];
    return { lines: text, inside, half, high, box: [across - half, up - high, across + half, up + high] };
  };
  if (ring) return [at([long], 0, 1), at([long], 0, -1), at([lines[0]], 0, 1), at([lines[0]], 0, -1)];
  const inner = [lines, [long], lines.slice(0, 2), [lines[0]]].map((text) => at(text, 0, 0, true))
    .filter(({ half, high }) => Math.hypot(half, high - 2) < r);
  const outer = [[0, -1], [0, 1], [1, 0], [-1, 0], [1, -1], [-1, -1], [1, 1], [-1, 1]];
  const around = (text) => outer.map(([dx, dy]) => at(text, dx, dy, false));
  return [...inner.slice(0, 1), ...around([long]), ...(max > 1 && lines[0] !== long ? around([lines[0]]) : [])];
}

// Choose labels for disks { id, x, y, r, name(), ring }, the most important first; rings are outlines.
function placeLabels(disks, width, height) {
  const nodes = new Grid(), labels = new Grid(), placed = [];
  for (const disk of disks) {
    const { x, y, r } = disk;
    if (!disk.ring && r > 0.5) nodes.add([x - r, y - r, x + r, y + r], disk);
  }
  for (const disk of disks.slice(0, MAX_ATTEMPTS)) {
    if (disk.ring && disk.r < 24) continue;
    const free = ({ box, inside }) => box[0] >= 0 && box[1] >= 0 && box[2] <= width && box[3] <= height
      && !labels.some(box, (other) => overlap(box, other))
      && (inside || !nodes.some(box, (other) => covers(box, other)));
    const form = forms({ ...disk, name: disk.name() }, disks.length).find(free);
    if (!form) continue;
    labels.add(form.box, form.box);
    placed.push({ id: disk.id, ...form });
    if (placed.length >= MAX_LABELS) break;
  }
  return placed;
}
