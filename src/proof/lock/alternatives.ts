import { factsOf, type MemberFacts } from "../../access/permission/facts.ts";
import type { Action, Permission } from "../../access/permission/permission.ts";
import {
  customTerm,
  loggedIn,
  memberTerm,
  type Namer,
  ownTerm,
  roleTerm,
  sameTerm,
  scopeTerm,
  sharesTerm,
  type Term,
  unknownTerm,
  unlimitedTerm,
} from "./terms.ts";

/** One way in which a permission allows a caller: all of its terms are true. */
export type Alternative = readonly Term[];

/** The permission, and the action that it decides on. */
interface Question {
  readonly action: Action;
  readonly namer: Namer;
}

/** Returns the ways in which a permission allows an action. None: it denies every caller. */
export function collectAlternatives(
  permission: Permission<string>,
  action: Action,
  namer: Namer,
): readonly Alternative[] {
  const simple = expand(permission, { action, namer }, true).flatMap(simplify);
  return simple.filter(
    (one, at) =>
      !simple.some((other, place) => place !== at && covers(other, one) && (!covers(one, other) || place < at)),
  );
}

/**
 * Returns the alternatives of a permission, or of its opposite: the disjunctive normal form. Permissions that narrow to
 * rows have no opposite: `not` refuses them.
 */
function expand(permission: Permission<string>, question: Question, allows: boolean): readonly Alternative[] {
  const facts = factsOf(permission);
  if (facts === null) return [[customTerm(permission, allows)]];
  switch (facts.kind) {
    case "any":
    case "all": {
      const parts = facts.parts.map((part) => expand(part, question, allows));
      // The opposite of "any" is that all are denied.
      return (facts.kind === "any") === allows ? parts.flat() : combine(parts);
    }
    case "not":
      return expand(facts.part, question, !allows);
    case "anyone":
      return allows ? [[]] : [];
    case "nobody":
      return allows ? [] : [[]];
    case "read only":
      return (question.action === "list" || question.action === "read") === allows ? [[]] : [];
    case "administrator":
      return [[roleTerm("admin", allows)]];
    case "roles":
      return allows
        ? facts.roles.map((role) => [roleTerm(role, true)])
        : [facts.roles.map((role) => roleTerm(role, false))];
    case "authenticated":
      return [[allows ? loggedIn : unknownTerm()]];
    case "unlimited":
      return [[unlimitedTerm(allows)]];
    case "scope":
      return [[scopeTerm(facts.scope, allows)]];
    case "owner":
      return [[ownTerm(facts.column)]];
    case "self":
      return [[ownTerm(facts.parameter)]];
    case "same":
      return [[sameTerm(facts.field, facts.column)]];
    case "member":
      return splitValues(facts).map((each) => [memberTerm(each, question.namer)]);
    case "shares":
      return [[ownTerm("id")], [sharesTerm(facts, question.namer)]];
  }
}

/** Members with each accepted value are a separate actor, so that a new value is a new line. */
function splitValues(facts: MemberFacts): readonly MemberFacts[] {
  const choices = facts.where.map(({ column, values }) => values.map((value) => ({ column, values: [value] })));
  return product(choices).map((where) => ({ ...facts, where }));
}

function combine(parts: readonly (readonly Alternative[])[]): readonly Alternative[] {
  return product(parts).map((each) => each.flat());
}

function product<T>(choices: readonly (readonly T[])[]): readonly (readonly T[])[] {
  return choices.reduce<readonly (readonly T[])[]>(
    (made, each) => made.flatMap((before) => each.map((choice) => [...before, choice])),
    [[]],
  );
}

/** Removes terms that follow from others. Returns no alternative if two terms contradict each other. */
function simplify(alternative: Alternative): readonly Alternative[] {
  const terms = [...new Map(alternative.map((term) => [term.condition, term])).values()];
  const roles = terms.flatMap(({ role }) => role ?? []);
  const has = roles.filter((role) => role.has).map(({ name }) => name);
  const lacks = roles.filter((role) => !role.has).map(({ name }) => name);
  const isKnown = terms.some(({ needsLogin }) => needsLogin);
  if (has.length > 1 || has.some((name) => lacks.includes(name))) return [];
  if (isKnown && terms.some(({ condition }) => condition === unknownTerm().condition)) return [];
  return [
    terms.filter((term) => {
      if (term.role?.has === false && has.length > 0) return false;
      return term !== loggedIn || !terms.some((other) => other !== loggedIn && other.needsLogin);
    }),
  ];
}

/** Returns true if the first alternative allows each caller whom the second one allows. */
function covers(wide: Alternative, narrow: Alternative): boolean {
  const conditions = new Set(narrow.map(({ condition }) => condition));
  const isKnown = narrow.some(({ needsLogin }) => needsLogin);
  return wide.every((term) => conditions.has(term.condition) || (term === loggedIn && isKnown));
}
