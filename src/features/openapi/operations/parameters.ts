import type { Deprecated } from "../../../core/deprecation.ts";
import { textOperators, type Operator } from "../../../core/operators.ts";
import type { ServedMount } from "../../../http/declarations/mount.ts";
import { collectParameters } from "../../../http/declarations/parameters.ts";
import { FORM_PARAMETER, FORMAT_PARAMETER, type Format } from "../../../http/request/format.ts";
import type { Field } from "../../../resource/declaration/field.ts";
import { formatDefaultSort } from "../../../resource/default-sort.ts";
import { comparedKind } from "../../../resource/filter-value.ts";
import { getField } from "../../../resource/ids.ts";
import { DEFAULT_LIMIT, MAX_LIMIT } from "../../../resource/page-size.ts";
import { shownFields, type Resource } from "../../../resource/resource.ts";
import { MAX_LENGTH, MAX_WORDS } from "../../../resource/search.ts";
import { withDeprecation } from "../deprecated.ts";
import { ref, type JSONObject } from "../json.ts";
import { idSchemas } from "../schemas.ts";

export { MAX_LIMIT };

/** The parameters with the same meaning everywhere. */
export const parameters = {
  limit: {
    name: "limit",
    in: "query",
    description: "The maximum number of records on a page.",
    schema: { type: "integer", minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
  },
  cursor: {
    name: "cursor",
    in: "query",
    description: "The position in the list, from the `Link` header. It belongs to its filters and order.",
    schema: { type: "string", minLength: 1 },
  },
  PreferReturn: {
    name: "Prefer",
    in: "header",
    description: "`return=minimal` leaves the record out of the answer (RFC 7240).",
    schema: { type: "string", examples: ["return=minimal"] },
  },
  PreferCount: {
    name: "Prefer",
    in: "header",
    description: "`count=exact` or `count=estimated` asks for `X-Total-Count` (RFC 7240).",
    schema: { type: "string", examples: ["count=exact"] },
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "Makes the request safe to repeat: within 24 hours, requests with the same key are executed once and get the same outcome.",
    schema: { type: "string", minLength: 8, maxLength: 255, pattern: "^[!-~]+$" },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description: "ETags that the caller has: 304 if one of them is current.",
    schema: { type: "string" },
  },
  IfNothingThere: {
    name: "If-None-Match",
    in: "header",
    description: "`*`: only create; 412 if the record exists.",
    schema: { type: "string" },
  },
  IfMatch: {
    name: "If-Match",
    in: "header",
    description: "The ETag of the state that the caller read: 412 if the state has changed.",
    schema: { type: "string" },
  },
  RequiredIfMatch: {
    name: "If-Match",
    in: "header",
    required: true,
    description: "The ETag of the state that the caller read: 412 if the state has changed.",
    schema: { type: "string" },
  },
} as const satisfies Record<string, JSONObject>;

/**
 * Returns the parameter `format` of records, and the parameter `format` of lists, because some formats show only lists.
 */
export function formatParameters(formats: readonly Format[]): Readonly<Record<"format" | "listFormat", JSONObject>> {
  return {
    format: formatParameter(formats.filter(({ shows }) => shows !== "lists")),
    listFormat: formatParameter(formats),
  };
}

function formatParameter(formats: readonly Format[]): JSONObject {
  const names = formats.map(({ mediaType }) => mediaType.slice(mediaType.indexOf("/") + 1));
  const types = formats.map(({ mediaType }) => `\`${mediaType}\``).join(", ");
  return {
    name: FORMAT_PARAMETER,
    in: "query",
    description: `The representation, in place of \`Accept\`, for links: ${types}.`,
    schema: { type: "string", enum: names },
  };
}

/** Returns references to shared parameters. */
export function shared(...names: readonly (keyof typeof parameters)[]): readonly JSONObject[] {
  return names.map((name) => ref("parameters", name));
}

/** Returns the parameter `limit` with the values that this list accepts. */
export function limitParameter({ pageSize }: Resource): JSONObject {
  const { default: usual, maximum } = pageSize;
  if (usual === DEFAULT_LIMIT && maximum === MAX_LIMIT) return ref("parameters", "limit");
  return { ...parameters.limit, schema: { type: "integer", minimum: 1, maximum, default: usual } };
}

/** Returns the parameters of the path. */
export function pathParameters(path: string, mounted?: ServedMount): readonly JSONObject[] {
  return collectParameters(path, mounted).map(({ name, type }) => {
    const schema = type === "text" ? { type: "string", minLength: 1, maxLength: 200 } : idSchemas[type];
    return { name, in: "path", required: true, schema };
  });
}

/** Returns the parameters of a list, except for pages: order, shape and filters. */
export function listParameters(resource: Resource): readonly JSONObject[] {
  const filters = [...resource.filters].flatMap(([name, operators]) =>
    operators.map((operator) =>
      filterParameter(name, operator, getField(resource, name), collectDeprecations(resource, name)),
    ),
  );
  return [sortParameter(resource), fieldsParameter(resource), ...searchParameters(resource), ...filters];
}

function sortParameter({ sorts, defaultSort }: Resource): JSONObject {
  const usual = formatDefaultSort(defaultSort);
  const parameter = commaSeparated("sort", "The order; `-` reverses it, and the id breaks ties.", {
    type: "string",
    enum: sorts.flatMap((name) => [name, `-${name}`]),
  });
  if (usual === null) return parameter;
  return { ...parameter, schema: { ...(parameter["schema"] as JSONObject), default: usual.split(",") } };
}

function searchParameters({ search }: Resource): readonly JSONObject[] {
  if (search.length === 0) return [];
  const description =
    `Each word must begin a word of ${search.join(" or ")}. Words are runs of letters and digits; ` +
    `case and accents do not count. At most ${MAX_WORDS} words.`;
  return [
    { name: "search", in: "query", description, schema: { type: "string", minLength: 1, maxLength: MAX_LENGTH } },
  ];
}

/** Returns the parameter that selects the fields of each record. */
export function fieldsParameter(resource: Resource): JSONObject {
  const words =
    "The fields to show. Default: all. The others are missing from the answer, although its schema requires them.";
  return commaSeparated("fields", words, {
    type: "string",
    enum: shownFields(resource),
  });
}

/** Returns the parameter that selects the expanded records. Empty if there are none. */
export function expandParameters(names: readonly string[]): readonly JSONObject[] {
  if (names.length === 0) return [];
  const description =
    "The related records to include, if the caller may read them. A name with a point includes the related records of those records.";
  return [commaSeparated("expand", description, { type: "string", enum: names })];
}

const comparisons: Readonly<Record<Operator, string>> = {
  eq: "is this",
  ne: "is not this",
  lt: "is less than this",
  lte: "is this or less",
  gt: "is more than this",
  gte: "is this or more",
  in: "is one of these",
  contains: "contains this",
  starts: "starts with this",
  icontains: "contains this, in any case",
  istarts: "starts with this, in any case",
  null: "is null: `true`, or is not: `false`",
};

function collectDeprecations({ deprecations }: Resource, name: string): readonly Deprecated[] {
  return [...(deprecations?.fields.get(name) ?? []), ...(deprecations?.filters.get(name) ?? [])];
}

function filterParameter(field: string, operator: Operator, declared: Field, going: readonly Deprecated[]): JSONObject {
  const { description, ...rest } = plainFilter(field, operator, declared);
  return { ...rest, ...withDeprecation([String(description)], going) };
}

function plainFilter(field: string, operator: Operator, declared: Field): JSONObject {
  const isOurs = field === FORMAT_PARAMETER || field === FORM_PARAMETER;
  const name = operator === "eq" && !isOurs ? field : `${field}[${operator}]`;
  const description = `Only records whose \`${field}\` ${comparisons[operator]}.`;
  if (operator === "null") return { name, in: "query", description, schema: { type: "boolean" } };
  const value = textOperators.has(operator) ? { type: "string" } : filterSchema(declared);
  return operator === "in"
    ? commaSeparated(name, description, value)
    : { name, in: "query", description, schema: value };
}

/** Returns the schema of a filter. A value of the right type is enough, even if the field would refuse to store it. */
export function filterSchema(field: Field): JSONObject {
  const kind = comparedKind(field.kind);
  const { type } = kind.column;
  if (type === "integer") return { type, minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
  if (type === "text" && kind.spelled !== true) return { type: "string" };
  return kind.schema;
}

function commaSeparated(name: string, description: string, items: JSONObject): JSONObject {
  const schema = { type: "array", items, minItems: 1, maxItems: MAX_LIMIT };
  return {
    name,
    in: "query",
    description: `${description} Separated by commas.`,
    style: "form",
    explode: false,
    schema,
  };
}
