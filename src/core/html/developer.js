// Only for the docs, and for pages on which a reader sends one request like a program.
"use strict";

/* Numbers of JSON stay as written if the browser can, because it would round some. */
const exactly = (_, value, { source } = {}) =>
  typeof value === "number" && JSON.rawJSON ? JSON.rawJSON(source) : value;

/* A request from a form: on a page of the docs, or with a credential that the user enters. With such a credential, the
   browser sends no session cookie. */
const requestOf = (form) => {
  const { method = "GET", template } = form.dataset;
  const inputs = [...form.elements].filter((each) => each.dataset.in && each.value !== "");
  const within = (place) => inputs.filter((each) => each.dataset.in === place);
  const path = within("path").reduce(
    (at, { name, value }) => at.replace(`{${name}}`, encodeURIComponent(value)),
    template,
  );
  const query = new URLSearchParams(within("query").map(({ name, value }) => [name, value])).toString();
  const body = within("body")[0]?.value ?? null;
  const headers = Object.fromEntries(within("header").map(({ name, value }) => [name, value]));
  if (body !== null) headers["Content-Type"] = within("type")[0].value;
  return { method, path: query === "" ? path : `${path}?${query}`, headers, body };
};
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** Writes the same request for a shell and for a script. A credential is only a placeholder. */
const spell = (form) => {
  const { method, path, headers, body } = requestOf(form);
  const [name, ...rest] = form.dataset.credential.split(": ");
  const all = { ...(name && { [name]: rest.join(": ") }), ...headers };
  const at = location.origin + path;
  document.getElementById("curl").textContent = [
    `curl${method === "GET" ? "" : ` -X ${method}`} ${quoted(at)}`,
    ...Object.entries(all).map((each) => `-H ${quoted(each.join(": "))}`),
    ...(body === null ? [] : [`-d ${quoted(body)}`]),
  ].join(" \\\n  ");
  const init = JSON.stringify({ method, headers: all, ...(body !== null && { body }) }, null, 2);
  document.getElementById("fetch").textContent =
    `const reply = await fetch(${JSON.stringify(at)}, ${init});\nconsole.log(reply.status, await reply.text());`;
};

const givenOf = (form) => {
  const { method, path, header, value } = Object.fromEntries(new FormData(form));
  return { method, path, headers: value ? { [header]: value } : {}, body: null, isOther: value !== "" };
};

const attempt = async (form) => {
  const { method, path, headers: given, body, isOther } = form.dataset.template ? requestOf(form) : givenOf(form);
  const out = document.getElementById(form.dataset.try);
  const headers = { Accept: "application/json", ...given };
  out.textContent = "…";
  const started = performance.now();
  try {
    const reply = await fetch(path, {
      method,
      headers,
      body,
      credentials: isOther ? "omit" : "same-origin",
    });
    const text = await reply.text();
    const line = `${reply.status} ${reply.statusText} in ${Math.round(performance.now() - started)} ms`;
    out.textContent = [line, ...[...reply.headers].map((each) => each.join(": ")), "", pretty(text)].join("\n");
    out.focus();
  } catch (error) {
    out.textContent = `No answer: ${error.message}`;
  }
};

const pretty = (text) => {
  try {
    return JSON.stringify(JSON.parse(text, exactly), null, 2);
  } catch {
    return text;
  }
};

/* Finds an operation while the reader types. */
const narrow = ({ value }) => {
  const words = value.toLowerCase().split(/\s+/);
  const fits = ({ textContent, title }) => words.every((word) => (textContent + title).toLowerCase().includes(word));
  for (const group of all("[data-group]")) {
    for (const item of all("li", group)) item.hidden = !fits(one("a", item));
    const isFound = one("li:not([hidden])", group) !== null;
    group.hidden = !isFound;
    if (group.matches("details")) group.open = isFound && (value !== "" || one("[aria-current]", group) !== null);
  }
};
for (const field of all("[data-narrow]")) field.addEventListener("input", () => narrow(field));

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.dataset.try) return;
  event.preventDefault();
  if (form.dataset.template) spell(form);
  void attempt(form);
});
for (const form of all("[data-template]")) {
  spell(form);
  form.addEventListener("input", () => spell(form));
}
