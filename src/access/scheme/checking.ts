import {
  aBoolean,
  aFunction,
  isObject,
  isText,
  matching,
  membersMistakes,
  buildChoiceCheck,
  optional,
  shown,
  buildListCheck,
  text,
  joinMistakes,
  type ValueCheck,
  type Checks,
  type Members,
} from "../../core/checking/members.ts";
import { catalogue } from "../../core/problem/catalogue.ts";
import type { Carrier, Scheme } from "./scheme.ts";
import { proofMethods, rejectionCodes } from "./verdict.ts";

/**
 * Returns the mistakes in a scheme. `taken` contains the query parameters that are already in use and cannot carry a
 * credential.
 */
export function schemeMistakes(scheme: Members, taken: readonly string[]): readonly string[] {
  const carriers: ValueCheck = (value) => {
    if (!Array.isArray(value) || value.length === 0)
      return `it has to be a list of places like { in: "header", name: "X-Badge" }, in ${places.join(", ")}`;
    return joinMistakes(Array.from(value, (carrier, at) => carrierMistakes(carrier, at, taken)).flat());
  };
  return membersMistakes(scheme, { ...schemeMembers, carriers });
}

/** Checks the name of a header field, a cookie or a scheme of `Authorization` (RFC 9110 §5.6.2). */
export const aToken = matching(
  /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/,
  "it has to be a name of letters, digits and hyphens, like X-Badge",
);

/** Checks the name of a cookie. Refuses `__Host-` and `__Secure-`, because the service adds the prefix over TLS. */
export const aCookieName: ValueCheck = (value) =>
  isText(value) && /^__(?:host|secure)-/i.test(value) ? "the prefix is added over TLS; leave it out" : aToken(value);

const placeMembers: { readonly [In in Carrier["in"]]: ChecksOfPlace<In> } = {
  authorization: { in: buildChoiceCheck("authorization"), scheme: aToken },
  header: { in: buildChoiceCheck("header"), name: aToken },
  cookie: { in: buildChoiceCheck("cookie"), name: aToken, hostPrefix: optional(aBoolean) },
  proxy: { in: buildChoiceCheck("proxy"), name: aToken },
  query: { in: buildChoiceCheck("query"), name: aToken },
};
type ChecksOfPlace<In> = Readonly<Record<keyof Extract<Carrier, { readonly in: In }>, ValueCheck>>;

const places = Object.keys(placeMembers);

function carrierMistakes(carrier: unknown, at: number, taken: readonly string[]): readonly string[] {
  const place = `carriers[${at}]`;
  if (!isObject(carrier)) return [`${place} is ${shown(carrier)}, not an object`];
  const { in: where, name } = carrier;
  const wrong = buildChoiceCheck(...places)(where);
  if (wrong !== null) return [`${place}: in is ${shown(where)}; ${wrong}`];
  const mistakes = membersMistakes(carrier, placeMembers[where as Carrier["in"]]);
  if (where === "query" && isText(name) && taken.includes(name))
    return [`${place}: the parameter ${name} is already in use; choose a name other than ${taken.join(", ")}`];
  return mistakes.map((mistake) => `${place}: ${mistake}`);
}

const codes = Object.keys(rejectionCodes);

const aProof: ValueCheck = (value) =>
  value === "each" || value === "program"
    ? null
    : Array.isArray(value) && value.length > 0 && value.every((each) => isText(each) && proofMethods.has(each))
      ? null
      : `it has to be "each", "program" or a list of ${[...proofMethods].join(", ")}`;

const schemeMembers: Checks & Readonly<Record<Exclude<keyof Scheme, "carriers">, ValueCheck>> = {
  name: matching(/^[a-z][a-z0-9-]*$/, "it has to be lower case with hyphens, like remote-user"),
  readsBody: optional(aBoolean),
  proves: optional(aProof),
  ambient: optional(aBoolean),
  shared: optional(aBoolean),
  recognizes: optional(aFunction),
  challenge: optional(aFunction),
  missingDetail: optional(text),
  rejectedAs: optional(buildChoiceCheck(...codes)),
  alsoRejectedAs: optional(buildListCheck(...codes)),
  problems: optional(buildListCheck(...Object.keys(catalogue))),
  authenticate: aFunction,
};
