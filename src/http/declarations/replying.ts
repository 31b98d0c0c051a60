import type { Reply } from "../../core/call/call.ts";
import { aFieldList, aFieldValue } from "../../core/checking/header-fields.ts";
import {
  anything,
  isObject,
  isText,
  membersMistakes,
  buildChoiceCheck,
  optional,
  formatMistakes,
  describeType,
  text,
  joinMistakes,
  unseen,
  wholeFrom,
  type ValueCheck,
  type Checks,
  type Members,
} from "../../core/checking/members.ts";
import { readDeprecation } from "../../core/deprecation.ts";
import { after } from "../../core/eventually.ts";
import { Problem } from "../../core/problem/problem.ts";
import { bodyReading } from "./body.ts";
import { isBuiltIn, type Endpoint, type ServedEndpoint } from "./endpoint.ts";

/**
 * Returns the endpoint in the form that the pipeline serves. Checks the replies of custom handlers: a reply that cannot
 * be sent is a fault, and the error names the endpoint.
 */
export function served(endpoint: Endpoint): ServedEndpoint {
  const handler = `The handler of ${endpoint.method} ${endpoint.path}`;
  const handle: ServedEndpoint["handle"] = isBuiltIn(endpoint)
    ? (context) => endpoint.handle(context)
    : (context) =>
        after(context.call.awaiting(handler, endpoint.handle(context)), (reply) => requireReply(endpoint, reply));
  const deprecations = readDeprecation(`endpoint ${endpoint.method} ${endpoint.path}`, endpoint.deprecated);
  const prototype: unknown = Object.getPrototypeOf(endpoint);
  const own = Object.create(prototype as object | null) as ServedEndpoint;
  return Object.assign(own, endpoint, { handle, deprecations, isBuiltIn: isBuiltIn(endpoint) }, buildReading(endpoint));
}

function buildReading({
  body,
  consumes = ["application/json"],
}: Endpoint): Pick<ServedEndpoint, "consumes" | "reading"> {
  return body === undefined ? {} : { consumes, reading: bodyReading(body) };
}

function requireReply({ method, path }: ServedEndpoint, reply: Reply): Reply {
  const result: unknown = reply;
  if (result instanceof Problem)
    throw new TypeError(`The handler of ${method} ${path} returned a problem; throw it: throw problem(…).`);
  const mistakes = isObject(result)
    ? [...membersMistakes(result, replyMembers), ...bodyless(result)]
    : [`it is ${describeType(result)}; a handler gives { status, body }`];
  if (mistakes.length === 0) return reply;
  throw new TypeError(`The handler of ${method} ${path} gave an invalid reply: ${formatMistakes(mistakes)}`);
}

/** Returns a mistake if a status without content has a body (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
function bodyless({ status, body }: Members): readonly string[] {
  const hasNone = status === 204 || status === 205 || status === 304;
  return hasNone && body !== undefined ? [`body is ${describeType(body)}; ${status} has none`] : [];
}

const bodyMembers: Readonly<Record<NonNullable<Reply["body"]>["kind"], Checks>> = {
  data: { ...shownMembers(), value: (value) => (value === undefined ? "it has to be JSON; null is a value" : null) },
  json: { ...shownMembers(), json: unseen((value) => (isText(value) ? null : "it has to be JSON text")) },
  raw: {
    kind: anything,
    type: unseen(aFieldValue),
    content: unseen((value) => (isText(value) || value instanceof Uint8Array ? null : "it has to be a text or bytes")),
  },
};

function shownMembers(): Checks {
  return {
    kind: anything,
    element: unseen(text),
    items: unseen(optional(text)),
    jsonMembers: anything,
    related: anything,
  };
}

const aKind = buildChoiceCheck(...Object.keys(bodyMembers));

const aBody: ValueCheck = (value) => {
  const like = 'like { kind: "data", value, element: "greeting" }';
  if (!isObject(value)) return `it has to be an object, ${like}`;
  const wrong = aKind(value["kind"]);
  if (wrong !== null) return `its kind is ${describeType(value["kind"])}; ${wrong}, ${like}`;
  const mistakes = membersMistakes(value, bodyMembers[value["kind"] as keyof typeof bodyMembers]);
  return joinMistakes(mistakes);
};

const replyMembers: Readonly<Record<keyof Reply, ValueCheck>> = {
  status: wholeFrom(200, 599),
  headers: unseen(optional(aFieldList)),
  body: unseen(optional(aBody)),
  tag: unseen(
    optional((value) =>
      value === null || (isText(value) && /^[\x21\x23-\x7e\x80-\xff]*$/.test(value))
        ? null
        : "it has to be a text without spaces and quotation marks, or null",
    ),
  ),
  cache: unseen(optional(buildChoiceCheck("public", "private", "no-store"))),
  vary: unseen(optional(aFieldValue)),
  maxAgeSeconds: optional(wholeFrom(0)),
  contentSecurityPolicy: unseen(optional(aFieldValue)),
};
