// The pages of a Latchkey service. Every page reads without this file. It adds: times as the reader writes them, show
// password, copy, print, search in a choice, the remembered API fold, and keys.
"use strict";

const all = (query, within = document) => [...within.querySelectorAll(query)];
const one = (query, within = document) => within.querySelector(query);
const make = (name, traits = {}, text = "") => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(traits)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
};
/* A private window does not remember. */
const keep = {
  get(name) {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  },
  set(name, value) {
    try {
      localStorage.setItem(name, value);
    } catch {}
  },
};

let silence;
/** Says something for four seconds. `quietly`: only to a screen reader. */
const say = (text, quietly = false) => {
  const said = one("[data-said]");
  said.classList.toggle("vh", quietly);
  said.textContent = text;
  clearTimeout(silence);
  silence = setTimeout(() => (said.textContent = ""), 4000);
};

/* Times. The server writes a plain absolute time. Here it becomes the reader's language, order and zone. */
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const near = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const units = { year: 31557600, month: 2629800, day: 86400, hour: 3600, minute: 60 };
const ago = (then) => {
  const seconds = (then - Date.now()) / 1000;
  const unit = Object.keys(units).find((name) => Math.abs(seconds) >= units[name]) ?? "minute";
  return near.format(Math.round(seconds / units[unit]), unit);
};
const rewrite = (time) => {
  const then = Date.parse(time.dateTime);
  const format = time.dateTime.length === 10 ? day : moment;
  time.title =
    format === day
      ? time.dateTime
      : new Date(then)
          .toISOString()
          .replace(/:\d\d\.\d+Z/, " UTC")
          .replace("T", " ");
  time.lang = format.resolvedOptions().locale;
  time.textContent = time.dataset.ago === undefined ? format.format(then) : ago(then);
};
const adopt = (zone) => {
  zone.textContent = moment.resolvedOptions().timeZone.replaceAll("_", " ");
  const sent = document.getElementById(zone.dataset.zone);
  // None, or the reader's own zone, which came back with a mistake.
  if (sent?.value !== "UTC") return;
  const control = document.getElementsByName(sent.name.replace(/\.zone$/, ""))[0];
  const then = Date.parse(`${control.value}Z`);
  // The server fills the control in UTC. An untouched time stays the same moment.
  if (then)
    control.defaultValue = control.value = new Date(then - new Date(then).getTimezoneOffset() * 60000)
      .toISOString()
      .slice(0, control.value.length);
  sent.value = moment.resolvedOptions().timeZone;
};

/* A filter by time. Without the script, it is typed as a program writes it. */
const asTime = (input) => {
  const then = Date.parse(input.value);
  const local = then && new Date(then - new Date(then).getTimezoneOffset() * 60000).toISOString().slice(0, 19);
  Object.assign(input, { type: "datetime-local", step: "any", value: then ? local.replace(/:00$/, "") : "" });
  input.form.addEventListener("formdata", ({ formData }) => {
    const typed = Date.parse(input.value);
    formData.set(input.name, typed ? new Date(typed).toISOString() : "");
  });
};

/* Tables that look like cards on a phone stay tables for a screen reader. */
const roles = {
  "": "table",
  " :is(thead, tbody)": "rowgroup",
  " tr": "row",
  " thead th": "columnheader",
  " tbody th": "rowheader",
  " td": "cell",
};

/* A select with data-find becomes a field that searches. The select stays the value that is sent. An empty data-find
   searches the options that are there. */
