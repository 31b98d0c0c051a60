// The import of a file of records. Runs after console.js, once the fold of the import is opened.
"use strict";

/** Converts the text of a cell to the declared type of its field. Other texts are sent unchanged, and refused. */
const readCell = (text, type) => {
  if (type.startsWith("integer")) return /^-?\d{1,15}$/.test(text.trim()) ? Number(text) : text;
  if (type.startsWith("number")) return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  if (type.startsWith("boolean")) return text === "true" ? true : text === "false" ? false : text;
  if (!type.startsWith("json")) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Returns a key for the records of a form, which stays the same when the file is sent again. */
const keyOfImport = (form) =>
  (form.dataset.once ??= [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join(""));

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
      cells.flatMap((cell, at) => (cell ? [[nameOf(at), readCell(cell, types[nameOf(at)] ?? "text")]] : [])),
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
    const key = keyOfImport(form);
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
      const reply = await fetch(form.getAttribute("action"), { method: "POST", headers, body });
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

document.addEventListener("submit", (event) => {
  if (!event.target.dataset.import) return;
  event.preventDefault();
  void bringIn(event.target);
});
