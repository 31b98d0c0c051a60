// The forms that a browser cannot send itself: methods that HTML forms lack, JSON, and choices by name.
// Runs after console.js. It writes no HTML: mistakes are shown by the page that the service returns.
"use strict";

/* Suggests ids of other records with their names: of the first records, or of those that contain the typed word. The
   service lists only records that the caller may list. */
const suggest = async (input) => {
  const { choices, called, search } = input.dataset;
  const word = search === undefined || /^[\d-]*$/.test(input.value) ? "" : `&search=${encodeURIComponent(input.value)}`;
  if (input.dataset.asked === word) return;
  input.dataset.asked = word;
  const query = `?limit=50&fields=${called === "id" ? "id" : `id,${called}`}${word}`;
  const reply = await fetch(choices + query, { headers: { Accept: "application/json" } }).catch(() => null);
  if (!reply?.ok || input.dataset.asked !== word) return;
  const list = document.getElementById(`${input.id}-choices`) ?? document.createElement("datalist");
  list.id = `${input.id}-choices`;
  list.replaceChildren(
    ...(await reply.json()).map((row) => {
      const choice = document.createElement("option");
      choice.value = row.id;
      choice.label = `${row.id} ${String(row[called] ?? "").slice(0, 100)}`;
      return choice;
    }),
  );
  input.after(list);
  input.setAttribute("list", list.id);
};
/* A field with several ids: an id that was chosen in the line gets a checkbox, and the line becomes empty for the next
   id. */
const add = (input) => {
  const choice = [...(input.list?.options ?? [])].find(({ value }) => value === input.value.trim());
  if (choice === undefined) return;
  const [row] = all(".row", input.closest("[data-several]"));
  const box = document.createElement("input");
  Object.assign(box, { type: "checkbox", name: input.name, value: choice.value, checked: true });
  const label = document.createElement("label");
  label.append(box, choice.label);
  if (!all("input", row).some((each) => each.value === choice.value && (each.checked = true))) row.append(label);
  input.value = "";
};
const isLine = (target) => target.closest("[data-several]") && target.type === "text";
document.addEventListener("change", ({ target }) => isLine(target) && add(target));
let typing = 0;
for (const event of ["focusin", "input"])
  document.addEventListener(event, ({ target, inputType }) => {
    // Chosen from a list and not typed. A typed id may be the beginning of another one.
    if (isLine(target) && event === "input" && !/^(?:insertText|delete|insertFromPaste)/.test(inputType ?? ""))
      add(target);
    if (target.dataset.choices === undefined) return;
    clearTimeout(typing);
    // Waits between letters, because each request is a search.
    typing = setTimeout(() => void suggest(target), event === "input" ? 200 : 0);
  });

/** Returns the value of a field. A one-line field that wraps gets no line breaks, also not by pasting. */
const valueOf = ({ value, dataset }) => (dataset.line === undefined ? value : value.replace(/\s*\n\s*/g, " "));
/** Returns the ids and words that are selected, and those that were typed. */
const chosenIn = (fields, type) =>
  fields
    .flatMap(({ type, checked, value }) =>
      ["checkbox", "radio"].includes(type) ? (checked ? [value] : []) : value.split(/[\s,]+/),
    )
    .filter((each, at, those) => each && those.indexOf(each) === at)
    .map((each) => read(each, type));

/* Forms with data-method. A merge patch contains only the changed fields. If-Match protects the changes of other
   users. */
const isChanged = (field) => {
  if (field.dataset.again !== undefined) return true;
  if (field.options) return [...field.options].some((each) => each.selected !== each.defaultSelected);
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  return field.value !== field.defaultValue;
};

/** Keeps the numbers of JSON as written if the browser can, because it would round some. */
const asWritten = (_, value, { source } = {}) =>
  typeof value === "number" && JSON.rawJSON ? JSON.rawJSON(source) : value;

/**
 * Converts the text of a field to its declared type. A text that cannot be converted is sent unchanged, and the service
 * reports the mistake.
 */
const read = (text, type) => {
  if (text === "" && type.includes("null")) return null;
  // The day on which something ends, as the time at which the day begins.
  if (type.startsWith("day")) return /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text;
  if (type.startsWith("integer")) return /^-?\d{1,15}$/.test(text.trim()) ? Number(text) : text;
  if (type.startsWith("number")) return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  if (type.startsWith("boolean")) return text === "true" ? true : text === "false" ? false : text;
  if (!type.startsWith("json")) return text;
  try {
    return JSON.parse(text, asWritten);
  } catch {
    return text;
  }
};

