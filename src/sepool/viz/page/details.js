// The selected cluster or node in numbers, the legend of classes, and the tooltip.

// The bits that the split of a cluster saves beyond chance, null without a test.
function verdictOf(model, id) {
  if (!model.verdict[id]) return null;
  const value = `${bitsText(Math.abs(model.excess[id]))} ± ${bitsText(model.error[id])}`;
  const bits = `${model.excess[id] < 0 ? "−" : ""}${value} bits`;
  const significant = model.verdict[id] === 2;
  return { bits, significant, short: significant ? "✓" : "~", long: `split ${significant ? "" : "not "}significant: ${bits} beyond chance` };
}

function classText(model, id) {
  const { classes } = model.head;
  const share = model.isSingle(id) ? "" : ` (${(model.share[id] * 100).toFixed(0)} %)`;
  return shorten(classes.names[model.class[id]], 60) + share;
}

function detailsOf(model, id) {
  const number = (x) => x.toLocaleString("en", { maximumFractionDigits: 4 });
  const entropy = model.below[model.root] || 1, single = model.isSingle(id);
  const rows = [["Level", String(model.level[id])]];
  if (!single) rows.push(["Nodes", number(model.size[id])]);
  rows.push([single ? "Degree" : "Volume", number(model.volume[id])]);
  if (id !== model.root) rows.push(["Boundary", number(model.boundary[id])], ["Entropy contribution", `${bitsText(model.bits[id])} bits`]);
  if (!single) {
    rows.push(["Entropy below", `${bitsText(model.below[id])} bits`]);
    if (id !== model.root) rows.push(["Share of the entropy", `${((model.bits[id] + model.below[id]) / entropy * 100).toFixed(1)} %`]);
  }
  const verdict = verdictOf(model, id);
  if (verdict) rows.push(["Beyond chance", verdict.bits], ["Significant", verdict.significant ? "yes" : "no"]);
  if (model.head.classes && id !== model.root) rows.push([single ? "Label" : "Most frequent label", classText(model, id)]);
  return rows;
}

function showDetails(box, model, id, actions) {
  const heading = element("h2"), list = element("dl");
  heading.append(element("bdi", "", shorten(model.name(id), 500)));
  for (const [term, text] of detailsOf(model, id)) list.append(element("dt", "", term), element("dd", "", text));
  const buttons = actions.map(([text, action]) => {
    const button = element("button", "", text);
    button.type = "button";
    button.addEventListener("click", () => {
      action();
      box.querySelector("button").focus(); // the pressed one may be replaced
    });
    return button;
  });
  box.replaceChildren(heading, list, ...buttons);
}

function showLegend(box, classes) {
  box.hidden = !classes;
  if (!classes) return;
  box.replaceChildren(...classes.names.map((name, i) => {
    const item = element("li"), spot = element("span", "spot");
    spot.style.background = classes.colours[i];
    item.append(spot, element("bdi", "name", shorten(name, 40)), element("span", "count", classes.sizes[i].toLocaleString("en")));
    return item;
  }));
}

class Tooltip {
  constructor(box, model) {
    this.box = box;
    this.model = model;
  }

  show(id, event) {
    const { model, box } = this;
    box.hidden = id < 0 || !event;
    if (box.hidden) return;
    const what = model.isSingle(id) ? `degree ${model.volume[id].toLocaleString("en", { maximumFractionDigits: 4 })}` : counted(model.size[id], "node");
    const lines = [element("bdi", "name", shorten(model.name(id), 80)), element("span", "", `${what}, ${bitsText(model.bits[id] + model.below[id])} bits`)];
    const verdict = verdictOf(model, id);
    if (verdict) lines.push(element("span", "", verdict.long));
    if (model.head.classes) lines.push(element("span", "", classText(model, id)));
    box.replaceChildren(...lines);
    const area = box.parentElement.getBoundingClientRect(), { offsetWidth: wide, offsetHeight: high } = box;
    const x = event.clientX - area.left, y = event.clientY - area.top;
    box.style.left = `${Math.max(0, Math.min(x + 14, area.width - wide - 4))}px`;
    box.style.top = `${y + 18 + high > area.height ? Math.max(0, y - high - 10) : y + 18}px`;
  }
}
