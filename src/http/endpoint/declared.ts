import {
  aBoolean,
  aFunction,
  anObject,
  isObject,
  isText,
  matching,
  membersMistakes,
  oneOf,
  optional,
  shown,
  text,
  texts,
  type Check,
  type Members,
} from "../../checking/members.ts";
import type { Carrier, RejectionCode, Scheme } from "../../scheme/scheme.ts";
import { collectionMistakes } from "../../store/checking.ts";
import type { Collection } from "../../store/store.ts";
import { FORMAT_PARAMETER, type Format } from "../formats/format.ts";
import { MAX_BODY_BYTES } from "../limits.ts";
import type { Mount } from "../mount/mount.ts";
import { actions, aProblemList, isPermission, permissionForm, permissionsMistakes } from "./checking.ts";
import type { Endpoint, EndpointDocumentation } from "./endpoint.ts";
import { pathMistake } from "./path.ts";

/** What somebody adds to a service, before anybody has looked at it: JavaScript has no types, and a config file may have lied about them. */
export interface Declared {
  readonly mounts?: readonly Mount[];
  readonly endpoints?: readonly Endpoint[];
  readonly schemes?: readonly Scheme[];
  readonly formats?: readonly Format[];
  readonly collections?: readonly Collection[];
}

/** Everything that is wrong with what was declared: where it stands, why, and the cure. */
export function declarationMistakes(declared: Declared): readonly string[] {
  const { mounts, endpoints, schemes, formats, collections } = declared;
  return [
    ...each("mounts", mounts, mountMistakes),
    ...each("endpoints", endpoints, endpointMistakes),
    ...each("schemes", schemes, (scheme) => membersMistakes(scheme, schemeMembers)),
    ...each("formats", formats, (format) => membersMistakes(format, formatMembers)),
    ...each("collections", collections, collectionMistakes),
  ];
}

function each(list: string, values: unknown, mistakesOf: (value: Members) => readonly string[]): readonly string[] {
  if (values === undefined) return [];
  if (!Array.isArray(values)) return [`${list} is ${shown(values)}; it has to be a list: ${list}: [ … ]`];
  return Array.from(values, (value: unknown, at) => {
    const place = `${list}[${at}]`;
    if (!isObject(value)) return [`${place} is ${shown(value)}, and no object`];
    return mistakesOf(value).map((mistake) => `${place}${titleOf(value)}: ${mistake}`);
  }).flat();
}

function titleOf({ name, method, path, mediaType, resource }: Members): string {
  const title = isObject(resource) ? resource["path"] : (name ?? mediaType ?? [method, path].filter(isText).join(" "));
  return isText(title) && title !== "" ? ` (${title.slice(0, 80)})` : "";
}

function mountMistakes(value: Members): readonly string[] {
  const { resource, permissions, fields, path } = value;
  if (resource === undefined && isObject(fields) && isText(path))
    return ["it is a resource, and nobody said who may use it; write mount(resource, { permission: … })"];
  if (!isObject(resource) || !isText(resource["path"]) || !isObject(permissions) || !isObject(value["collection"]))
    return ["it is no mounted resource; write mount(resource, { permission: … })"];
  return permissionsMistakes(permissions);
}

function endpointMistakes(endpoint: Members): readonly string[] {
  const mistakes = membersMistakes(endpoint, endpointMembers);
  const { access, action = "call" } = endpoint;
  if (!isPermission(access) || !(access.narrows ?? []).some((narrowed) => narrowed === action)) return mistakes;
  return [
    ...mistakes,
    `the permission ${access.name} narrows to rows, and an endpoint of your own applies none, so that it would let everybody in; mount the resource, or use a permission that says "allow" or "deny"`,
  ];
}

