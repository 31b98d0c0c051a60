import { aPermission, isPermission, permissionForm } from "../../access/permission/checking.ts";
import { schemeMistakes } from "../../access/scheme/checking.ts";
import type { Scheme } from "../../access/scheme/scheme.ts";
import { aFieldValue } from "../../core/checking/header-fields.ts";
import {
  aBoolean,
  aFunction,
  anObject,
  type ValueCheck,
  isObject,
  isText,
  matching,
  type Members,
  membersMistakes,
  buildChoiceCheck,
  optional,
  seen,
  shownWithoutText,
  text,
  texts,
  joinMistakes,
  adviseCall,
} from "../../core/checking/members.ts";
import { shownName } from "../../core/checking/nearest.ts";
import { requireArguments } from "../../core/checking/options.ts";
import { aDeprecation } from "../../core/deprecation.ts";
import { collectionMistakes } from "../../store/checking.ts";
import type { Collection } from "../../store/store.ts";
import { MAX_BODY_BYTES } from "../limits.ts";
import { FORM_PARAMETER, FORMAT_PARAMETER, type Format } from "../request/format.ts";
import { pathMistake } from "../request/path.ts";
import { aBodySchema } from "./body.ts";
import { actions, aFeatureList, aProblemList, permissionsMistakes } from "./checking.ts";
import type { Endpoint, EndpointDocumentation, ResponseDocumentation } from "./endpoint.ts";
import type { Mount } from "./mount.ts";
import { someReveals } from "./reveals.ts";

/**
 * The parts that a developer adds to a service, before they are checked. JavaScript has no types, and a config file may
 * differ from its type.
 */
export interface Declared {
  readonly mounts?: readonly Mount[];
  readonly endpoints?: readonly Endpoint[];
  readonly schemes?: readonly Scheme[];
  readonly formats?: readonly Format[];
  readonly collections?: readonly Collection[];
}

/** Returns all mistakes in the declared parts, each with its place, its reason and its fix. */
export function declarationMistakes(declared: Declared): readonly string[] {
  requireArguments("declarationMistakes", arguments, { declared: anObject });
  const { mounts, endpoints, schemes, formats, collections } = declared;
  return [
    ...each("mounts", mounts, mountMistakes),
    ...each("endpoints", endpoints, endpointMistakes),
    ...each("schemes", schemes, (scheme) => schemeMistakes(scheme, ownParameters)),
    ...each("formats", formats, formatMistakes),
    ...each("collections", collections, collectionMistakes),
  ];
}

function each(
  list: string,
  values: unknown,
  collectMistakes: (value: Members) => readonly string[],
): readonly string[] {
  if (values === undefined) return [];
  if (!Array.isArray(values)) return [`${list} is ${shownWithoutText(values)}; it has to be a list: ${list}: [ … ]`];
  return Array.from(values, (value: unknown, at) => {
    const place = `${list}[${at}]`;
    if (!isObject(value))
      return [`${place} is ${shownWithoutText(value)}, not an object; write one${adviseCall(value)}`];
    if (value instanceof Promise) return [`${place} is a promise; await it`];
    return collectMistakes(value).map((mistake) => `${place}${formatTitle(value)}: ${mistake}`);
  }).flat();
}

function formatTitle({ name, method, path, mediaType, resource }: Members): string {
  const title = isObject(resource) ? resource["path"] : (name ?? mediaType ?? [method, path].filter(isText).join(" "));
  return isText(title) && title !== "" ? ` (${title.slice(0, 80)})` : "";
}

function mountMistakes(value: Members): readonly string[] {
  const { resource, permissions, fields, path } = value;
  if (resource === undefined && isObject(fields) && isText(path))
    return ["it is a resource without a permission; write mount(resource, { permission: … })"];
  if (!isObject(resource) || !isText(resource["path"]) || !isObject(permissions) || !isObject(value["collection"]))
    return ["it is not a mounted resource; write mount(resource, { permission: … })"];
  return permissionsMistakes(permissions);
}

function endpointMistakes(endpoint: Members): readonly string[] {
  const { access, action = "call", body, method } = endpoint;
  const mistakes = [
    ...membersMistakes(endpoint, endpointMembers),
    ...(body !== undefined && method === "GET" ? ["GET has no body; take POST or QUERY, or leave the body out"] : []),
  ];
  if (!isPermission(access) || !(access.narrows ?? []).some((narrowed) => narrowed === action)) return mistakes;
  return [
    ...mistakes,
    `the permission ${access.name} narrows to rows, but your own endpoint has no rows, so it would allow every caller; mount the resource, or use a permission that says "allow" or "deny"`,
  ];
}

