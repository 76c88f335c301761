// The tree in flat arrays; ids number the nodes of all levels, level after level. Levels are loaded
// from the root down when they are needed. A chain of only children counts as its uppermost cluster.
class Model {
  constructor(head) {
    const { counts } = head;
    this.counts = counts;
    this.height = counts.length - 1;
    this.head = head;
    this.offset = [0];
    for (const count of counts) this.offset.push(this.offset.at(-1) + count);
    const total = this.total = this.offset.at(-1);
    this.leaves = counts[0];
    this.root = total - 1;
    this.level = new Uint8Array(total);
    counts.forEach((count, level) => this.level.fill(level, this.offset[level], this.offset[level + 1]));
    this.arrays = { x: Float32Array, y: Float32Array, r: Float32Array, volume: Float64Array, boundary: Float64Array, below: Float64Array,
      size: Int32Array, class: Uint8Array, share: Float32Array, excess: Float32Array, error: Float32Array, verdict: Uint8Array };
    for (const [name, Type] of Object.entries(this.arrays)) this[name] = new Type(total);
    this.size.fill(1, 0, this.leaves);
    this.share.fill(1, 0, this.leaves);
    this.parent = new Int32Array(total).fill(-1);
    this.bits = new Float64Array(total); // entropy contributions; `below`: those of all nodes below
    this.first = new Int32Array(total + 1);
    this.children = new Int32Array(total);
    this.open = new Uint8Array(total);
    this.fills = [];
    this.lists = [];
    this.lowest = total && this.height + 1; // loaded level
    this.load(this.height);
  }

  load(level) {
    while (this.lowest > Math.max(level, 0)) this.loadLevel(--this.lowest);
  }

  loadLevel(level) {
    const start = this.offset[level], end = this.offset[level + 1];
    for (const [name, Type] of Object.entries(this.arrays)) {
      const values = numbersOf(`${name}-${level}`, Type);
      if (values) this[name].set(values, start);
    }
    const parent = numbersOf(`parent-${level}`, Int32Array);
    if (!parent) return; // the root
    const all = this.volume[this.root], first = this.first;
    for (let i = 0; i < parent.length; i++) {
      const up = this.parent[start + i] = end + parent[i], id = start + i;
      first[up + 1]++;
      if (this.boundary[id] > 0) this.bits[id] = this.boundary[id] / all * Math.log2(this.volume[up] / this.volume[id]);
    }
    // The children of this level's parents are adjacent, at the offset of this level.
    first[end] = start;
    const last = this.offset[level + 2];
    for (let id = end; id < last; id++) first[id + 1] += first[id];
    const next = first.slice(end, last);
    for (let id = start; id < end; id++) this.children[next[this.parent[id] - end]++] = id;
    if (last <= this.root) first[last] = end; // overwritten by the prefix sums
  }

  childrenOf(id) {
    this.load(this.level[id] - 1);
    return this.children.subarray(this.first[id], this.first[id + 1]);
  }

  isLeaf(id) { return id < this.leaves; }
  isSingle(id) { return this.size[id] === 1 && id !== this.root; }
  index(id) { return id - this.offset[this.level[id]]; }

  list(level) { return this.lists[level] ??= listOf(`names-${level}`); }

  name(id) {
    if (id === this.root) return `All ${this.leaves.toLocaleString("en")} nodes`;
    const level = this.level[id];
    return level || this.head.named ? this.list(level)[this.index(id)] : String(id);
  }

  // The colour of a cluster, 0xrrggbb.
  fill(id) {
    const level = this.level[id], fills = this.fills[level] ??= numbersOf(`fill-${level}`, Uint8Array), i = 3 * this.index(id);
    return fills ? fills[i] << 16 | fills[i + 1] << 8 | fills[i + 2] : 0x0072b2;
  }

  ancestor(id, level) {
    while (this.level[id] < level) id = this.parent[id];
    return id;
  }

  isOnlyChild(id) { return id !== this.root && this.childrenOf(this.parent[id]).length === 1; }

  // The uppermost cluster of the chain of only children that a cluster is in; leaves are themselves.
  top(id) {
    if (!this.isLeaf(id)) while (this.isOnlyChild(id)) id = this.parent[id];
    return id;
  }

  // The cluster around a cluster or leaf that has other members.
  parentOf(id) {
    while (this.isOnlyChild(id)) id = this.parent[id];
    return id === this.root ? id : this.top(this.parent[id]);
  }

  // The lowest open cluster of a chain, or what it ends in: a collapsed cluster or a leaf.
  end(id) {
    while (this.open[id]) {
      const children = this.childrenOf(id);
      if (children.length !== 1) break;
      id = children[0];
    }
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
    this.load(this.level[id]);
    for (let up = this.parent[id]; up >= 0; up = this.parent[up]) this.open[up] = 1;
  }

  showLevel(level) {
    this.load(level);
    this.open.fill(0, 0, this.offset[level + 1]);
    this.open.fill(1, this.offset[level + 1]);
    this.open[this.root] = 1;
  }

  // Ids of the rows of the outline with their depths, of marks and of disks.
  walk() {
    const rows = [], depths = [], marks = [], disks = [], stack = [[this.root, 0]];
    while (stack.length) {
      const [id, depth] = stack.pop(), end = this.end(id);
      if (!this.open[end]) {
        const mark = this.isLeaf(end) ? end : id === this.root ? end : id;
        if (id === this.root) { rows.push(id); depths.push(0); }
        rows.push(mark);
        depths.push(id === this.root ? 1 : depth);
        marks.push(mark);
        continue;
      }
      rows.push(id);
      depths.push(depth);
      if (id !== this.root) disks.push(id);
      const children = this.childrenOf(end);
      for (let i = children.length - 1; i >= 0; i--) stack.push([children[i], depth + 1]);
    }
    return { rows, depths, marks, disks };
  }

  // The mark or expanded cluster at a point, by default the root.
  at(x, y, slack) {
    let id = this.root;
    for (;;) {
      const end = this.end(id);
      if (!this.open[end]) return this.isLeaf(end) ? end : id;
      let best = -1, nearest = Infinity;
      for (const child of this.childrenOf(end)) {
        const distance = Math.hypot(this.x[child] - x, this.y[child] - y) - this.r[child];
        if (distance <= slack && distance < nearest) { best = child; nearest = distance; }
      }
      if (best < 0) return id;
      id = best;
    }
  }

  csv() {
    this.load(0);
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
