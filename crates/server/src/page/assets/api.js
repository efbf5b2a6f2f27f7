// Asking the node: every request carries the token of this tab, and a refusal comes back as its problem.

const KEY = "lath-token";

export const session = {
  get token() { return sessionStorage.getItem(KEY) ?? ""; },
  set token(text) { sessionStorage.setItem(KEY, text); },
  end() { sessionStorage.removeItem(KEY); },
};

export class Refused extends Error {
  constructor(problem) {
    super(problem.detail ?? problem.title);
    this.problem = problem;
  }
}

// The path with a query of what is not empty.
export function url(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value != null);
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

export async function ask(method, path, body, headers = {}) {
  let reply;
  try {
    reply = await fetch(path, {
      method,
      headers: { Authorization: `Bearer ${session.token}`, ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Refused({ status: 0, code: "unreachable", detail: "The node cannot be reached." });
  }
  document.getElementById("stale").hidden = !reply.headers.has("lath-stale");
  const text = await reply.text();
  const answer = text ? JSON.parse(text) : {};
  if (!reply.ok) throw new Refused(answer);
  return answer;
}

export const get = (path, query) => ask("GET", url(path, query));
