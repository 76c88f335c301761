// Mouse and keyboard.
function listenToGraph(explorer) {
  const { model, drawing } = explorer, { view } = drawing, graph = $("graph");
  const slack = () => 3 / view.scale;
  let opened = -Infinity, pointer = null;
  graph.addEventListener("pointermove", (event) => { pointer = event; }, true); // before Bokeh's events
  graph.addEventListener("mouseleave", () => explorer.hover(-1, "graph"));
  drawing.plot.on_event("mousemove", ({ x, y }) => {
    const id = model.at(x, y, slack());
    explorer.hover(id === model.root ? -1 : id, "graph", pointer);
  });
  drawing.plot.on_event("mouseleave", () => explorer.hover(-1, "graph"));
  drawing.plot.on_event("tap", ({ x, y }) => {
    const id = model.at(x, y, slack());
    if (id === model.root) return explorer.select(-1);
    if (!model.isSingle(id) && !model.open[model.end(id)]) {
      opened = performance.now();
      explorer.toggle(id, true);
    }
    explorer.select(id);
  });
  drawing.plot.on_event("doubletap", ({ x, y }) => {
    if (performance.now() - opened < 500) return; // the first click expanded it
    let id = model.at(x, y, slack());
    if (model.isSingle(id)) id = model.parentOf(id);
    explorer.toggle(id, false);
    explorer.select(id === model.root ? -1 : id);
  });
  const moves = { ArrowLeft: [-0.125, 0], ArrowRight: [0.125, 0], ArrowUp: [0, 0.125], ArrowDown: [0, -0.125] };
  graph.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { selected } = explorer;
    if (moves[event.key]) view.change(1, ...moves[event.key]);
    else if (event.key === "+" || event.key === "=") view.change(0.8);
    else if (event.key === "-") view.change(1.25);
    else if (event.key === "0") view.fit(model.root);
    else if (event.key === "Enter" && selected >= 0) explorer.toggle(selected, true);
    else if (event.key === "Backspace" && selected >= 0) explorer.close(selected);
    else if (event.key === "Escape") explorer.select(-1);
    else return;
    event.preventDefault();
  });
}

function listenToOutline(explorer) {
  const { model, outline, drawing } = explorer, box = $("outline");
  const activate = (id) => {
    outline.active = id;
    explorer.hover(id === model.root ? -1 : id, "outline");
    outline.scrollTo(id);
  };
  box.addEventListener("mousemove", (event) => {
    const id = outline.idOf(event);
    explorer.hover(id === model.root ? -1 : id, "outline");
  });
  box.addEventListener("mouseleave", () => explorer.hover(-1, "outline"));
  box.addEventListener("click", (event) => {
    const id = outline.idOf(event);
    if (id < 0) return;
    explorer.toggle(id, !model.open[id]);
    explorer.select(id);
  });
  box.addEventListener("keydown", (event) => {
    const id = outline.active, single = model.isSingle(id);
    if (/^(Arrow(Up|Down)|Page(Up|Down)|Home|End)$/.test(event.key)) activate(outline.neighbour(event.key));
    else if (event.key === "ArrowRight" && !single) {
      if (model.open[id]) activate(outline.neighbour("ArrowDown")); else explorer.toggle(id, true);
    } else if (event.key === "ArrowLeft" && id !== model.root) {
      if (!single && model.open[id]) explorer.toggle(id, false); else activate(model.parentOf(id));
    } else if (event.key === "Enter" || event.key === " ") {
      explorer.select(id);
      drawing.view.fit(id);
    } else return;
    event.preventDefault();
  });
}

function listenToControls(explorer) {
  const { model, drawing } = explorer;
  $("show").addEventListener("change", () => {
    if (Number($("show").value) >= 0) explorer.timed(() => model.showLevel(Number($("show").value)));
  });
  $("colour").addEventListener("change", () => explorer.colourBy($("colour").value));
  $("fit").addEventListener("click", () => drawing.view.fit(model.root));
  $("png").addEventListener("click", async () => explorer.save(await drawing.png(), "png"));
  $("csv").addEventListener("click", () => explorer.save(new Blob([model.csv()], { type: "text/csv" }), "csv"));
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|SELECT)$/.test(event.target.tagName)) {
      event.preventDefault();
      $("query").focus();
    }
  });
}
