import { createReadStream, statSync } from "node:fs";
import type { Readable } from "node:stream";
import type { ImportLine, RefusedLine } from "../../service/users/import-users.ts";
import { CommandFailed } from "../exit.ts";
import { readCSV, recordsCSV, usersCSV, type CSVRules } from "./import-csv.ts";

/** What a file is written in. */
export type ImportFormat = "csv" | "jsonl" | "json";

/** What a line turned out to be. */
export type ReadLine = ImportLine | RefusedLine | { readonly line: number; readonly skipped: true };

/** A file that is being imported. */
export interface ImportFile {
  readonly lines: AsyncIterable<ReadLine>;
  readonly format: ImportFormat;
  /** How a line is called: a JSON array has records. */
  readonly unit: "line" | "record";
  /** How much of it was read: in bytes, or in records where it had to be read as a whole. */
  progress(): { readonly done: number; readonly total: number | null };
}

const MAX_LINE = 1024 * 1024;

/** How what stands in a file is read. */
interface Reading {
  readonly csv: CSVRules;
  /** A JSON value; `otherwise` says what is wrong with one that is no object. */
  entry(line: number, entry: unknown, otherwise: string): ReadLine;
}

/** Opens a file of users, or standard input for `-`. Throws `CommandFailed` where it cannot be read. */
export function openImportFile(name: string, format: ImportFormat | null): Promise<ImportFile> {
  return openFile(name, format, { csv: usersCSV, entry: readUser });
}

/** Opens a file of records, likewise. */
export function openRecordFile(
  name: string,
  format: ImportFormat | null,
  isOneLine: (column: string) => boolean,
): Promise<ImportFile> {
  return openFile(name, format, { csv: recordsCSV(isOneLine), entry: readObject });
}

async function openFile(name: string, format: ImportFormat | null, reading: Reading): Promise<ImportFile> {
  const total = name === "-" ? null : sizeOf(name);
  const input: Readable = name === "-" ? process.stdin : createReadStream(name);
  let progress: ReturnType<ImportFile["progress"]> = { done: 0, total };
  const chunks = decoded(input, (bytes) => (progress = { done: progress.done + bytes, total }));
  const first = await firstText(chunks);
  const chosen = format ?? formatOf(name, first);
  const all = prepend(first, chunks);
  return {
    lines: inUTF8(
      chosen === "json"
        ? readArray(all, reading, (records) => (progress = records))
        : chosen === "jsonl"
          ? readJSONLines(splitLines(all), reading)
          : readCSV(splitLines(all), reading.csv),
    ),
    format: chosen,
    unit: chosen === "json" ? "record" : "line",
    progress: () => progress,
  };
}

function sizeOf(name: string): number {
  try {
    return statSync(name).size;
  } catch (error) {
    throw new CommandFailed(
      `${name} cannot be read (${error instanceof Error && "code" in error ? String(error.code) : "unknown error"}).`,
    );
  }
}

/** Text as it comes. What is not UTF-8 becomes U+FFFD, so that it is one line that is refused and not the file. */
async function* decoded(input: Readable, count: (bytes: number) => void): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of input as AsyncIterable<Buffer>) {
    count(chunk.length);
    yield decoder.decode(chunk, { stream: true });
  }
  yield decoder.decode();
}

async function firstText(chunks: AsyncGenerator<string>): Promise<string> {
  for (let text = ""; ;) {
    const next = await chunks.next();
    if (next.done === true) return text;
    text += next.value;
    if (text.trim() !== "") return text;
  }
}

async function* prepend(first: string, chunks: AsyncGenerator<string>): AsyncGenerator<string> {
  yield first;
  yield* chunks;
}

/** What a file is written in, by its name or else by how it begins. */
export function formatOf(name: string, text: string): ImportFormat {
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
        `Line ${line + 1} is longer than ${MAX_LINE} characters: this is no CSV and no JSON lines.`,
      );
    for (const each of lines) yield each.replace(/\r$/, "");
  }
  if (rest !== "") yield rest;
}

async function* readJSONLines(lines: AsyncIterable<string>, { entry }: Reading): AsyncGenerator<ReadLine> {
  let line = 0;
  for await (const text of lines) {
    line++;
    if (text.trim() === "") continue;
    yield entry(line, parse(text), "It is no JSON object.");
  }
}

async function* readArray(
  chunks: AsyncIterable<string>,
  { entry }: Reading,
  tell: (records: { done: number; total: number }) => void,
): AsyncGenerator<ReadLine> {
  const texts: string[] = [];
  for await (const chunk of chunks) texts.push(chunk);
  const entries = parse(texts.join(""));
  if (!Array.isArray(entries))
    throw new CommandFailed("The file is no JSON array. One object a line is --format jsonl.");
  for (const [at, each] of entries.entries()) {
    tell({ done: at + 1, total: entries.length });
    yield entry(at + 1, each, "It is no object.");
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A user as an object, or as an entry of Django's dumpdata, which has other models too. */
function readUser(line: number, entry: unknown, otherwise: string): ReadLine {
  if (!isObject(entry)) return { line, reasons: [otherwise] };
  if (typeof entry["model"] !== "string" || !isObject(entry["fields"])) return { line, record: entry };
  return /user$/i.test(entry["model"]) ? { line, record: entry["fields"] } : { line, skipped: true };
}

function readObject(line: number, entry: unknown, otherwise: string): ReadLine {
  return isObject(entry) ? { line, record: entry } : { line, reasons: [otherwise] };
}

/** Refuses what was not UTF-8 when it was read. */
async function* inUTF8(lines: AsyncIterable<ReadLine>): AsyncGenerator<ReadLine> {
  for await (const read of lines) {
    const broken =
      "record" in read
        ? Object.entries(read.record).filter(([, value]) => typeof value === "string" && value.includes("\uFFFD"))
        : [];
    yield broken.length === 0
      ? read
      : { line: read.line, reasons: broken.map(([name]) => `${name}: It is not UTF-8.`) };
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
