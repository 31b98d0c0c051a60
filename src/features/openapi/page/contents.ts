import { html, type Markup } from "../../../core/html/markup.ts";
import type { Pieces } from "../../../http/scheduling/slices.ts";
import type { JSONObject } from "../json.ts";
import { listAt, objectAt, collectOperations, textAt, type Operation } from "./description.ts";

/** The operations of a document, in order and with their list entries. Every page has all of them. */
export interface Contents {
  readonly groups: readonly Group[];
  readonly byId: ReadonlyMap<string, Operation>;
}

/** The operations of one tag, and its description. */
export interface Group {
  readonly tag: string;
  readonly description: string;
  readonly operations: readonly Operation[];
  readonly entries: Markup;
}

/**
 * Finds the operations of a document and writes their list entries. Yields between them, because there may be
 * thousands.
 */
export function* collectContents(document: JSONObject, basePath: string): Pieces<Contents> {
  const operations = collectOperations(document);
  yield;
  const byTag = Map.groupBy(operations, ({ tag }) => tag);
  const groups: Group[] = [];
  for (const each of listAt(document["tags"])) {
    const { name, description } = objectAt(each);
    const tag = textAt(name);
    const own = byTag.get(tag) ?? [];
    const entries = html`${own.map((operation) => drawEntry(basePath, operation))}`;
    groups.push({ tag, description: textAt(description), operations: own, entries });
    yield;
  }
  // If two operations have the same id, the first one counts.
  return { groups, byId: new Map(operations.toReversed().map((each) => [each.id, each])) };
}

/** Returns the list entry of an operation. */
export function drawEntry(basePath: string, { id, method, path, summary }: Operation, current = ""): Markup {
  return html`<li><a href="${basePath}/docs/${id}" ${current === id ? html` aria-current="page"` : ""} title="${summary}"><span class="m ${method.toLowerCase()}">${method}</span><span>${path}</span><span class="sum">${summary}</span></a></li> `;
}
