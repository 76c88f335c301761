// Names and numbers as text.
const $ = (id) => document.getElementById(id);

// Replace control characters and truncate.
function shorten(text, max) {
  const letters = Array.from(text.slice(0, 4 * max), (c) => (/\p{C}|\p{Zl}|\p{Zp}/u.test(c) ? " " : c));
  return letters.length > max ? letters.slice(0, max - 1).join("") + "…" : letters.join("");
}

function bitsText(bits) {
  return bits === 0 ? "0" : bits >= 0.001 ? bits.toFixed(4) : bits.toExponential(1);
}

function counted(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

const hex = (rgb) => `#${rgb.toString(16).padStart(6, "0")}`;

// Black or white: the colour of higher contrast on a fill (WCAG 2).
function inkOn(fill) {
  const linear = [1, 3, 5].map((i) => parseInt(fill.slice(i, i + 2), 16) / 255)
    .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
  const light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return (light + 0.05) ** 2 < 1.05 * 0.05 ? "#ffffff" : "#000000";
}

// A colour between two, the first at share 1.
function blend(one, other, share) {
  const part = (text, i) => parseInt(text.slice(i, i + 2), 16);
  const mixed = [1, 3, 5].map((i) => Math.round(part(one, i) * share + part(other, i) * (1 - share)));
  return hex(mixed[0] << 16 | mixed[1] << 8 | mixed[2]);
}

function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}
