import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import { ref, type JSONObject } from "../json.ts";
import { listAt, objectAt, resolved, textAt } from "./description.ts";

/** The context for the texts of a document. */
export interface DocumentContext {
  readonly document: JSONObject;
  /** The base path of the service. Empty for the root. */
  readonly basePath: string;
}

const DEEPEST = 8;

/** Formats a text. Backticks set code, and the code of a problem links to its page. */
export function prose({ document, basePath }: DocumentContext, text: unknown): PageContent {
  const problem = resolved(document, ref("schemas", "Problem"));
  const codes = listAt(objectAt(objectAt(problem["properties"])["code"])["enum"]);
  return textAt(text)
    .split(/`([^`]*)`/)
    .map((part, at) => {
      if (at % 2 === 0) return part;
      return codes.includes(part)
        ? html`<a href="${basePath}/problems/${part}"><code>${part}</code></a>`
        : html`<code>${part}</code>`;
    });
}

/** Describes the possible values in a few words. */
export function typeWords(schema: JSONObject): string {
  const { minLength, maxLength, minimum, maximum, pattern, format, enum: values } = schema;
  const type = [schema["type"] ?? (schema["properties"] === undefined ? "any value" : "object")].flat().join(" or ");
  const words = [
    type,
    textAt(format),
    values === undefined
      ? ""
      : `one of ${listAt(values)
          .map((each) => JSON.stringify(each))
          .join(", ")}`,
    schema["const"] === undefined ? "" : JSON.stringify(schema["const"]),
    Number(minLength) > 1 ? `at least ${Number(minLength)} characters` : "",
    typeof maxLength === "number" ? `at most ${maxLength} characters` : "",
    typeof minimum === "number" && minimum > Number.MIN_SAFE_INTEGER ? `from ${minimum}` : "",
    typeof maximum === "number" && maximum < Number.MAX_SAFE_INTEGER ? `to ${maximum}` : "",
    pattern === undefined ? "" : `like ${textAt(pattern)}`,
    schema["default"] === undefined ? "" : `at first ${JSON.stringify(schema["default"])}`,
  ];
  return words.filter((each) => each !== "").join(", ");
}

/**
 * Returns the members of a schema with their possible values. Includes the members of list items and alternatives. A
 * schema that contains itself is not repeated.
 */
export function drawShape(writing: DocumentContext, unresolved: unknown, within: readonly unknown[] = []): Markup {
  const { $ref } = objectAt(unresolved);
  if (within.length > DEEPEST || ($ref !== undefined && within.includes($ref))) return html`<p>…</p>`;
  const schema = resolved(writing.document, unresolved);
  const deeper = [...within, $ref];
  const alternatives = listAt(schema["anyOf"] ?? schema["oneOf"]);
  if (alternatives.length > 0)
    return html`<p class="dim">One of:</p>
      <ul class="stack near shape">
        ${alternatives.map((each) => html`<li>${drawShape(writing, each, deeper)}</li>`)}
      </ul>`;
  if (schema["items"] !== undefined)
    return html`<p class="dim">A list; each:</p>
      ${drawShape(writing, schema["items"], deeper)}`;
  if (schema["properties"] === undefined) return html`<p class="dim">${typeWords(schema)}</p>`;
  const needed = listAt(schema["required"]);
  const rows = Object.entries(objectAt(schema["properties"])).map(([name, each]) =>
    drawMember(writing, name, each, { isNeeded: needed.includes(name), within: deeper }),
  );
  return html`<dl class="facts-list">${rows}</dl>`;
}

interface MemberContext {
  readonly isNeeded: boolean;
  readonly within: readonly unknown[];
}

function drawMember(
  writing: DocumentContext,
  name: string,
  unresolved: unknown,
  { isNeeded, within }: MemberContext,
): Markup {
  const schema = resolved(writing.document, unresolved);
  const isNested = ["properties", "items", "anyOf", "oneOf"].some((each) => schema[each] !== undefined);
  const marks = [
    isNeeded ? "required" : "",
    schema["readOnly"] === true ? "read only" : "",
    schema["writeOnly"] === true ? "write only" : "",
  ].filter((mark) => mark !== "");
  return html`<div>
    <dt>${name}</dt>
    <dd>${[typeWords(schema), ...marks].join(", ")}${isNested ? drawShape(writing, unresolved, within) : ""}</dd>
    ${schema["description"] === undefined ? "" : html`<dd class="rule">${prose(writing, schema["description"])}</dd>`}
  </div> `;
}
