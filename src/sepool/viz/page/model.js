// The tree in flat arrays; ids number the nodes of all levels, level after level.
class Model {
  constructor(data) {
    this.height = data.counts.length - 1;
    this.names = data.names;
    this.offset = [0];
    for (const count of data.counts) this.offset.push(this.offset.at(-1) + count);
    const total = this.offset.at(-1);
    this.total = total;
    this.leaves = data.counts[0];
    this.root = total - 1;
    this.level = new Uint8Array(total);
    this.parent = new Int32Array(total).fill(-1);
    this.x = new Float64Array(total);
    this.y = new Float64Array(total);
    this.r = new Float64Array(total).fill(1);
    this.volume = new Float64Array(total);
    this.boundary = new Float64Array(total);
    this.size = new Int32Array(total).fill(1, 0, this.leaves);
    this.colour = new Uint8Array(total);
    for (let level = 0; level <= this.height; level++) {
      const start = this.offset[level];
      for (let i = 0; i < data.counts[level]; i++) {
        const id = start + i;
        this.level[id] = level;
        this.x[id] = data.x[level][i] / 100;
        this.y[id] = data.y[level][i] / 100;
        this.boundary[id] = data.boundary[level][i];
        if (level > 0) this.r[id] = data.r[level][i] / 100;
        if (level > 0 && level < this.height) this.colour[id] = data.colour[level][i];
        if (level < this.height) this.parent[id] = this.offset[level + 1] + data.parent[level][i];
      }
    }
    this.volume.set(data.volume);
    this.first = new Int32Array(total + 1);
    for (let id = 0; id < this.root; id++) {
      this.volume[this.parent[id]] += this.volume[id];
      this.first[this.parent[id] + 1]++;
    }
    this.accumulate(data);
  }

  // Children, sizes and entropy from the leaves up: parents have larger ids.
  accumulate(data) {
    const { total, root } = this;
    for (let id = 0; id < root; id++) this.size[this.parent[id]] += this.size[id];
    for (let id = 0; id < total; id++) this.first[id + 1] += this.first[id];
    const next = this.first.slice();
    this.children = new Int32Array(root);
    for (let id = 0; id < root; id++) this.children[next[this.parent[id]]++] = id;
    // Entropy contributions of a node and of all nodes below it.
    this.bits = new Float64Array(total);
    this.below = new Float64Array(total);
    const all = this.volume[root];
    for (let id = 0; id < root; id++) {
      const up = this.parent[id];
      if (this.boundary[id] > 0) this.bits[id] = this.boundary[id] / all * Math.log2(this.volume[up] / this.volume[id]);
      this.below[up] += this.below[id] + this.bits[id];
    }
    this.u = Int32Array.from(data.u);
    this.v = Int32Array.from(data.v);
    this.w = data.w ? Float64Array.from(data.w) : null;
    this.open = new Uint8Array(total);
  }

  childrenOf(id) { return this.children.subarray(this.first[id], this.first[id + 1]); }
  isLeaf(id) { return id < this.leaves; }
  index(id) { return id - this.offset[this.level[id]]; }

  name(id) {
    if (id === this.root) return `All ${this.leaves.toLocaleString("en")} nodes`;
    if (!this.isLeaf(id)) return `Cluster ${this.level[id]}.${this.index(id)}`;
    return this.names ? this.names[id] : String(id);
  }

  ancestor(id, level) {
    while (this.level[id] < level) id = this.parent[id];
    return id;
  }

  // Expand a cluster, and an only child with it.
  expand(id) {
    while (!this.isLeaf(id)) {
      this.open[id] = 1;
      const children = this.childrenOf(id);
      if (children.length > 1) return;
      id = children[0];
    }
  }

  collapse(id) {
    if (id !== this.root) this.open[id] = 0;
  }

  reveal(id) {
    for (let up = this.parent[id]; up >= 0; up = this.parent[up]) this.open[up] = 1;
  }

  showLevel(level) {
    for (let id = 0; id < this.total; id++) this.open[id] = this.level[id] > level ? 1 : 0;
    this.open[this.root] = 1;
  }

  // Ids of the rows of the outline, of marks and of disks.
  walk() {
    const rows = [], marks = [], disks = [], stack = [this.root];
    while (stack.length) {
      const id = stack.pop();
      rows.push(id);
      if (!this.open[id]) { marks.push(id); continue; }
      if (id !== this.root) disks.push(id);
      const children = this.childrenOf(id);
      for (let i = children.length - 1; i >= 0; i--) stack.push(children[i]);
    }
    return { rows, marks, disks };
  }

  // Edges between marks: the weight between the nodes below them.
  linksBetween(marks) {
    const mark = new Int32Array(this.total).fill(-1);
    marks.forEach((id, i) => { mark[id] = i; });
    for (let id = this.total - 2; id >= 0; id--) if (mark[id] < 0) mark[id] = mark[this.parent[id]];
    const sums = new Map(), count = marks.length;
    for (let i = 0; i < this.u.length; i++) {
      const a = mark[this.u[i]], b = mark[this.v[i]];
      if (a === b) continue;
      const key = a < b ? a * count + b : b * count + a;
      sums.set(key, (sums.get(key) || 0) + (this.w ? this.w[i] : 1));
    }
    const links = [];
    for (const [key, w] of sums) links.push({ a: marks[Math.floor(key / count)], b: marks[key % count], w });
    return links.sort((p, q) => q.w - p.w);
  }

  // The mark or expanded cluster at a point, by default the root.
  at(x, y, slack) {
    let id = this.root;
    for (;;) {
      if (!this.open[id]) return id;
      let best = -1, nearest = Infinity;
      for (const child of this.childrenOf(id)) {
        const distance = Math.hypot(this.x[child] - x, this.y[child] - y) - this.r[child];
        if (distance <= slack && distance < nearest) { best = child; nearest = distance; }
      }
      if (best < 0) return id;
      id = best;
    }
  }

  csv() {
    const cell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const levels = [];
    for (let level = 1; level < this.height; level++) levels.push(level);
    const lines = [["node", ...levels.map((level) => `level_${level}`)].join(",")];
    for (let id = 0; id < this.leaves; id++) {
      const labels = levels.map((level) => this.index(this.ancestor(id, level)));
      lines.push([cell(this.name(id)), ...labels].join(","));
    }
    return lines.join("\n") + "\n";
  }
}
