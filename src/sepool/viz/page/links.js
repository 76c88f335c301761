// Edges between marks, from the edges of every level in compressed rows.
class Links {
  constructor(model) {
    this.model = model;
    this.rows = [];
  }

  // The rows of a level: both directions of every edge.
  level(level) {
    if (this.rows[level]) return this.rows[level];
    const size = numbersOf(`row-${level}`, Uint32Array), upper = numbersOf(`end-${level}`, Uint32Array);
    const given = numbersOf(`weight-${level}`, Float32Array), count = size.length;
    const start = new Uint32Array(count + 1), end = new Uint32Array(2 * upper.length);
    for (let u = 0; u < count; u++) start[u + 1] += size[u];
    for (let i = 0; i < upper.length; i++) start[upper[i] + 1]++;
    for (let u = 0; u < count; u++) start[u + 1] += start[u];
    const next = start.slice(0, count), weight = given && new Float32Array(end.length);
    for (let u = 0, i = 0; u < count; u++) {
      for (const last = i + size[u]; i < last; i++) {
        const v = upper[i], a = next[u]++, b = next[v]++;
        end[a] = v;
        end[b] = u;
        if (weight) weight[a] = weight[b] = given[i];
      }
    }
    return (this.rows[level] = { start, end, weight });
  }

  // The mark that each id is or lies in, -1 for ids around marks, down to a level.
  owners(marks, lowest) {
    const { model } = this, { parent, offset } = model, owner = new Int32Array(model.total).fill(-1);
    for (const id of marks) owner[id] = id;
    for (let id = model.root - 1; id >= offset[lowest]; id--) if (owner[id] < 0) owner[id] = owner[parent[id]];
    return owner;
  }

  // The edges between marks as lists of ends and weights. A pair is met on the lower mark's level.
  between(marks) {
    const { model } = this, { level, offset } = model, a = [], b = [], w = [];
    const lowest = marks.reduce((low, id) => Math.min(low, level[id]), model.height);
    const owner = this.owners(marks, lowest), sum = new Float64Array(model.total);
    for (const id of marks) {
      if (level[id] === model.height) continue;
      const base = offset[level[id]], { start, end, weight } = this.level(level[id]), near = [];
      for (let i = start[id - base], last = start[id - base + 1]; i < last; i++) {
        const other = base + end[i], mark = owner[other], value = weight ? weight[i] : 1;
        if (mark < 0 || (mark === other && mark < id)) continue; // met from the other end
        if (mark === other) { a.push(id); b.push(mark); w.push(value); continue; }
        if (!sum[mark]) near.push(mark);
        sum[mark] += value;
      }
      for (const mark of near) {
        a.push(id); b.push(mark); w.push(sum[mark]);
        sum[mark] = 0;
      }
    }
    return { a: Int32Array.from(a), b: Int32Array.from(b), w: Float64Array.from(w), length: a.length };
  }
}

// A number that looks random, the same for the same index.
const scatter = (i) => Math.imul(i ^ i >>> 15, 0x2c1b3c6d) >>> 0;

function sample(indices, count) {
  const limit = 1.1 * count / indices.length * 2 ** 32; // a tenth more than needed, without sorting
  const picked = indices.filter((i) => scatter(i) < limit);
  return (picked.length < count ? indices : picked).slice(0, count);
}

// Indices of the heaviest edges, at most `max` of those that `visible` admits, heaviest last; of
// edges of equal weight a sample.
function heaviest({ w, length }, max, visible) {
  let chosen = [];
  for (let i = 0; i < length; i++) if (!visible || visible(i)) chosen.push(i);
  const total = chosen.length;
  if (total > max) {
    const least = Float64Array.from(chosen, (i) => w[i]).sort()[total - max];
    const above = chosen.filter((i) => w[i] > least), equal = chosen.filter((i) => w[i] === least);
    chosen = above.concat(sample(equal, max - above.length));
  }
  return { chosen: chosen.sort((i, j) => w[i] - w[j] || i - j), total };
}
