// Light and dark colours of the plot; those of the rest of the page are in the style sheet.
const THEMES = {
  light: { back: "#ffffff", edge: "#59626e", near: "#2f3640", rim: "#ffffff", text: "#16191d", hover: "#e0247a", selected: "#16191d", plain: "#5c6673", lift: 0 },
  dark: { back: "#14171b", edge: "#aab4c0", near: "#e6ebf2", rim: "#14171b", text: "#f0f3f7", hover: "#ff6fae", selected: "#ffffff", plain: "#9aa5b3", lift: 0.16 },
};

class Theme {
  constructor(button, onchange) {
    this.button = button;
    this.onchange = onchange;
    const preferred = matchMedia("(prefers-color-scheme: dark)");
    this.set(preferred.matches ? "dark" : "light");
    preferred.addEventListener("change", () => this.set(preferred.matches ? "dark" : "light"));
    button.addEventListener("click", () => this.set(this.name === "dark" ? "light" : "dark"));
  }

  set(name) {
    this.name = name;
    this.colours = THEMES[name];
    document.documentElement.dataset.theme = name;
    this.button.setAttribute("aria-pressed", name === "dark");
    this.onchange(this.colours);
  }
}
