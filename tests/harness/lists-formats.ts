import assert from "node:assert/strict";
import { parse as parseCSV } from "csv-parse/sync";
import type { Seen } from "./lists-model.ts";
import { readLinks, type OwnAnswer } from "./own-service.ts";

/** A format of lists: how it is requested, and which part of a page is compared with the model. */
export interface ListFormat {
  readonly accept: string;
  /**
   * Returns the rows of a page. `expected` are the records of the model from the first row of the page on. They provide
   * the types that the format lacks.
   */
  rows(page: OwnAnswer, expected: readonly Seen[], names: readonly string[]): readonly unknown[];
  /** Returns the part of this record that `rows` contains. `names` are the shown fields. */
  row(record: Seen, names: readonly string[]): unknown;
}

export const formats: Readonly<Record<"json" | "csv" | "xml" | "html", ListFormat>> = {
  json: {
    accept: "application/json",
    rows: ({ json }) => plain(json) as unknown[],
    row: (record) => record,
  },
  csv: {
    accept: "text/csv",
    rows({ text }, _expected, names) {
      const [head, ...rows] = parseCSV(text);
      assert.deepEqual(head, names);
      return rows;
    },
    row: formatCells,
  },
  xml: {
    accept: "application/xml",
    rows: ({ text }, expected) => readElement(text).children.map((each, at) => readRecord(each, expected[at])),
    row: (record) => record,
  },
  // The console decides which columns a table has, and how it names records. The test compares the ids in the links to
  // the records, and the URL of the next page.
  html: {
    accept: "text/html",
    rows(page) {
      const next = /<a class="btn low" href="([^"]*)" rel="next"/.exec(page.text)?.[1];
      assert.equal(next === undefined ? undefined : unescaped(next), readLinks(page)["next"]);
      const heads = all(page.text, /<tr>\s*(<th scope="row">.*?<\/th>)/gs);
      return heads.map((head) => {
        const at = /<a [^>]*href="[^"]*\/([^"/]*)"/.exec(head)?.[1];
        return at === undefined ? null : decodeURIComponent(unescaped(at));
      });
    },
    row: (record) => ("id" in record ? String(record["id"]) : null),
  },
};

/** Replaces each URL of further records by true. Other tests follow these URLs. */
export function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, each: unknown) => (name.endsWith("_next") ? true : each));
}

function formatCells(record: Seen, names: readonly string[]): string[] {
  return names.map((name) => {
    const value = record[name];
    if (value === null) return "";
    const isJSON = typeof value === "object" || name === "data";
    const text = isJSON ? JSON.stringify(value) : String(value);
    return typeof value === "string" && text.startsWith("=") ? `'${text}` : text;
  });
}

interface Element {
  readonly name: string;
  readonly isNil: boolean;
  readonly text: string;
  readonly children: readonly Element[];
}

function readElement(xml: string): Element {
  const tags = xml.matchAll(/<(\/?)([\w-]+)( nil="true")?(\/?)>([^<]*)/g);
  const open: (Element & { text: string; children: Element[] })[] = [
    { name: "", isNil: false, text: "", children: [] },
  ];
  for (const [, isEnd, name, nil, isEmpty, text] of tags) {
    if (isEnd === "/") open.pop();
    else {
      const element = { name: name!, isNil: nil !== undefined, text: unescaped(text!), children: [] };
      open.at(-1)!.children.push(element);
      if (isEmpty === "") open.push(element);
    }
  }
  return open[0]!.children[0]!;
}

function readRecord(element: Element, expected: unknown): unknown {
  const like = expected as Seen | undefined;
  return Object.fromEntries(element.children.map((each) => [each.name, readValue(each, like?.[each.name])]));
}

/** Returns the value of an element with the type of the expected value. */
function readValue({ name, isNil, text, children }: Element, expected: unknown): unknown {
  if (isNil) return null;
  if (name.endsWith("_next")) return true;
  if (children.length > 0)
    return Array.isArray(expected)
      ? children.map((each, at) => readRecord(each, expected[at]))
      : readRecord({ name, isNil, text, children }, expected);
  if (name === "data") return JSON.parse(text) as unknown;
  if (typeof expected === "number") return Number(text);
  if (typeof expected === "boolean") return text === "true";
  if (Array.isArray(expected)) return text === "" ? [] : (JSON.parse(text) as unknown);
  return text;
}

function all(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, found]) => found!);
}

function unescaped(text: string): string {
  const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', "#39": "'", "#13": "\r" };
  return text.replaceAll(/&([a-z]+|#\d+);/g, (_, name: string) => entities[name]!);
}