/** Returns the body of a form. A new record leaves out empty fields; a change leaves out untouched ones. */
const bodyOf = (form, method) => {
  const { whole } = form.dataset;
  const partly = method === "PATCH" && whole === undefined;
  const body = {};
  for (const field of form.elements) {
    if (
      !field.name ||
      field.name.startsWith("_") ||
      ["submit", "button"].includes(field.type) ||
      field.closest("[data-several]")
    )
      continue;
    if (partly && field.type !== "hidden" && !isChanged(field)) continue;
    const { type = "text" } = field.dataset;
    if (field.type === "radio" ? field.checked : partly || field.value !== "")
      body[field.name] = read(valueOf(field), type);
  }
  for (const group of all("[data-several]", form)) {
    const fields = all("[name]", group);
    if (partly && group.dataset.again === undefined && !fields.some(isChanged)) continue;
    const chosen = chosenIn(fields, group.dataset.several);
    if (chosen.length > 0 || method !== "POST" || group.dataset.needed !== undefined) body[fields[0].name] = chosen;
  }
  return body;
};

/**
 * Returns an idempotency key, and keeps it while the result is unknown. A repeated request then has only one effect.
 */
const keyOf = (form) =>
  (form.dataset.once ??= [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join(""));

/* Forms in which the user types JSON and header fields. The form gets a new idempotency key after each response,
   unless the user has changed the key. */
const renew = (form) => {
  const field = one("[data-once]", form);
  if (field === null || field.value !== field.defaultValue) return;
  field.defaultValue = keyOf(form);
};
const rawOf = (form) => ({
  body: one("textarea", form).value,
  headers: Object.fromEntries(
    all("[data-header]", form).flatMap(({ dataset, value }) => (value.trim() ? [[dataset.header, value.trim()]] : [])),
  ),
});

const send = async (form, button) => {
  if (form.getAttribute("aria-busy") === "true") return;
  const { match, path, then, repeatable, raw } = form.dataset;
  const method = button?.dataset.as ?? form.dataset.method;
  const body = method === "DELETE" || raw !== undefined ? null : bodyOf(form, method);
  if (method === "PATCH" && body !== null && Object.keys(body).length === 0)
    return say("Nothing was changed, so nothing was sent.");
  form.setAttribute("aria-busy", "true");
  try {
    const headers = { Accept: "text/html", ...(match && { "If-Match": match }) };
    if (body !== null) headers["Content-Type"] = "application/json";
    if (repeatable !== undefined && method !== "PUT") headers["Idempotency-Key"] = keyOf(form);
    const typed = raw === undefined ? { headers, body: body && JSON.stringify(body) } : rawOf(form);
    const reply = await fetch(path, { method, ...typed, headers: { ...headers, ...typed.headers } });
    delete form.dataset.once;
    if (raw !== undefined) renew(form);
    await show(form, button, reply, then);
  } catch {
    say(`The service did not answer. The request may have been done or not. Send it again. (${method} ${path})`);
  } finally {
    form.removeAttribute("aria-busy");
  }
};

/* A form that the service accepts only after a recent proof of the user. Its page is stored with all input, and shown
   again after the proof. */
let paused = null;
const confirmFirst = (form, button, page) => {
  paused = { form, button, shown: replace(page, form) };
  return send(one("main form[data-confirm]"));
};
const sendPaused = () => {
  const { form, button, shown } = paused;
  paused = null;
  for (const [place, each] of waiting) if (shown.parts.some((part) => part.contains(each))) waiting.delete(place);
  display(shown);
  return send(form, button);
};

/* Forms with typed input that are not sent when another form is sent. Each replaces the empty form in the next page
   that contains it. */
const waiting = new Map();
const placeOf = (form) =>
  [form.dataset.raw, form.dataset.method ?? "import", form.dataset.path, form.ariaLabel, one("[id]", form)?.id].join(
    " ",
  );
const isTyped = (form) =>
  one("[data-several][data-again]", form) || all("input:not([type=hidden]), select, textarea", form).some(isChanged);
const replace = (page, sent) => {
  for (const form of all("main form[data-path]")) if (form !== sent && isTyped(form)) waiting.set(placeOf(form), form);
  const before = display(partsOf(page));
  for (const form of all("main form[data-path]")) {
    const typed = waiting.get(placeOf(form));
    // A refused form has what was typed into it.
    if (typed === undefined || one("[data-again], [aria-invalid]", form) !== null) continue;
    waiting.delete(placeOf(form));
    form.replaceWith(typed);
    if (typed.closest("details.more") !== null) typed.closest("details.more").open = true;
  }
  for (const form of all("[data-raw]")) renew(form);
  (one("main [autofocus]") ?? one("main [role=alert]") ?? one("main")).focus();
  return before;
};

/**
 * Opens the next page. If it is the current page, loads it again. After a login, the browser loads the whole page
 * again.
 */
const go = async (next, sent) => {
  const to = new URL(next, location.href);
  if (sent?.dataset.leave !== undefined) return location.assign(next);
  if (to.pathname + to.search !== location.pathname + location.search) return location.assign(next);
  try {
    replace(await pageOf(await fetch(to, { headers: { Accept: "text/html" } })), sent);
    say("Done.");
  } catch {
    location.assign(next);
  }
};

/**
 * Opens the page of the result, or shows the response of the service. The input stays if the response contains no form
 * for it.
 */
const show = async (form, button, reply, then) => {
  if (reply.ok) {
    if (form.dataset.restore !== undefined && paused !== null) return sendPaused();
    // The result of a custom endpoint, such as a key, is only in this response.
    const next = then ?? (form.dataset.stay === undefined ? reply.headers.get("Location") : null);
    if (next !== null && next !== undefined) return go(next, form);
    if (reply.status === 204) return go(location.href, form);
  }
  const page = await pageOf(reply);
  if (one("main", page) === null) return say(`The service answered ${reply.status}, without a page.`);
  if (one("main form[data-confirm]", page) !== null) return confirmFirst(form, button, page);
  const again = all("main form[data-path]", page).find((each) => each.dataset.path === form.dataset.path);
  if (!reply.ok && (again === undefined || form.dataset.raw !== undefined)) return showNote(form, page, reply.status);
  if (!reply.ok && again.dataset.then === undefined && then !== undefined) again.setAttribute("data-then", then);
  // A new page starts at its top, as without the script: the QR code of an app would otherwise be behind the bar.
  if (reply.ok) scrollTo({ top: 0, behavior: "instant" });
  replace(page, form);
  // A page with another step is not the end: its first field has the focus, or it asks for a passkey.
  const isLast = one("main [autofocus], main .qr, main [data-passkey=create][data-ask]") === null;
  if (reply.ok) return isLast && form.dataset.confirm === undefined ? say("Done.") : undefined;
  // No page sends a password back.
  for (const { name, value } of all("[type=password]", form))
    for (const field of all(`[type=password][name="${name}"]`, again)) field.value = value;
};

/** Shows an error above the form. The form stays unchanged. */
const showNote = (form, page, status) => {
  const note = document.createElement("div");
  note.className = "note bad";
  note.role = "alert";
  note.tabIndex = -1;
  for (const part of all("main h1, .head p, .lead, main > section p, .note li", page)) {
    const line = document.createElement("p");
    line.textContent = part.textContent;
    note.append(line);
  }
  const login = one("main form[method=post][action]", page);
  if ((status === 401 || login) && form.dataset.path !== undefined) {
    const link = document.createElement("a");
    link.href = login?.getAttribute("action") ?? location.href;
    link.target = "_blank";
    link.textContent = "Log in in another tab, then send this again. What you typed stays here.";
    note.append(link);
  }
  one(":scope > .note", form)?.remove();
  form.prepend(note);
  note.focus();
};

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  // Enter sends a one-line field that wraps, like every one-line field.
  if (key !== "Enter" || target.dataset.line === undefined || event.isComposing) return;
  event.preventDefault();
  target.form.requestSubmit();
});
document.addEventListener("click", (event) => {
  const { target } = event;
  const back = target.closest('a[href=""], a[data-back]');
  if (back && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    // The link below a card leaves its form, and drops what was typed there alone.
    void go(back.href, back.closest("form") ?? (back.closest("footer") && one("main form[data-path]")));
  }
  const button = target.closest("button");
  if (button?.matches("[data-close]")) button.closest("details").open = false;
});
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.dataset.method) return;
  // The script of the docs sends these.
  if (form.dataset.try) return;
  event.preventDefault();
  void send(form, event.submitter);
});
for (const form of all("[data-raw]")) renew(form);
