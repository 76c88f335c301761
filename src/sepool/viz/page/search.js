// Search by name: a field and a list of results.
const MAX_RESULTS = 30;

class Search {
  constructor(explorer, input, list) {
    this.explorer = explorer;
    this.model = explorer.model;
    this.input = input;
    this.list = list;
    this.ids = [];
    this.choice = 0;
    input.addEventListener("input", () => this.search());
    input.addEventListener("keydown", (event) => this.onKey(event));
    input.addEventListener("blur", () => this.show([]));
    list.addEventListener("mousedown", (event) => {
      event.preventDefault(); // the field keeps the focus
      const item = event.target.closest("li");
      if (item) this.choose(Number(item.dataset.id));
    });
  }

  // Ids by name: equal to the query, then beginning with it, then containing it.
  find(text) {
    const query = text.trim().toLowerCase(), equal = [], begins = [], contains = [];
    if (!query) return equal;
    if (this.model.head.named) this.names ??= this.model.list(0).map((name) => name.toLowerCase());
    for (let id = 0; id < this.model.leaves; id++) {
      const name = this.names ? this.names[id] : String(id), at = name.indexOf(query);
      if (at < 0) continue;
      const ids = at > 0 ? contains : name.length > query.length ? begins : equal;
      if (ids.length < MAX_RESULTS) ids.push(id);
    }
    return [...equal, ...begins, ...contains].slice(0, MAX_RESULTS);
  }

  search() {
    const ids = this.find(this.input.value), count = ids.length;
    this.show(ids);
    if (!this.input.value.trim()) return;
    this.explorer.say(count === MAX_RESULTS ? `${count} or more nodes found` : `${counted(count, "node")} found`);
  }

  show(ids, choice = 0) {
    this.ids = ids;
    this.choice = choice;
    this.list.replaceChildren(...ids.map((id, i) => {
      const item = document.createElement("li"), name = document.createElement("bdi");
      item.id = `result-${i}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", i === choice);
      item.dataset.id = id;
      name.textContent = shorten(this.model.name(id), 80);
      item.append(name);
      return item;
    }));
    this.list.hidden = !ids.length;
    this.input.setAttribute("aria-expanded", ids.length > 0);
    if (ids.length) this.input.setAttribute("aria-activedescendant", `result-${choice}`);
    else this.input.removeAttribute("aria-activedescendant");
    this.list.children[choice]?.scrollIntoView({ block: "nearest" });
  }

  onKey(event) {
    const count = this.ids.length;
    if (event.key === "Enter" && count) this.choose(this.ids[this.choice]);
    else if (event.key === "ArrowDown" && count) this.show(this.ids, (this.choice + 1) % count);
    else if (event.key === "ArrowUp" && count) this.show(this.ids, (this.choice + count - 1) % count);
    else if (event.key === "Escape") {
      this.show([]);
      this.input.value = "";
    } else return;
    event.preventDefault();
  }

  choose(id) {
    this.show([]);
    this.explorer.goTo(id);
    this.explorer.say(`Found ${shorten(this.model.name(id), 80)}`);
  }
}
