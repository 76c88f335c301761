// The tree as a list of rows; only visible rows are in the page.
const ROW = 24;

class Outline {
  constructor(model, element, colourOf) {
    this.model = model;
    this.element = element;
    this.colourOf = colourOf;
    this.rows = [];
    this.depths = [];
    this.position = new Map();
    this.active = model.root;
    this.hovered = this.selected = -1;
    this.space = document.createElement("div");
    this.space.setAttribute("role", "presentation");
    element.append(this.space);
    element.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(element);
  }

  update({ rows, depths }) {
    this.rows = rows;
    this.depths = depths;
    this.position = new Map(rows.map((id, i) => [id, i]));
    if (!this.position.has(this.active)) this.active = this.model.root;
    this.space.style.height = `${rows.length * ROW}px`;
    this.draw();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / ROW) - 4);
    const last = Math.min(this.rows.length, first + Math.ceil(this.element.clientHeight / ROW) + 9);
    const rows = [];
    for (let i = first; i < last; i++) rows.push(this.row(i));
    const at = this.position.get(this.active); // screen readers need the active row, visible or not
    if (at !== undefined && (at < first || at >= last)) rows.push(this.row(at));
    this.space.replaceChildren(...rows);
    this.element.setAttribute("aria-activedescendant", `row-${this.active}`);
  }

  // Toggles classes: replacing the rows would lose the pointer.
  hover(id) {
    this.hovered = id;
    for (const row of this.space.children) row.classList.toggle("hover", Number(row.dataset.id) === id);
  }

  row(i) {
    const { model } = this, id = this.rows[i], leaf = model.isSingle(id), depth = this.depths[i];
    const row = element("div");
    row.id = `row-${id}`;
    row.dataset.id = id;
    row.setAttribute("role", "treeitem");
    row.setAttribute("aria-level", depth + 1);
    row.setAttribute("aria-selected", id === this.selected);
    if (!leaf) row.setAttribute("aria-expanded", !!model.open[id]);
    row.classList.toggle("hover", id === this.hovered);
    row.classList.toggle("active", id === this.active);
    row.style.top = `${i * ROW}px`;
    row.style.paddingLeft = `${4 + 14 * depth}px`;
    const add = (className, text, hidden) => {
      const span = element(className === "name" ? "bdi" : "span", className, text);
      if (hidden) span.setAttribute("aria-hidden", "true");
      row.append(span);
      return span;
    };
    add("twist", leaf ? "" : model.open[id] ? "▾" : "▸", true);
    add("spot", "", true).style.background = this.colourOf(id);
    const name = shorten(model.name(id), 200), bits = `${bitsText(model.bits[id] + model.below[id])} bits`;
    const count = leaf || id === model.root ? "" : model.size[id].toLocaleString("en");
    add("name", name).title = name;
    add("count", count);
    add("bits", bits);
    const verdict = verdictOf(model, id);
    if (verdict) add("verdict", verdict.short, true).title = verdict.long;
    row.setAttribute("aria-label", [name, count && `${count} nodes`, bits, verdict?.long].filter(Boolean).join(", "));
    return row;
  }

  scrollTo(id) {
    const i = this.position.get(id);
    if (i === undefined) return;
    const { scrollTop: top, clientHeight: height } = this.element;
    if (i * ROW < top) this.element.scrollTop = i * ROW;
    else if ((i + 1) * ROW > top + height) this.element.scrollTop = (i + 1) * ROW - height + ROW;
    this.draw();
  }

  idOf(event) {
    const row = event.target.closest?.("[role=treeitem]");
    return row ? Number(row.dataset.id) : -1;
  }

  // The id of the row that a key moves to from the active one.
  neighbour(key) {
    const i = this.position.get(this.active) ?? 0, page = Math.floor(this.element.clientHeight / ROW) - 1;
    const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity }[key];
    return this.rows[Math.min(this.rows.length - 1, Math.max(0, i + step))];
  }
}
