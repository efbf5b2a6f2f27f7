// The other views: readiness, reviews, upgrade, orphans, history.

import { Refused, ask, get, url } from "./api.js";
import { el, say, shown, table } from "./parts.js";

const appPath = (context) => `/v1/apps/${encodeURIComponent(context.app)}`;

// Runs a write and tells what came of it.
async function act(context, text, work) {
  try {
    await work();
    say(text);
    await context.refresh();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    await context.refresh();
    say(error.message);
  }
}

export async function readiness(view, context) {
  const ready = await get(`${appPath(context)}/readiness`, context.query());
  const checks = (list) => el("ul", {}, list.map((check) => el("li", {},
    el("span.status", {}, check.severity), ` ${check.message}. `, el("span.faint", {}, check.remediation))));
  view.replaceChildren(
    el("h2", {}, `${context.app} for ${context.label()}: `, el(ready.status === "ready" ? "span.good" : "span.refused", {}, ready.status)),
    checks(ready.checks),
    ...ready.entries.map((entry) => el("div", {}, el("h3", {}, `${entry.key}: ${entry.status}`), checks(entry.checks))));
}

export async function reviews(view, context) {
  const answer = await get("/v1/reviews", { tenant: context.tenant });
  if (!answer.reviews.length) return view.replaceChildren(el("p.faint", {}, "Nothing waits for a review."));
  const decide = (review, word) => el(word === "approve" ? "button.primary" : "button", {
    type: "button",
    onclick: () => act(context, `Review ${review.id}: ${word === "approve" ? "approved" : "rejected"}.`,
      () => ask("POST", url(`/v1/reviews/${review.id}/${word}`, { tenant: context.tenant }))),
  }, word === "approve" ? "Approve" : "Reject");
  view.replaceChildren(table("Writes that wait for another person", ["Change", "For", "By", ""], answer.reviews.map((review) => [
    Object.entries(review.changes).map(([key, value]) => el("div", {}, el("code", {}, `${key} = ${shown(value)}`))),
    review.scope, `${review.author}, ${review.time}`,
    review.mayApprove ? el("div.row", {}, decide(review, "approve"), decide(review, "reject"))
      : review.author === context.me.name ? decide(review, "reject") : "another person decides",
  ])));
}

export async function upgrade(view, context) {
  const packages = (await get("/v1/packages")).packages.filter((p) => p.app === context.app);
  const others = packages.map((p) => p.version).filter((version) => version !== context.version);
  if (!others.length) return view.replaceChildren(el("p.faint", {}, "There is no other version."));
  const choice = el("select", { "aria-label": "Version", id: "to" }, others.map((version) => el("option", {}, version)));
  const report = el("div");
  const show = async () => {
    const answer = await get(`${appPath(context)}/upgrade`, { tenant: context.tenant, to: choice.value });
    report.replaceChildren(...diff(answer, context, choice.value));
  };
  choice.addEventListener("change", show);
  view.replaceChildren(el("div.row", {}, el("span", {}, `From ${context.version} to`), choice), report);
  await show();
}

// A difference a line, with a decision where one is needed.
function diff(answer, context, to) {
  const needed = answer.changes.filter((line) => line.verdict !== "safe");
  const boxes = [];
  const rows = answer.changes.map((line) => {
    const box = line.verdict === "needs-review"
      ? el("label", {}, el("input", { type: "checkbox" }), ` seen: ${line.key}`) : line.verdict;
    if (box instanceof HTMLElement) boxes.push(box.querySelector("input"));
    return [line.kind, el("code", {}, line.key), line.message, (line.scopes ?? []).join(", "), box];
  });
  const go = el("button.primary", { type: "button", disabled: boxes.length > 0 || answer.verdict === "blocked" }, `Switch to ${to}`);
  for (const box of boxes) box.addEventListener("change", () => { go.disabled = answer.verdict === "blocked" || !boxes.every((b) => b.checked); });
  go.addEventListener("click", () => act(context, `${context.app} is now ${to}.`,
    () => ask("POST", url(`${appPath(context)}/upgrade`, { tenant: context.tenant }), { to, reviewed: needed.length > 0 })));
  return [
    el("h2", {}, "Verdict: ", el(answer.verdict === "safe" ? "span.good" : "span.refused", {}, answer.verdict)),
    table("What the version changes", ["What", "Key", "Message", "Whom", "Decision"], rows),
    answer.orphans.length ? table("Values that become orphans: kept, not used, back if the key comes back",
      ["Key", "Of", "Value"], answer.orphans.map((o) => [el("code", {}, o.key), o.scope, el("code", {}, shown(o.value))])) : "",
    el("div.row", {}, go),
  ];
}

export async function orphans(view, context) {
  const answer = await get(`${appPath(context)}/orphans`, { tenant: context.tenant });
  if (!answer.orphans.length) return view.replaceChildren(el("p.faint", {}, "There are no orphans."));
  view.replaceChildren(table("Stored values whose keys this version does not have", ["Key", "Of", "Value", "Set by", ""],
    answer.orphans.map((orphan) => [el("code", {}, orphan.key), orphan.scope, el("code", {}, shown(orphan.value)),
      `${orphan.actor}, for ${orphan.version}`,
      el("button", {
        type: "button",
        onclick: () => act(context, `${orphan.key} is removed.`, () => ask("DELETE",
          url(`${appPath(context)}/orphans/${encodeURIComponent(orphan.key)}`, { tenant: orphan.tenant, workspace: orphan.workspace, user: orphan.user }))),
      }, "Remove")])));
}

export async function history(view, context) {
  const answer = await get(`${appPath(context)}/history`, context.query());
  if (!answer.history.length) return view.replaceChildren(el("p.faint", {}, `${context.label()} has set nothing yet.`));
  const back = (line) => el("button", {
    type: "button",
    onclick: () => act(context, `Back to revision ${line.revision}.`,
      () => ask("POST", url(`${appPath(context)}/rollback`, context.query()), { to: line.revision })),
  }, "Back to this");
  view.replaceChildren(table(`What ${context.label()} has set, newest first`, ["Revision", "Key", "Value", "By", ""],
    answer.history.map((line, at) => [`r${line.revision}`, el("code", {}, line.key || line.kind), el("code", {}, shown(line.value)),
      `${line.actor}, ${line.time}${line.approvedBy ? `, approved by ${line.approvedBy}` : ""}`, at > 0 && line.kind === "value" ? back(line) : ""])));
}
