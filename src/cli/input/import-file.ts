import { createReadStream, statSync } from "node:fs";
import type { Readable } from "node:stream";
import { Problem, readJSON } from "../../door/http.ts";
import { parseExactly } from "../../door/resources.ts";
import { isObject } from "../../service/objects.ts";
import type { ImportLine, RefusedLine } from "../../service/records/import-users.ts";
import { readErrorCode } from "../../service/settings/error.ts";
import { CommandFailed, describeError } from "../output.ts";
import { readCSV, recordsCSV, usersCSV, type CSVRules } from "./import-csv.ts";

/** The format of an import file. */
export type ImportFormat = "csv" | "jsonl" | "json";

/** A line that was read: a record, a refused line, or a line without a record to import. */
export type ReadLine = ImportLine | RefusedLine | { readonly line: number; readonly skipped: true };

/** A file that is being imported. */
export interface ImportFile {
  readonly lines: AsyncIterable<ReadLine>;
  readonly format: ImportFormat;
  /** The word for an entry in messages. The entries of a JSON array are records. */
  readonly unit: "line" | "record";
  /** Returns how much was read: in bytes, or in records if the file had to be read as a whole. */
  progress(): { readonly done: number; readonly total: number | null };
}

const MAX_LINE = 1024 * 1024;
/** The maximum length of a JSON array, in characters. It is read as a whole and takes several times as much memory. */
const MAX_ARRAY = 256 * 1024 * 1024;

/** The functions that read the entries of a file. */
interface EntryReader {
  readonly csv: CSVRules;
  /** Reads a JSON value as an entry. `otherwise` is the message for a value that is not an object. */
  entry(line: number, entry: unknown, otherwise: string): ReadLine;
}

/** Opens a file of users, or standard input for `-`. Throws `CommandFailed` if it cannot be read. */
export function openImportFile(name: string, format: ImportFormat | null): Promise<ImportFile> {
  return openFile(name, format, { csv: usersCSV, entry: readUser });
}

/** Opens a file of records, or standard input for `-`. Throws `CommandFailed` if it cannot be read. */
export function openRecordFile(
  name: string,
  format: ImportFormat | null,
  isOneLine: (column: string) => boolean,
): Promise<ImportFile> {
  return openFile(name, format, { csv: recordsCSV(isOneLine), entry: readObject });
}

async function openFile(name: string, format: ImportFormat | null, reading: EntryReader): Promise<ImportFile> {
  const total = name === "-" ? null : requireFileSize(name);
  const input: Readable = name === "-" ? process.stdin : createReadStream(name);
  let progress: ReturnType<ImportFile["progress"]> = { done: 0, total };
  const chunks = decoded(input, (bytes) => (progress = { done: progress.done + bytes, total }));
  const first = await firstText(chunks);
  const chosen = format ?? detectFormat(name, first);
  const all = prepend(first, chunks);
  const lines = inUTF8(
    chosen === "json"
      ? readArray(all, reading, (records) => (progress = records))
      : chosen === "jsonl"
        ? readJSONLines(splitLines(all), reading)
        : readCSV(splitLines(all), reading.csv),
  );
  // Reads the first entry now, so that a mistake in the whole file is reported before anything is created.
  const begun = await lines.next();
  return {
    lines: begun.done === true ? lines : prepend(begun.value, lines),
    format: chosen,
    unit: chosen === "json" ? "record" : "line",
    progress: () => progress,
  };
}

/**
 * Returns the error for an import that stopped early. Appends the text `before` if records were imported before the
 * error.
 */
export function importError(error: unknown, imported: number, before: string): CommandFailed {
  const reason = describeError(error);
  return new CommandFailed(imported === 0 ? reason : `${reason}\n${before}`);
}

function requireFileSize(name: string): number {
  try {
    const found = statSync(name);
    if (found.isDirectory()) throw new CommandFailed(`${name} is a directory. Name a file.`);
    return found.size;
  } catch (error) {
    if (error instanceof CommandFailed) throw error;
    throw new CommandFailed(`${name} cannot be read (${readErrorCode(error)}).`);
  }
}

/** Replaces bytes of the file that are not UTF-8. No text may contain this character. */
const BROKEN = "\uFFFF";

/**
 * Decodes the text as it arrives. Invalid UTF-8 becomes `BROKEN`, so only its line is refused and not the whole file.
 */
async function* decoded(input: Readable, count: (bytes: number) => void): AsyncGenerator<string> {
  const [decoder, strict] = [new TextDecoder(), new TextDecoder("utf-8", { fatal: true })];
  let isBroken = false;
  let isBegun = false;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    if (!isBegun) requireNoUTF16(chunk);
    isBegun = true;
    count(chunk.length);
    isBroken ||= !isWhole(() => strict.decode(chunk, { stream: true }));
    yield shown(decoder.decode(chunk, { stream: true }));
  }
  isBroken ||= !isWhole(() => strict.decode());
  yield shown(decoder.decode());

  /**
   * Replaces U+FFFD, which the decoder writes for invalid bytes, by `BROKEN`. Before the first invalid bytes, U+FFFD is
   * an ordinary character of the file.
   */
  function shown(text: string): string {
    return isBroken ? text.replaceAll("\uFFFD", BROKEN) : text;
  }
}

function isWhole(decode: () => unknown): boolean {
  try {
    decode();
    return true;
  } catch {
    return false;
  }
}