const findable = (select) => {
  const { id } = select;
  const box = make("div", { class: "combo" });
  const input = make("input", {
    id,
    type: "text",
    role: "combobox",
    placeholder: "Type a name",
    autocomplete: "off",
    spellcheck: "false",
    "aria-expanded": "false",
    "aria-autocomplete": "list",
    "aria-controls": `${id}-list`,
  });
  const list = make("ul", {
    id: `${id}-list`,
    role: "listbox",
    "aria-label": select.labels[0].firstChild.textContent.trim(),
    tabindex: "-1",
    hidden: "",
  });
  for (const name of ["aria-describedby", "aria-invalid"])
    if (select.hasAttribute(name)) input.setAttribute(name, select.getAttribute(name));
  let at = -1;
  const chosen = () => (input.value = select.value ? select.selectedOptions[0].text : "");
  const mark = (next) => {
    at = next;
    [...list.children].forEach((li, i) => li.setAttribute("aria-selected", i === at));
    if (at < 0) return input.removeAttribute("aria-activedescendant");
    input.setAttribute("aria-activedescendant", list.children[at].id);
    list.children[at].scrollIntoView({ block: "nearest" });
  };
  const open = (is) => {
    list.hidden = !is;
    input.setAttribute("aria-expanded", is);
    if (!is) mark(-1);
  };
  const pick = (value) => {
    select.value = value;
    chosen();
    open(false);
  };
  const offer = () => {
    const text = input.value.trim().toLocaleLowerCase();
    const fit = [...select.options].filter((each) => each.text.toLocaleLowerCase().includes(text)).slice(0, 20);
    list.replaceChildren(
      ...fit.map((each, i) => {
        const traits = { role: "option", id: `${id}-${i}`, "aria-selected": "false", dir: "auto" };
        const li = make("li", traits, each.text);
        li.addEventListener("mousedown", (event) => {
          event.preventDefault();
          pick(each.value);
        });
        return li;
      }),
    );
    open(fit.length > 0);
    say(fit.length === 0 ? "Nothing has this name." : `${fit.length} to choose from`, fit.length > 0);
  };
  /* Records beyond those in the page: data-find="/users?limit=20&search=", data-label="name". */
  let wait;
  const ask = async () => {
    const text = input.value.trim();
    const headers = { Accept: "application/json" };
    const reply = await fetch(select.dataset.find + encodeURIComponent(text), { headers }).catch(() => null);
    if (!reply?.ok || input.value.trim() !== text) return;
    for (const record of await reply.json())
      if (![...select.options].some((each) => each.value === String(record.id)))
        select.add(new Option(record[select.dataset.label], record.id));
    if (document.activeElement === input) offer();
  };
  input.addEventListener("input", () => {
    offer();
    clearTimeout(wait);
    if (select.dataset.find && input.value.trim()) wait = setTimeout(ask, 200);
  });
  input.addEventListener("click", () => {
    if (!list.hidden) return;
    const typed = input.value;
    input.value = "";
    offer();
    input.value = typed;
    input.select();
  });
  input.addEventListener("blur", () => {
    if (input.value.trim() === "") pick("");
    else chosen();
    open(false);
  });
  input.addEventListener("keydown", (event) => {
    const { length } = list.children;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      if (list.hidden) offer();
      if (list.children.length) mark((at + step + list.children.length) % list.children.length);
    } else if (event.key === "Enter" && !list.hidden && (at >= 0 || length === 1)) {
      event.preventDefault();
      list.children[Math.max(at, 0)].dispatchEvent(new MouseEvent("mousedown"));
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      chosen();
      open(false);
    }
  });
  select.id = `${id}-value`;
  select.hidden = true;
  // Without the script, another field finds a record by a part of its name.
  document.getElementsByName(`${select.name}.find`)[0]?.remove();
  select.before(box);
  box.append(input, list);
  chosen();
};

/* The script of a fold is loaded when the fold is opened. Its buttons do nothing before, so they appear after it. */
const loads = {};
const load = async (fold) => {
  const { script } = fold.dataset;
  loads[script] ??= new Promise((resolve) => {
    document.head.append(Object.assign(make("script", { src: script }), { onload: resolve }));
  });
  await loads[script];
  for (const element of all("[data-loaded]", fold)) element.hidden = false;
};

/** Prepares a page once, and each part that replaces a part of it. */
const furnish = (within) => {
  for (const time of all("time[datetime]:not([title])", within)) rewrite(time);
  for (const zone of all("[data-zone]", within)) adopt(zone);
  for (const input of all("[data-time]", within)) asTime(input);
  for (const table of all("table.cards", within))
    for (const [query, role] of Object.entries(roles))
      for (const each of query ? all(query, table) : [table]) each.setAttribute("role", role);
  for (const select of all("select[data-find]", within)) findable(select);
  // What was folded or opened stays so.
  for (const fold of all("details[data-keep]", within)) {
    const state = keep.get(fold.dataset.keep);
    if (state) fold.open = state === "open";
    fold.ontoggle = () => keep.set(fold.dataset.keep, fold.open ? "open" : "folded");
  }
  for (const fold of all("details[data-script]", within))
    fold.addEventListener("toggle", () => void load(fold), { once: true });
  for (const element of all("[data-js]", within)) element.hidden = false;
  for (const link of all("[data-login]", within)) showIdentity(link).catch(() => undefined);
  const on = one("#keys-on", within);
  if (on) {
    on.checked = keep.get("keys") === "on";
    on.onchange = () => keep.set("keys", on.checked ? "on" : "off");
  }
  // After a mistake the summary has the focus.
  one("[data-focus]", within)?.focus();
};

const pageOf = async (reply) => new DOMParser().parseFromString(await reply.text(), "text/html");
/** Returns what a page consists of, apart from its scripts. */
const partsOf = ({ title, body }) => ({ title, className: body.className, parts: [...body.children] });
/** Shows the parts of another page in place of this one. Returns the parts that were shown. */
const display = ({ title, className, parts }) => {
  const shown = partsOf(document);
  Object.assign(document, { title });
  document.body.className = className;
  document.body.replaceChildren(...parts);
  furnish(document.body);
  return shown;
};
// For forms.js and passkeys.js.
Object.assign(globalThis, { pageOf, partsOf, display });

/* How long this answer took, as the browser measured it. */
const measure = () => {
  const [seen] = performance.getEntriesByType("navigation");
  for (const span of all("[data-timing]"))
    if (seen) span.textContent = `${(seen.responseStart - seen.requestStart).toFixed(1)} ms`;
};

