import { textOperators, type Operator } from "../../../core/operators.ts";
import { MAX_CONDITIONS } from "../../../resource/conditions.ts";
import { formatDefaultSort } from "../../../resource/default-sort.ts";
import { getField } from "../../../resource/ids.ts";
import { shownFields, type Resource } from "../../../resource/resource.ts";
import { ref, type JSONObject } from "../json.ts";
import { filterSchema, MAX_LIMIT } from "./parameters.ts";

/**
 * The member for `QUERY` operations. OpenAPI 3.1 has no such member, but its extension registry has this one. OpenAPI
 * 3.2 has `additionalOperations`.
 */
export const ADDITIONAL_OPERATIONS = "x-oai-additionalOperations";

/** The methods that are direct members of a path item. */
export const PLAIN_METHODS: ReadonlySet<string> = new Set(["GET", "PUT", "POST", "DELETE", "PATCH"]);

/**
 * Returns the schema of a `QUERY` body. `condition` is the schema name of its conditions, `expandable` lists the names
 * of relations.
 */
export function querySchema(resource: Resource, condition: string, expandable: readonly string[]): JSONObject {
  const names = shownFields(resource).join(", ");
  const usual = formatDefaultSort(resource.defaultSort);
  const text = (description: string): JSONObject => ({ type: "string", minLength: 1, description });
  return {
    type: "object",
    description: "The query of a list.",
    properties: {
      where: ref("schemas", condition),
      ...(resource.search.length === 0
        ? {}
        : { search: text(`Words. Each word must begin a word of ${resource.search.join(" or ")}.`) }),
      sort: {
        ...text(`The order, as in the address: some of ${resource.sorts.join(", ")}; \`-\` reverses it.`),
        ...(usual === null ? {} : { default: usual }),
      },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: resource.pageSize.maximum,
        description: "The maximum number of records on a page.",
      },
      cursor: text("The position in the list, from the `Link` header, with the same body."),
      fields: text(`The fields to show, as in the address: some of ${names}.`),
      ...(expandable.length === 0
        ? {}
        : { expand: text(`The related records to include: some of ${expandable.join(", ")}.`) }),
      count: {
        type: "string",
        enum: ["exact", "estimated"],
        description: "Adds the number of records on all pages as `X-Total-Count`.",
      },
    },
    additionalProperties: false,
  };
}

/** Returns the schema of a condition. All of its members must match. */
export function conditionSchema(resource: Resource, name: string): JSONObject {
  const several = { type: "array", maxItems: MAX_CONDITIONS, items: ref("schemas", name) };
  const filterMembers = [...resource.filters].map(([field, operators]) => {
    const value = filterSchema(getField(resource, field));
    const properties = Object.fromEntries(operators.map((operator) => [operator, operandSchema(operator, value)]));
    return [field, { type: "object", properties, minProperties: 1, additionalProperties: false }];
  });
  return {
    type: "object",
    description: "All members must match.",
    properties: { ...Object.fromEntries(filterMembers), all: several, any: several, not: ref("schemas", name) },
    additionalProperties: false,
  };
}

function operandSchema(operator: Operator, value: JSONObject): JSONObject {
  if (operator === "null") return { type: "boolean" };
  if (textOperators.has(operator)) return { type: "string" };
  if (operator !== "in") return value;
  const commaText = { type: "string", description: "Values separated by commas." };
  return { anyOf: [{ type: "array", maxItems: MAX_LIMIT, items: value }, commaText] };
}
