import {
  aFunction,
  anObject,
  anything,
  isObject,
  isText,
  buildObjectCheck,
  objectWith,
  optional,
  text,
  texts,
  type ValueCheck,
} from "../core/checking/members.ts";
import type { Look } from "../core/html/look.ts";
import type { AccountPages, Parts, ServiceParts } from "./feature.ts";

/**
 * The checks for lists of parts. They accept any value, because `declarationMistakes` checks the lists and each part in
 * them.
 */
export const partsLists: Readonly<Record<keyof ServiceParts, ValueCheck>> = {
  schemes: anything,
  mounts: anything,
  endpoints: anything,
  formats: anything,
  collections: anything,
};

const pagesMembers: Readonly<Record<keyof AccountPages, ValueCheck>> = {
  login: text,
  factor: text,
  signup: text,
  forgot: text,
  reset: text,
  verify: text,
  invitation: optional(text),
};

/** A path of the service, without a query. `//host` and `/\\host` are other sites. */
const PATH = /^\/(?![/\\])[^?#\s]*$/;

const lookMembers: Readonly<Record<keyof Look, ValueCheck>> = {
  title: text,
  mark: optional(text),
  logo: optional(text),
  color: optional(text),
  links: optional((value) => (Array.isArray(value) ? null : "it has to be a list of links")),
  style: anObject,
};

/** The checks for the parts of a feature. */
export const partsMembers: Readonly<Record<keyof Parts, ValueCheck>> = {
  ...partsLists,
  offer: (value) => (value === undefined ? "it has to be the offer to other features, or null" : null),
  endpointsOfInvitations: optional(aFunction),
  scopesAllow: optional(aFunction),
  standing: optional(aFunction),
  limiter: optional(objectWith("a limiter, like that of rateLimits()", "arriving", "identified")),
  identity: optional(texts),
  roles: optional(texts),
  tags: optional((value) =>
    isObject(value) && Object.values(value).every(isText)
      ? null
      : 'it has to be texts by tag, like { books: "The books of the library." }',
  ),
  look: optional(buildObjectCheck(lookMembers, "it has to be how pages look: a title and a style")),
  pages: optional(buildObjectCheck(pagesMembers, "it has to be the paths of the pages of accounts")),
  loginLinks: optional((value) =>
    Array.isArray(value) &&
    value.every((each) => isObject(each) && isText(each["title"]) && isText(each["href"]) && PATH.test(each["href"]))
      ? null
      : 'it has to be a list of titles with paths of this service, like { title: "Company", href: "/api/login/company/start" }',
  ),
  findLinkUser: optional(aFunction),
  observe: optional(aFunction),
  alongside: optional(aFunction),
  problems: optional((value) =>
    Array.isArray(value) && value.every((each) => isObject(each) && isText(each["code"]))
      ? null
      : "it has to be a list of your own problems, made with defineProblem",
  ),
  mistakes: optional(aFunction),
  measure: optional(aFunction),
  upkeep: anything,
  start: optional(aFunction),
  stop: optional(aFunction),
};
