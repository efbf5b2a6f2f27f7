// The page: who is looking, at which context, in which view. Everything is asked of the API; nothing is kept but the
// token, and that only for this tab.

import { get, session } from "./api.js";
import { el, say } from "./parts.js";
import { settings } from "./settings.js";
import { history, orphans, readiness, reviews, upgrade } from "./panels.js";

const VIEWS = { Settings: settings, Readiness: readiness, Reviews: reviews, Upgrade: upgrade, Orphans: orphans, History: history };
const $ = (id) => document.getElementById(id);

const context = {
  me: null, tenant: "", app: "", version: "", workspace: "", user: "", view: "Settings",
  query() { return { tenant: this.tenant, workspace: this.workspace, user: this.user }; },
  layer() { return this.user ? "user" : this.workspace ? "workspace" : "tenant"; },
  label() { return [this.tenant, this.workspace, this.user].filter(Boolean).join("/"); },
  // Asks again, and opens the key that was at hand.
  async refresh(key) {
    await choose();
    if (!key) return;
    const line = document.querySelector(`tr[data-key="${CSS.escape(key)}"] button`);
    line?.click();
    line?.focus();
  },
};

function remember() {
  const { tenant, app, workspace, user, view } = context;
  window.history.replaceState(null, "", `#${new URLSearchParams({ tenant, app, workspace, user, view })}`);
}

async function draw() {
  remember();
  for (const button of $("tabs").querySelectorAll("button")) {
    const here = button.textContent === context.view;
    button.setAttribute("aria-selected", String(here));
    button.tabIndex = here ? 0 : -1;
  }
  const view = $("view");
  view.setAttribute("aria-label", context.view);
  try {
    await VIEWS[context.view](view, context);
  } catch (error) {
    view.replaceChildren(el("p.refused", { role: "alert" }, error.message));
  }
}

// Fills the choices from what the token may see.
async function choose() {
  const answer = await get("/v1/contexts", { tenant: context.tenant });
  const apps = answer.apps;
  const app = apps.find((one) => one.app === context.app) ?? apps[0];
  $("app").replaceChildren(...apps.map((one) => el("option", { selected: one === app }, one.app)));
  context.app = app?.app ?? "";
  context.version = app?.version ?? "";
  const scopes = app?.scopes ?? [];
  const here = scopes.find((s) => s.workspace === context.workspace && s.user === context.user) ?? scopes[0];
  context.workspace = here?.workspace ?? "";
  context.user = here?.user ?? "";
  $("scope").replaceChildren(...scopes.map((scope) => {
    const name = [context.tenant, scope.workspace, scope.user].filter(Boolean).join("/");
    return el("option", { value: JSON.stringify(scope), selected: scope === here }, name);
  }));
  if (!app) {
    $("view").replaceChildren(el("p.faint", {}, "No app is installed for this tenant."));
    return;
  }
  await draw();
}

async function enter() {
  context.me = await get("/v1/me");
  const { tenants } = await get("/v1/tenants");
  const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  context.tenant = tenants.includes(given.tenant) ? given.tenant : tenants[0] ?? "";
  context.app = given.app ?? "";
  context.workspace = given.workspace ?? context.me.workspace;
  context.user = given.user ?? context.me.user;
  context.view = given.view in VIEWS ? given.view : "Settings";
  $("tenant").replaceChildren(...tenants.map((name) => el("option", { selected: name === context.tenant }, name)));
  $("who").textContent = `${context.me.name}, ${context.me.role}`;
  $("sign-in").hidden = true;
  for (const id of ["work", "context", "sign-out"]) $(id).hidden = false;
  await choose();
}

function leave(message = "") {
  session.end();
  $("sign-in").hidden = false;
  $("sign-in-error").textContent = message;
  for (const id of ["work", "context", "sign-out"]) $(id).hidden = true;
  $("who").textContent = "";
  $("token").focus();
}

async function start() {
  try {
    await enter();
  } catch (error) {
    leave(error.problem?.status === 401 ? "That token is not known, or no longer valid." : error.message);
  }
}

$("tabs").append(...Object.keys(VIEWS).map((name) => el("li", { role: "presentation" }, el("button", {
  type: "button", role: "tab", "aria-controls": "view",
  onclick: () => { context.view = name; draw(); },
}, name))));
$("tabs").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const names = Object.keys(VIEWS);
  const at = names.indexOf(context.view) + (step ?? 0);
  if (!step || !names[at]) return;
  context.view = names[at];
  draw();
  $("tabs").querySelectorAll("button")[at].focus();
});
$("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  session.token = $("token").value.trim();
  $("token").value = "";
  start();
});
$("sign-out").addEventListener("click", () => leave());
$("tenant").addEventListener("change", () => { context.tenant = $("tenant").value; context.workspace = context.user = ""; choose(); });
$("app").addEventListener("change", () => { context.app = $("app").value; choose(); });
$("scope").addEventListener("change", () => { Object.assign(context, JSON.parse($("scope").value)); draw(); });
document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, textarea, select");
  if (event.key === "/" && !typing) { event.preventDefault(); $("filter")?.focus(); }
});
window.addEventListener("unhandledrejection", (event) => say(event.reason?.message ?? "Something went wrong."));

if (session.token) start(); else leave();
