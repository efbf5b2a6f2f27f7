// Small pieces of the page.

// An element: its name with classes, its attributes, what it holds.
export function el(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== false));
  return element;
}

export const shown = (value) => (value === undefined ? "–" : JSON.stringify(value));

// What a layer's word is in a table.
export const WORDS = { won: "stands", overridden: "overridden", skipped: "refused", suppressed: "suppressed", absent: "absent" };

// Six cells, low to high: empty, set, winning, refused, locked.
export function strip(value) {
  const cells = layers(value).map(({ layer, outcome }) => {
    const locked = value.lockedByPolicy && layer === value.source;
    return { layer, word: locked ? "locked" : WORDS[outcome], css: locked ? "locked" : outcome };
  });
  const label = cells.map(({ layer, word }) => `${layer} ${word}`).join(", ");
  return el("span.strip", { role: "img", "aria-label": label, title: label },
    cells.map(({ layer, css }) => el(`span.${css}`, {}, layer[0].toUpperCase())));
}

// One link a layer; a value that a rule supplies counts for its layer.
function layers(value) {
  const all = new Map();
  for (const link of value.chain) {
    const known = all.get(link.layer);
    if (!known || known.outcome === "absent" || link.outcome === "won") all.set(link.layer, link);
  }
  return [...all.values()];
}

export function table(caption, names, rows) {
  return el("table.stack", {},
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, names.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell, at) => el("td", { "data-name": names[at] }, cell))))));
}

export function say(text) {
  const said = document.getElementById("said");
  said.textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { said.textContent = ""; }, 6000);
}
