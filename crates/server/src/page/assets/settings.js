// The first view: every key of a context, its effective value, the six layers, who set it; behind each, the
// chain and, where one may, an edit that shows its effect before it is saved.

import { Refused, ask, get, url } from "./api.js";
import { WORDS, el, say, shown, strip } from "./parts.js";

export async function settings(view, context) {
  const path = `/v1/apps/${encodeURIComponent(context.app)}`;
  const answer = await get(`${path}/resolve`, context.query());
  const filter = el("input", { type: "search", id: "filter", placeholder: "/ to filter", "aria-label": "Filter keys" });
  const body = el("tbody");
  const rows = answer.values.map((value) => row(value, path, context, answer));
  body.append(...rows.flat());
  filter.addEventListener("input", () => {
    const wanted = filter.value.toLowerCase();
    for (const [line, detail] of rows) {
      line.hidden = !line.dataset.key.toLowerCase().includes(wanted);
      detail.hidden = line.hidden || line.querySelector("button").getAttribute("aria-expanded") !== "true";
    }
  });
  body.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const buttons = [...body.querySelectorAll("tr:not([hidden]) > td.key > button")];
    const at = buttons.indexOf(event.target);
    if (!step || at < 0) return;
    event.preventDefault();
    buttons[at + step]?.focus();
  });
  view.replaceChildren(
    el("div.row", {}, filter, el("span.faint", {}, `${context.app} ${answer.version}, revision ${answer.revision}`)),
    el("table.stack", { id: "keys" },
      el("caption", {}, "Layers from left to right: host, app, tenant, workspace, user, runtime"),
      el("thead", {}, el("tr", {}, ["Key", "Value", "Layers", "From"].map((name) => el("th", { scope: "col" }, name)))),
      body));
}

const setBy = (value) => {
  const link = value.chain.find((link) => link.outcome === "won" && link.layer === value.source);
  if (!value.source) return "not set";
  return [value.source, link?.policy && `(rule ${link.policy})`, link?.actor && `by ${link.actor}`].filter(Boolean).join(" ");
};

function row(value, path, context, answer) {
  const button = el("button", { type: "button", "aria-expanded": "false" }, value.key);
  const lock = value.policies.find((rule) => rule.effect === "mandatory");
  const line = el("tr", { "data-key": value.key },
    el("td.key", {}, button),
    el("td.value", { "data-name": "Value" }, value.source ? shown(value.value) : "–",
      value.lockedByPolicy && lock ? el("div.locked-note", {}, `locked by ${lock.authority}: ${lock.reason}`) : ""),
    el("td", {}, strip(value)),
    el("td", { "data-name": "From" }, setBy(value)));
  const inside = el("td", { colspan: "4" });
  const detail = el("tr.detail", { hidden: true }, inside);
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", String(open));
    detail.hidden = !open;
    if (open) inside.replaceChildren(...behind(value, path, context, answer));
  });
  return [line, detail];
}

// What stands behind a value.
function behind(value, path, context, answer) {
  const chain = value.chain.map((link) => {
    const judge = value.policies.find((rule) => rule.id === link.refusedBy);
    const why = judge ? `rule ${judge.id} of ${judge.authority}: ${judge.reason}${judge.contact ? ` (ask ${judge.contact})` : ""}` : "";
    const by = [link.policy && `rule ${link.policy}`, link.actor, link.time, link.revision && `r${link.revision}`].filter(Boolean).join(", ");
    const refused = link.outcome === "skipped" || link.outcome === "suppressed";
    return el("tr", {},
      el("th", { scope: "row" }, link.layer), el("td.value", {}, shown(link.value)),
      el(refused ? "td.refused" : "td", {}, WORDS[link.outcome]), el("td", {}, by), el("td", {}, why));
  });
  const rules = value.policies.map((rule) => el("li", {},
    `${rule.effect}${rule.constraint ? ` ${rule.constraint}` : ""}, by the ${rule.authority}: ${rule.reason}`,
    rule.contact ? ` – ask ${rule.contact}` : "", rule.mode === "enforce" ? "" : ` (${rule.mode})`));
  const conflicts = value.conflicts.map((conflict) => el("li", {}, `${conflict.message}. ${conflict.remedy}`));
  return [
    el("table", {}, el("caption", {}, `Why ${value.key} is what it is`), el("tbody", {}, chain)),
    rules.length ? el("div", {}, el("h3", {}, "Rules"), el("ul", {}, rules)) : "",
    conflicts.length ? el("div", {}, el("h3", {}, "Conflicts"), el("ul", {}, conflicts)) : "",
    editor(value, path, context, answer),
  ];
}

