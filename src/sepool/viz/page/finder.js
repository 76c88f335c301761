// Search by name: a field, and a list of what it finds.
const MOST_FOUND = 30;

class Finder {
  constructor(explorer, input, list) {
    this.explorer = explorer;
    this.model = explorer.model;
    this.input = input;
    this.list = list;
    this.ids = [];
    this.choice = 0;
    this.names = this.model.names?.map((name) => name.toLowerCase());
    input.addEventListener("input", () => this.search());
    input.addEventListener("keydown", (event) => this.press(event));
    input.addEventListener("blur", () => this.show([]));
    list.addEventListener("mousedown", (event) => {
      event.preventDefault(); // the field keeps the focus
      const item = event.target.closest("li");
      if (item) this.take(Number(item.dataset.id));
    });
  }

  // Whole names first, then beginnings, then any part.
  find(text) {
    const wanted = text.trim().toLowerCase(), whole = [], begins = [], holds = [];
    if (!wanted) return whole;
    for (let id = 0; id < this.model.leaves; id++) {
      const name = this.names ? this.names[id] : String(id), at = name.indexOf(wanted);
      if (at < 0) continue;
      const found = at > 0 ? holds : name.length > wanted.length ? begins : whole;
      if (found.length < MOST_FOUND) found.push(id);
    }
    return [...whole, ...begins, ...holds].slice(0, MOST_FOUND);
  }

  search() {
    const ids = this.find(this.input.value), count = ids.length;
    this.show(ids);
    if (!this.input.value.trim()) return;
    this.explorer.say(count === MOST_FOUND ? `${count} or more nodes found` : `${count} node${count === 1 ? "" : "s"} found`);
  }

  show(ids, choice = 0) {
    this.ids = ids;
    this.choice = choice;
    this.list.replaceChildren(...ids.map((id, i) => {
      const item = document.createElement("li"), name = document.createElement("bdi");
      item.id = `found-${i}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", i === choice);
      item.dataset.id = id;
      name.textContent = shorten(this.model.name(id), 80);
      item.append(name);
      return item;
    }));
    this.list.hidden = !ids.length;
    this.input.setAttribute("aria-expanded", ids.length > 0);
    if (ids.length) this.input.setAttribute("aria-activedescendant", `found-${choice}`);
    else this.input.removeAttribute("aria-activedescendant");
    this.list.children[choice]?.scrollIntoView({ block: "nearest" });
  }

  press(event) {
    const count = this.ids.length;
    if (event.key === "Enter" && count) this.take(this.ids[this.choice]);
    else if (event.key === "ArrowDown" && count) this.show(this.ids, (this.choice + 1) % count);
    else if (event.key === "ArrowUp" && count) this.show(this.ids, (this.choice + count - 1) % count);
    else if (event.key === "Escape") {
      this.show([]);
      this.input.value = "";
    } else return;
    event.preventDefault();
  }

  take(id) {
    this.show([]);
    this.explorer.goTo(id);
    this.explorer.say(`Found ${shorten(this.model.name(id), 80)}`);
  }
}
