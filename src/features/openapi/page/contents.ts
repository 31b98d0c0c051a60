import { html, type Markup } from "../../../core/html/markup.ts";
import type { Pieces } from "../../../http/body/turns.ts";
import type { JSONObject } from "../json.ts";
import { listAt, objectAt, operationsOf, textAt, type Operation } from "./description.ts";

/** The operations of a document, in their order and with how they stand in lists: every page has them all. */
export interface Contents {
  readonly groups: readonly Group[];
  readonly byId: ReadonlyMap<string, Operation>;
}

/** The operations of one tag, and what is said of it. */
export interface Group {
  readonly tag: string;
  readonly said: string;
  readonly operations: readonly Operation[];
  readonly entries: Markup;
}

/** Finds the operations of a document and writes their entries, which is work where there are thousands. */
export function* contentsOf(document: JSONObject, basePath: string): Pieces<Contents> {
  const operations = operationsOf(document);
  yield;
  const byTag = Map.groupBy(operations, ({ tag }) => tag);
  const groups: Group[] = [];
  for (const each of listAt(document["tags"])) {
    const { name, description } = objectAt(each);
    const tag = textAt(name);
    const own = byTag.get(tag) ?? [];
    const entries = html`${own.map((operation) => entryOf(basePath, operation))}`;
    groups.push({ tag, said: textAt(description), operations: own, entries });
    yield;
  }
  // Where two have one id, the first is meant.
  return { groups, byId: new Map(operations.toReversed().map((each) => [each.id, each])) };
}

/** An operation in a list. */
export function entryOf(basePath: string, { id, method, path, summary }: Operation, current = ""): Markup {
  return html`<li><a href="${basePath}/docs/${id}" ${current === id ? html` aria-current="page"` : ""} title="${summary}"><span class="m ${method.toLowerCase()}">${method}</span><span>${path}</span><span class="sum">${summary}</span></a></li> `;
}