/** Throws if a file is UTF-16. Detects it by the byte order mark, or by the zero byte of the first character. */
function requireNoUTF16([first, second]: Buffer): void {
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (isMarked || (first !== undefined && (first === 0) !== (second === 0)))
    throw new CommandFailed("The file is UTF-16. Save it as UTF-8, or run: iconv -f UTF-16 -t UTF-8 FILE > NEW");
}

async function firstText(chunks: AsyncGenerator<string>): Promise<string> {
  for (let text = ""; ;) {
    const next = await chunks.next();
    if (next.done === true) return text;
    text += next.value;
    if (text.trim() !== "") return text;
  }
}

async function* prepend<T>(first: T, others: AsyncGenerator<T>): AsyncGenerator<T> {
  yield first;
  yield* others;
}

/** Returns the format of a file. Detects it from the name, or from the first character. */
export function detectFormat(name: string, text: string): ImportFormat {
  if (/\.csv$/i.test(name)) return "csv";
  if (/\.(?:jsonl|ndjson)$/i.test(name)) return "jsonl";
  const start = text.trimStart().at(0);
  if (start === "[") return "json";
  return start === "{" ? "jsonl" : "csv";
}

async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  let line = 0;
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    line += lines.length;
    if (rest.length > MAX_LINE)
      throw new CommandFailed(
        `Line ${line + 1} is longer than ${MAX_LINE} characters: this is neither CSV nor JSON lines.`,
      );
    for (const each of lines) yield each.replace(/\r$/, "");
  }
  if (rest !== "") yield rest;
}

async function* readJSONLines(lines: AsyncIterable<string>, { entry }: EntryReader): AsyncGenerator<ReadLine> {
  let line = 0;
  for await (const text of lines) {
    line++;
    if (text.trim() === "") continue;
    yield readEntry(line, text, entry, "It is not a JSON object.");
  }
}

async function* readArray(
  chunks: AsyncIterable<string>,
  { entry }: EntryReader,
  report: (records: { done: number; total: number }) => void,
): AsyncGenerator<ReadLine> {
  const texts: string[] = [];
  let characters = 0;
  for await (const chunk of chunks) {
    texts.push(chunk);
    characters += chunk.length;
    if (characters > MAX_ARRAY)
      throw new CommandFailed(
        `A JSON array is read as a whole, and this one has more than ${MAX_ARRAY} characters. Write one object a line, and import that: jq -c '.[]' FILE > NEW.jsonl`,
      );
  }
  const text = texts.join("");
  if (!Array.isArray(parseExactly(text)))
    throw new CommandFailed("The file is not a JSON array. If it has one object a line, use --format jsonl.");
  const members = splitMembers(text);
  for (const [at, each] of members.entries()) {
    report({ done: at + 1, total: members.length });
    yield readEntry(at + 1, each, entry, "It is not an object.");
  }
}

/** Returns the texts of the members of a JSON array that was already parsed. */
function splitMembers(text: string): readonly string[] {
  const members: string[] = [];
  let [depth, start] = [0, 0];
  for (const { 0: token, index } of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},]/g)) {
    if (token === "[" || token === "{") {
      if (++depth === 1) start = index + 1;
    } else if (token === "]" || token === "}") depth--;
    if (depth > 1 || (depth === 1 && token !== ",")) continue;
    const member = text.slice(start, index);
    if (depth === 1 || member.trim() !== "") members.push(member);
    start = index + 1;
  }
  return members;
}

/**
 * Reads a JSON value with the same rules as the body of a request: no number is rounded, and a duplicate member is
 * refused.
 */
function readEntry(line: number, text: string, entry: EntryReader["entry"], otherwise: string): ReadLine {
  const value = parseExactly(text);
  // An entry with invalid UTF-8 is refused later (`inUTF8`), with the names of its fields.
  if (isObject(value) && !text.includes(BROKEN))
    try {
      return entry(line, readJSON(Buffer.from(text), { exactNumbers: true }), otherwise);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { line, reasons: [error.detail.replace("(line 1, column ", "(column ")] };
    }
  return entry(line, value, otherwise);
}

function isBrokenText(value: unknown): boolean {
  if (typeof value === "string") return value.includes(BROKEN);
  return isObject(value) || Array.isArray(value) ? JSON.stringify(value).includes(BROKEN) : false;
}

/** Reads a user as an object, or as an entry of Django's dumpdata. Skips entries of other models in dumpdata. */
function readUser(line: number, entry: unknown, otherwise: string): ReadLine {
  if (!isObject(entry)) return { line, reasons: [otherwise] };
  if (typeof entry["model"] !== "string" || !isObject(entry["fields"])) return { line, record: entry };
  return /user$/i.test(entry["model"]) ? { line, record: entry["fields"] } : { line, skipped: true };
}

function readObject(line: number, entry: unknown, otherwise: string): ReadLine {
  return isObject(entry) ? { line, record: entry } : { line, reasons: [otherwise] };
}

/** Replaces records with invalid UTF-8 by refused lines. */
async function* inUTF8(lines: AsyncIterable<ReadLine>): AsyncGenerator<ReadLine> {
  for await (const read of lines) {
    const broken =
      "record" in read
        ? Object.entries(read.record).filter(([name, value]) => isBrokenText(name) || isBrokenText(value))
        : [];
    yield broken.length === 0
      ? read
      : { line: read.line, reasons: broken.map(([name]) => `${name}: It is not UTF-8.`) };
  }
}
