import { isObject } from "../../../core/checking/members.ts";
import type { JSONObject } from "../json.ts";
import { ADDITIONAL_OPERATIONS } from "../operations/query-operation.ts";
import { Part, type OperationFacts } from "../written.ts";

/** One operation of a document. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  /** The declared path: `/orders/{id}`. */
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  /** The whole description, parsed on first use. */
  readonly source: JSONObject;
}

/** Returns the value if it is an object. Otherwise returns an empty object. */
export function objectAt(value: unknown): JSONObject {
  return isObject(value) ? value : {};
}

/** Returns the value if it is a text. Otherwise returns an empty text. */
export function textAt(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns the value if it is a list. Otherwise returns an empty list. */
export function listAt(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns all operations, in the order of the document. */
export function collectOperations({ paths }: JSONObject): readonly Operation[] {
  return Object.entries(objectAt(paths)).flatMap(([path, methods]) => {
    const { [ADDITIONAL_OPERATIONS]: more, ...plain } = objectAt(methods);
    return Object.entries({ ...plain, ...objectAt(more) }).map(([method, each]): Operation => {
      const { operationId, tag, summary } = each instanceof Part ? each.facts! : readFacts(objectAt(each));
      const name = method.toUpperCase();
      return {
        id: operationId,
        method: name,
        path,
        summary: summary || `${name} ${path}`,
        tag,
        get source() {
          return valueAt(each);
        },
      };
    });
  });
}

function readFacts(source: JSONObject): OperationFacts {
  const [tag] = listAt(source["tags"]);
  return { operationId: textAt(source["operationId"]), tag: textAt(tag), summary: textAt(source["summary"]) };
}

/** Returns an object of the document. Parses it if it is still text. */
function valueAt(value: unknown): JSONObject {
  return objectAt(value instanceof Part ? value.read() : value);
}

/** Resolves a reference of the document. Keeps the members next to it. */
export function resolved(document: JSONObject, value: unknown): JSONObject {
  const { $ref, ...own } = valueAt(value);
  if (typeof $ref !== "string") return own;
  const found = $ref
    .slice(2)
    .split("/")
    .reduce<unknown>((at, name) => objectAt(at)[name], document);
  return { ...resolved(document, found), ...own };
}

/** Returns the parameters of an operation, with resolved references. */
export function collectParameters(document: JSONObject, { source }: Operation): readonly JSONObject[] {
  return listAt(source["parameters"]).map((each) => resolved(document, each));
}

/** Returns the media types of a body with their content. JSON comes first, because people type it. */
export function collectMediaTypes(content: unknown): readonly (readonly [type: string, media: JSONObject])[] {
  const all = Object.entries(objectAt(content)).map(([type, media]) => [type, objectAt(media)] as const);
  return all.toSorted(([one], [other]) => Number(!one.endsWith("json")) - Number(!other.endsWith("json")));
}

/** Returns a valid value: the example in the document, or one generated from its schema. */
export function chooseExample(document: JSONObject, media: JSONObject): unknown {
  if (media["example"] !== undefined) return media["example"];
  const [first] = Object.values(objectAt(media["examples"]));
  return objectAt(first)["value"] ?? createSample(document, media["schema"], 0);
}

function createSample(document: JSONObject, unresolved: unknown, depth: number): unknown {
  const schema = resolved(document, unresolved);
  const shown = listAt(schema["examples"])[0] ?? schema["default"] ?? listAt(schema["enum"])[0] ?? schema["const"];
  if (shown !== undefined || depth > 6) return shown ?? null;
  const [alternative] = listAt(schema["anyOf"] ?? schema["oneOf"]);
  if (alternative !== undefined) return createSample(document, alternative, depth + 1);
  if (schema["items"] !== undefined) return [createSample(document, schema["items"], depth + 1)];
  if (schema["properties"] === undefined)
    return byFormat[String(schema["format"])] ?? simple[String([schema["type"]].flat()[0])] ?? "…";
  const needed = listAt(schema["required"]);
  const members = Object.entries(objectAt(schema["properties"])).filter(([name]) => needed.includes(name));
  return Object.fromEntries(members.map(([name, each]) => [name, createSample(document, each, depth + 1)]));
}

const byFormat: Readonly<Record<string, string>> = {
  "date-time": "2026-01-31T09:30:00.000Z",
  date: "2026-01-31",
  email: "ann@example.com",
  uri: "https://example.com/",
  uuid: "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
};
const simple: Readonly<Record<string, unknown>> = { integer: 1, number: 1, boolean: true };