const endpointMembers: Readonly<Record<keyof Endpoint, Check>> = {
  method: oneOf("GET", "QUERY", "POST", "PUT", "PATCH", "DELETE"),
  path: pathMistake,
  action: optional(oneOf(...Object.keys(actions), "call")),
  access: (value) =>
    value === "open" || isPermission(value) ? null : `${permissionForm}; "open" looks at no credentials`,
  query: optional(oneOf("read", "ignored")),
  consumes: optional(texts),
  refusesBrowserForms: optional(aBoolean),
  redirectsFor: optional(texts),
  logsIn: optional(aBoolean),
  repeatable: optional(aBoolean),
  bodyOptional: optional(aBoolean),
  maxBodyBytes: optional((value) =>
    typeof value === "number" && Number.isInteger(value) && value > 0 && value <= MAX_BODY_BYTES
      ? null
      : `it has to be a whole number of bytes from 1 to ${MAX_BODY_BYTES}`,
  ),
  produces: optional(text),
  documentation: optional((value) =>
    isObject(value)
      ? (membersMistakes(value, documentationMembers)[0] ?? null)
      : 'it has to be an object, like { summary: "Lend a book" }',
  ),
  preconditions: optional(oneOf("handler")),
  refusals: optional(oneOf("told")),
  guard: optional(aFunction),
  target: optional(aFunction),
  handle: aFunction,
};

const documentationMembers: Readonly<Record<keyof EndpointDocumentation, Check>> = {
  summary: text,
  tag: optional(text),
  request: optional(anObject),
  responses: optional(anObject),
  parameters: optional((value) => (Array.isArray(value) ? null : "it has to be a list")),
  problems: optional(aProblemList),
};

/** What lists and formats are asked for with. */
const ownParameters: readonly string[] = ["limit", "cursor", "sort", "fields", "expand", "search", FORMAT_PARAMETER];

const fieldName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

const rejectionCodes = [
  "invalid_credentials",
  "invalid_token",
  "token_not_valid",
] as const satisfies readonly RejectionCode[];

const schemeMembers: Readonly<Record<keyof Scheme, Check>> = {
  name: matching(/^[a-z][a-z0-9-]*$/, "it has to be lower case with hyphens, like remote-user"),
  carriers: (value) =>
    Array.isArray(value) && value.length > 0 && value.every(isCarrier)
      ? null
      : `it has to be a list of places like { in: "header", name: "X-Badge" }, in authorization, header, cookie, proxy or query; a parameter of the query has a name of its own, and none of ${ownParameters.join(", ")}`,
  readsBody: optional(aBoolean),
  ambient: optional(aBoolean),
  shared: optional(aBoolean),
  recognizes: optional(aFunction),
  challenge: optional(aFunction),
  missingDetail: optional(text),
  rejectedAs: optional(oneOf(...rejectionCodes)),
  alsoRejectedAs: optional((value) =>
    Array.isArray(value) && value.every((code) => rejectionCodes.some((known) => known === code))
      ? null
      : `it has to be a list of ${rejectionCodes.join(", ")}`,
  ),
  authenticate: aFunction,
};

const mediaType = matching(/^[a-z0-9.+-]+\/[a-z0-9.+-]+$/, "it has to be a media type in lower case, like text/csv");

const formatMembers: Readonly<Record<keyof Format, Check>> = {
  mediaType,
  problemMediaType: mediaType,
  tagSuffix: (value) =>
    isText(value) && /^[\x21\x23-\x7e]*$/.test(value) ? null : "it has to be a short text, like -csv",
  shows: optional(oneOf("lists")),
  charset: optional(oneOf("utf-8")),
  contentSecurityPolicy: optional(text),
  tagged: optional(oneOf("by content")),
  asksInPlaceOf: optional(aFunction),
  write: aFunction,
  writeJSON: optional(aFunction),
  writeProblem: aFunction,
  read: optional(aFunction),
};

function isCarrier(value: unknown): value is Carrier {
  if (!isObject(value)) return false;
  const { in: place, name, scheme, hostPrefix } = value;
  const named = place === "authorization" ? scheme : name;
  if (!isText(named) || !fieldName.test(named)) return false;
  if (hostPrefix !== undefined && (place !== "cookie" || typeof hostPrefix !== "boolean")) return false;
  if (place === "query") return !ownParameters.includes(named);
  return isText(place) && ["authorization", "header", "cookie", "proxy"].includes(place);
}