const endpointMembers: Readonly<Record<keyof Endpoint, ValueCheck>> = {
  method: buildChoiceCheck("GET", "QUERY", "POST", "PUT", "PATCH", "DELETE"),
  path: seen((value) => pathMistake(value)),
  action: optional(buildChoiceCheck(...Object.keys(actions), "call")),
  access: (value) => {
    if (value === "open") return null;
    return isPermission(value) ? aPermission(value) : `${permissionForm}; "open" looks at no credentials`;
  },
  query: optional(buildChoiceCheck("read", "secret", "ignored")),
  consumes: optional(texts),
  refusesBrowserForms: optional(aBoolean),
  redirectsFor: optional(texts),
  logsIn: optional(aBoolean),
  repeatable: optional(aBoolean),
  takesForms: optional(aBoolean),
  bodyOptional: optional(aBoolean),
  needs: optional(aFeatureList),
  reveals: optional(someReveals),
  body: optional(aBodySchema),
  maxBodyBytes: optional((value) =>
    typeof value === "number" && Number.isInteger(value) && value > 0 && value <= MAX_BODY_BYTES
      ? null
      : `it has to be a whole number of bytes from 1 to ${MAX_BODY_BYTES}`,
  ),
  produces: optional(
    matching(
      /^[\w.+-]+\/[\w.+-]+( ?;[\x20-\x7e]*)?$/,
      'it has to be a media type, like "text/calendar; charset=utf-8"',
    ),
  ),
  deprecated: optional(aDeprecation),
  documentation: optional((value) =>
    isObject(value)
      ? joinMistakes(membersMistakes(value, documentationMembers))
      : 'it has to be an object, like { summary: "Lend a book" }',
  ),
  responses: optional(someShapes),
  preconditions: optional(buildChoiceCheck("handler")),
  refusals: optional(buildChoiceCheck("reported")),
  guard: optional(aFunction),
  target: optional(aFunction),
  handle: aFunction,
};

/** Checks the declared bodies of responses by status. */
function someShapes(value: unknown): string | null {
  if (!isObject(value))
    return "it has to be responses by status, like { 200: defineResponse({ name, fields }), 204: null }";
  return joinMistakes(
    Object.entries(value).flatMap(([status, response]) => [
      ...statusMistakes(status),
      ...(response === null || (isObject(response) && isText(response["element"]) && isObject(response["schema"]))
        ? []
        : [`of ${status}: it has to be defineResponse({ name, fields }), or null if it has no body`]),
    ]),
  );
}

function statusMistakes(status: string): readonly string[] {
  return /^[2-5]\d\d$/.test(status) ? [] : [`${shownName(status)} is not a status from 200 to 599`];
}

/** Checks the documented responses by status. */
function someResponses(value: unknown): string | null {
  if (!isObject(value)) return 'it has to be answers by status, like { 204: { description: "It is lent." } }';
  return joinMistakes(
    Object.entries(value).flatMap(([status, response]) => {
      const wrong = statusMistakes(status);
      if (wrong.length > 0) return wrong;
      if (!isObject(response)) return [`of ${status}: it has to be an object, like { description: "It is lent." }`];
      return membersMistakes(response, responseMembers).map((mistake) => `of ${status}: ${mistake}`);
    }),
  );
}

const responseMembers: Readonly<Record<keyof ResponseDocumentation, ValueCheck>> = {
  description: text,
  schema: optional(anObject),
  headers: optional(anObject),
};

/** Checks parameters of OpenAPI 3.1 (§4.8.12), or references to them. Each needs a name and a place. */
function someParameters(value: unknown): string | null {
  const isParameter = (each: unknown): boolean =>
    isObject(each) && (isText(each["$ref"]) || (isText(each["name"]) && isText(each["in"])));
  return Array.isArray(value) && value.every(isParameter)
    ? null
    : 'it has to be a list of parameters of OpenAPI, like [{ name: "since", in: "query", schema: { type: "string" } }]';
}

const documentationMembers: Readonly<Record<keyof EndpointDocumentation, ValueCheck>> = {
  summary: text,
  tag: optional(text),
  request: optional(anObject),
  responses: optional(someResponses),
  parameters: optional(someParameters),
  problems: optional(aProblemList),
};

/** The query parameters of lists and formats. */
const ownParameters: readonly string[] = [
  "limit",
  "cursor",
  "sort",
  "fields",
  "expand",
  "search",
  FORMAT_PARAMETER,
  FORM_PARAMETER,
];

const mediaType = matching(/^[a-z0-9.+-]+\/[a-z0-9.+-]+$/, "it has to be a media type in lower case, like text/csv");
const isNotJSON: ValueCheck = (value) =>
  value === "application/json" ? "it is the default format and cannot be replaced; name another" : null;

function formatMistakes(format: Members): readonly string[] {
  const { mediaType: type, read } = format;
  return [
    ...membersMistakes(format, formatMembers),
    ...(type === "application/xml" && read === undefined
      ? ["it replaces XML, which bodies may use too; give it a read function"]
      : []),
  ];
}

const formatMembers: Readonly<Record<keyof Format, ValueCheck>> = {
  mediaType: (value) => mediaType(value) ?? isNotJSON(value),
  problemMediaType: mediaType,
  tagSuffix: (value) =>
    isText(value) && /^[\x21\x23-\x7e]{1,40}$/.test(value) ? null : "it has to be a short text, like -csv",
  shows: optional(buildChoiceCheck("lists")),
  charset: optional(buildChoiceCheck("utf-8")),
  hasForms: optional((value) => (value === true ? null : "it has to be true, or left out")),
  contentSecurityPolicy: optional(aFieldValue),
  tagged: optional(buildChoiceCheck("by content")),
  reveals: optional(someReveals),
  asksInPlaceOf: optional(aFunction),
  write: aFunction,
  writeJSON: optional(aFunction),
  writeProblem: aFunction,
  read: optional(aFunction),
};