/* Buttons */
const press = {
  copy: async ({ dataset }) => {
    try {
      await navigator.clipboard.writeText(dataset.text ?? document.getElementById(dataset.copy).innerText.trim());
      say("Copied.");
    } catch {
      say("The browser did not allow copying. Select the text and copy it.");
    }
  },
  show: (button) => {
    const input = document.getElementById(button.dataset.show);
    const isShown = input.type === "password";
    input.type = isShown ? "text" : "password";
    button.setAttribute("aria-pressed", isShown);
    button.firstElementChild.textContent = isShown ? "Hide" : "Show";
  },
  print: () => print(),
  // Counting may take a while, so records are counted only on request.
  count: async (button) => {
    const reply = await fetch(button.dataset.count, { method: "HEAD", headers: { Prefer: "count=exact" } });
    const total = reply.headers.get("X-Total-Count");
    if (total === null) say("Counting takes too long.");
    else button.replaceWith(`${Number(total).toLocaleString()} in all`);
  },
  every: ({ dataset }) => {
    for (const radio of all(`[data-side="${dataset.every}"]`)) radio.checked = true;
  },
};
document.addEventListener("click", ({ target }) => {
  for (const menu of all("details.menu[open]")) if (!menu.contains(target)) menu.open = false;
  const button = target.closest("button");
  const name = button && Object.keys(press).find((key) => button.dataset[key] !== undefined);
  if (name) void press[name](button);
});
/* A second click sends nothing. A form that another script sends is its business. */
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.path !== undefined || form.dataset.try || form.dataset.import) return;
  if (form.getAttribute("aria-busy") === "true") return event.preventDefault();
  if (form.method === "post") form.setAttribute("aria-busy", "true");
});
/* What was typed stays while its reader logs in or confirms, and comes back with the form. No password is kept. */
const fieldsOf = (form) =>
  [...form.elements].filter(({ name, type }) => /^[a-z]/.test(name) && !["password", "file", "hidden"].includes(type));
const isCard = () => document.body.classList.contains("quiet");
document.addEventListener("submit", ({ target }) => {
  if (!isCard() && target.matches("main .form[method=post]:not([data-path])"))
    sessionStorage.setItem(
      `typed ${target.action}`,
      JSON.stringify(
        fieldsOf(target).map(({ type, checked, value }) => (/^(check|radi)/.test(type) ? checked : value)),
      ),
    );
});
const restore = () => {
  if (isCard()) return sessionStorage.setItem("waited", "");
  // Without a card in between, the form had its effect.
  const typedForms = sessionStorage.getItem("waited") === null ? [] : all("main .form[method=post]:not([data-path])");
  for (const form of typedForms) {
    const typed = JSON.parse(sessionStorage.getItem(`typed ${form.action}`) ?? "[]");
    const fields = fieldsOf(form);
    if (typed.length !== fields.length || one("[aria-invalid]", form)) continue;
    fields.forEach((field, at) => (field[typeof typed[at] === "boolean" ? "checked" : "value"] = typed[at]));
  }
  for (const key of Object.keys(sessionStorage)) if (/^(typed |waited$)/.test(key)) sessionStorage.removeItem(key);
};
/* If the browser shows a stored page again, for example with "back" after a logout, hides the page and requests it
   again. */
addEventListener("pageshow", ({ persisted }) => {
  if (!persisted) return;
  document.documentElement.hidden = true;
  location.replace(location.pathname + location.search);
});

/**
 * Shows the logged-in user in the bar, and in forms. It is not part of the page, because other users may get a cached
 * copy.
 */
const showIdentity = async (link) => {
  const reply = await fetch(link.dataset.login, { headers: { Accept: "application/json" } });
  const { caller } = reply.ok ? await reply.json() : {};
  if (caller === undefined) return;
  link.textContent = caller === null ? "Log in" : caller.username;
  for (const place of all("[data-who]"))
    place.textContent = caller === null ? "Sent without a login." : `Sent as ${caller.username}, with real effects.`;
};

/* Keys: one letter each, off until somebody turns them on (WCAG 2.1.4). */
const move = (step) => {
  const rows = all("main tbody th a");
  const at = rows.findIndex((link) => link.closest("tr").contains(document.activeElement));
  rows[Math.max(0, Math.min(rows.length - 1, at + step))]?.focus();
};
const keys = { j: () => move(1), k: () => move(-1), u: () => all(".crumbs a").at(-1)?.click() };
document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (key === "Escape")
    for (const menu of all("details.menu[open]")) {
      menu.open = false;
      menu.firstElementChild.focus();
    }
  if (!one("#keys-on")?.checked || event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.closest("input, select, textarea, [popover]")) return;
  const wanted = all("[data-key]").find((element) => element.dataset.key === key);
  if (!wanted && !keys[key]) return;
  event.preventDefault();
  if (keys[key]) keys[key]();
  else if (wanted.matches("input")) wanted.focus();
  else wanted.click();
});

restore();
furnish(document);
measure();
const named = document.getElementById(location.hash.slice(1));
if (named?.matches("details")) named.open = true;