// Changing a value: what would be is shown before anything is saved.
function editor(value, path, context, answer) {
  const layer = context.layer();
  if (!value.editable[layer]) {
    const lock = value.policies.find((rule) => rule.effect === "mandatory" || rule.effect === "deny");
    const why = lock ? `The ${lock.authority} has locked it: ${lock.reason}.${lock.contact ? ` Ask ${lock.contact}.` : ""}` : "It cannot be set at this level.";
    return el("p.locked-note", {}, `May not be changed by the ${layer}. ${why}`);
  }
  const own = value.chain.find((link) => link.layer === layer && !link.policy);
  const base = own?.revision ?? 0;
  const input = el("textarea", { rows: "2", spellcheck: "false", "aria-label": `New value of ${value.key}, as JSON` });
  input.value = shown(own?.value ?? value.value ?? null);
  const effect = el("div", { role: "status", "aria-live": "polite" });
  const save = el("button.primary", { type: "submit", disabled: true }, `Save for ${context.label()}`);
  const withdraw = el("button", { type: "button", disabled: own?.value === undefined }, "Withdraw");
  const read = () => {
    const text = input.value.trim();
    try { return JSON.parse(text); } catch { return text; }
  };
  let turn = 0;
  const attempt = async () => {
    const mine = ++turn;
    try {
      const what = await ask("POST", url(`${path}/resolve`, { ...context.query(), key: value.key }), { changes: { [value.key]: read() } });
      if (mine !== turn) return;
      const refused = what.verdict === "refused";
      const after = what.values[0];
      save.disabled = refused;
      effect.className = refused ? "effect bad" : "effect";
      effect.replaceChildren(refused
        ? el("p.refused", {}, what.refusals.map((c) => `${c.message}. ${c.remedy}`).join(" "))
        : el("p", {}, what.verdict === "pending"
          ? "Another person must approve this. Until then nothing changes."
          : `Then ${value.key} is ${shown(after.value)}, from ${after.source}.`));
    } catch (error) {
      if (mine !== turn) return;
      save.disabled = true;
      effect.replaceChildren(el("p.refused", {}, error.message));
    }
  };
  let timer;
  input.addEventListener("input", () => { save.disabled = true; clearTimeout(timer); timer = setTimeout(attempt, 200); });
  const done = async (method, body) => {
    try {
      const target = url(`${path}/keys/${encodeURIComponent(value.key)}`, context.query());
      const written = await ask(method, target, body, { "If-Match": `"r${base}"`, "Idempotency-Key": crypto.randomUUID() });
      say(written.verdict === "pending" ? `${value.key} waits for a review.` : `${value.key} is saved, revision ${written.revision}.`);
      await context.refresh(value.key);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      effect.className = "effect bad";
      effect.replaceChildren(el("p.refused", {}, error.message));
    }
  };
  withdraw.addEventListener("click", () => done("DELETE"));
  return el("form", { onsubmit: (event) => { event.preventDefault(); done("PUT", { value: read() }); } },
    el("h3", {}, `Change it for ${context.label()}`), input, effect,
    el("div.row", {}, save, withdraw, el("span.faint", {}, `revision ${answer.revision}`)));
}
