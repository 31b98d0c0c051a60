// The forms that a browser cannot send itself: methods that HTML forms lack, JSON, files of records, and choices by name.
// Runs after console.js. It writes no HTML: mistakes are shown by the page that the service returns.
"use strict";

/* Counts the records only on request, because counting may take a while. */
const count = async (button) => {
  const reply = await fetch(button.dataset.count, { method: "HEAD", headers: { Prefer: "count=exact" } });
  const total = reply.headers.get("X-Total-Count");
  if (total === null) return say("Counting takes too long.");
  button.replaceWith(`${Number(total).toLocaleString("en")} in all`);
};

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
const valueOf = ({ value, dataset, type }) => {
  // The script of every page shows times in the zone of the reader.
  if (type === "datetime-local" && value) return new Date(value).toISOString().replace(".000Z", "Z");
  return dataset.line === undefined ? value : value.replace(/\s*\n\s*/g, " ");
};
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
    // What browsers send beside the fields when there is no script.
    if (/^_|\./.test(field.name)) continue;
    if (field.type === "checkbox" && field.dataset.type === "boolean") {
      if (!partly || isChanged(field)) body[field.name] = field.checked;
      continue;
    }
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
  [form.dataset.raw, form.dataset.method ?? "import", form.dataset.path, form.ariaLabel].join(" ");
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

/* A file of records. Each record is sent in a separate request, with an idempotency key from its content. So a record
   that is sent again has one effect, also from a corrected file. */
const rowsOf = (text) => {
  let line = 1;
  const rows = [{ line, cells: [] }];
  for (const [all, inQuotes, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/g)) {
    rows.at(-1).cells.push(inQuotes?.replaceAll('""', '"') ?? plain);
    line += all.split("\n").length - 1;
    if (end === "") break;
    if (end !== ",") rows.push({ line, cells: [] });
  }
  return rows.filter(({ cells }) => cells.length > 1 || cells[0] !== "");
};
/** Returns the lines on which the elements of a JSON array begin. */
const linesOf = (text) => {
  const lines = [];
  let [depth, line, isNext] = [0, 1, false];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},\n]|[^\s[\]{},"]+/g)) {
    if (token === "\n") line += 1;
    else {
      if (isNext && token !== "]") lines.push(line);
      isNext = (token === "[" && depth === 0) || (token === "," && depth === 1);
      depth += "[{".includes(token) ? 1 : "]}".includes(token) ? -1 : 0;
    }
  }
  return lines;
};
const lineAsJSON = (text, line) => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`line ${line} is not JSON: ${error.message}`);
  }
};
/** Returns the records of a file, each with the line on which it begins. */
const recordsOf = (text, types) => {
  const whole = text.replace(/^\ufeff/, "");
  if (/^\s*\[/.test(whole)) {
    const lines = linesOf(whole);
    return JSON.parse(whole).map((record, at) => ({ line: lines[at], record }));
  }
  if (/^\s*\{/.test(whole))
    return whole
      .split(/\r?\n/)
      .flatMap((line, at) => (line.trim() ? [{ line: at + 1, record: lineAsJSON(line, at + 1) }] : []));
  const [{ cells: names } = { cells: [] }, ...rows] = rowsOf(whole.trimEnd());
  // A cell after the last column is also sent, so the service refuses the record.
  const nameOf = (at) => names[at]?.trim() ?? `column_${at + 1}`;
  return rows.map(({ line, cells }) => ({
    line,
    record: Object.fromEntries(
      cells.flatMap((cell, at) => (cell ? [[nameOf(at), read(cell, types[nameOf(at)] ?? "text")]] : [])),
    ),
  }));
};
/**
 * Two records with the same digest have the same key. The service refuses the second, so it is reported and not lost.
 */
const digestOf = (text) => {
  let [one, other] = [5381, 52711];
  for (let at = 0; at < text.length; at += 1) {
    one = Math.imul(one ^ text.charCodeAt(at), 2654435761);
    other = Math.imul(other ^ text.charCodeAt(at), 1597334677);
  }
  return [one, other].map((each) => (each >>> 0).toString(16)).join("-");
};
const bringIn = async (form) => {
  if (form.getAttribute("aria-busy") === "true") return;
  const out = document.getElementById(form.dataset.import);
  const [file] = one("[type=file]", form).files;
  if (file === undefined) return say("Choose a file first.");
  out.textContent = "";
  form.setAttribute("aria-busy", "true");
  const refused = [];
  let [made, at] = [0, 0];
  const showNote = (last = "") =>
    (out.textContent = [`${made} made, ${refused.length} refused.`, ...refused, last].filter(Boolean).join("\n"));
  try {
    const records = recordsOf(await file.text(), JSON.parse(form.dataset.types));
    const key = keyOf(form);
    const times = new Map();
    for (const { line, record } of records) {
      at += 1;
      const body = JSON.stringify(record);
      times.set(body, (times.get(body) ?? 0) + 1);
      const headers = {
        Accept: "application/json",
        "Content-Type": "application/json",
        "Idempotency-Key": `${key}-${digestOf(body)}-${times.get(body)}`,
      };
      const reply = await fetch(form.dataset.path, { method: "POST", headers, body });
      const { detail, errors = [] } = reply.ok ? {} : await reply.json();
      if (reply.ok) made += 1;
      else refused.push(`Line ${line}: ${detail} ${errors.map((each) => `${each.pointer} ${each.detail}`).join(" ")}`);
      if ([401, 403, 429, 503].includes(reply.status))
        return showNote(
          `Stopped at line ${line}, record ${at} of ${records.length}. Correct the cause and send the file again.`,
        );
      showNote(`Record ${at} of ${records.length} …`);
    }
    showNote("Done.");
  } catch (error) {
    showNote(
      at === 0
        ? `Nothing was sent: ${error.message}`
        : `Stopped at record ${at}: ${error.message}. Send the file again.`,
    );
  } finally {
    form.removeAttribute("aria-busy");
  }
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
  if (target.closest('a[href=""]')) {
    event.preventDefault();
    void go(location.href);
  }
  const button = target.closest("button");
  if (button?.matches("[data-count]")) void count(button);
  if (button?.matches("[data-close]")) button.closest("details").open = false;
});
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.dataset.method && !form.dataset.import) return;
  // The script of the docs sends these.
  if (form.dataset.try) return;
  event.preventDefault();
  void (form.dataset.import ? bringIn(form) : send(form, event.submitter));
});
for (const form of all("[data-raw]")) renew(form);
