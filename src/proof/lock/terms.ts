import type { MemberFacts } from "../../access/permission/facts.ts";
import type { Permission } from "../../access/permission/permission.ts";
import { visible } from "../../core/visible.ts";
import { ANY_USER, ANYONE, compareTexts, formatActorCondition, type Sentence } from "./sentence.ts";

/** One part of an alternative, in words. All terms of an alternative must be true. */
export interface Term {
  /** The clause after "if". */
  readonly condition: string;
  /** The actor, if the term names one. */
  readonly subject: string | null;
  /** The term with the highest number gives the actor of the line. */
  readonly rank: number;
  /** True if the term is true only for callers who are logged in. */
  readonly needsLogin: boolean;
  /** The role that the caller has, or does not have. */
  readonly role?: { readonly name: string; readonly has: boolean };
}

/** Names the groups of memberships. It depends on the declarations of the whole service. */
export interface Namer {
  /** Returns the members in the plural, like `members` or `guests`. */
  members(facts: Pick<MemberFacts, "memberships">): string;
  /** Returns the group in the singular, like `project`. */
  group(facts: Pick<MemberFacts, "memberships" | "group">): string;
}

/** A caller who is logged in. */
export const loggedIn: Term = actorTerm(ANY_USER, 1);

/** A caller with the role, or without it. */
export function roleTerm(name: string, has: boolean): Term {
  if (has) return { ...actorTerm(name, 6), role: { name, has } };
  return { ...plainTerm(`their role is not ${name}`, false), role: { name, has } };
}

/** The user whose id is in the column or parameter. */
export function ownTerm(name: string): Term {
  return actorTerm(name === "id" ? "the user with that id" : `the user in ${name}`, 3);
}

export function memberTerm(facts: MemberFacts, namer: Namer): Term {
  const values = facts.where.map(({ column, values: accepted }) => `${column} ${accepted.map(String).join(" or ")}`);
  const by = facts.user === "user_id" ? "" : ` by ${facts.user}`;
  const { on } = facts;
  const at = on === undefined || on === "id" || on === facts.group ? "" : ` in ${on}`;
  const where = values.length === 0 ? "" : ` with ${values.toSorted().join(" and ")}`;
  return actorTerm(`${namer.members(facts)}${where} of the ${namer.group(facts)}${by}${at}`, 5);
}

export function sharesTerm(facts: Pick<MemberFacts, "memberships" | "group">, namer: Namer): Term {
  return actorTerm(`${namer.members(facts)} of the same ${namer.group(facts)}`, 4);
}

export function sameTerm(field: string, column: string): Term {
  return actorTerm(`users with the same ${field}${column === field ? "" : ` in ${column}`}`, 2);
}

export function scopeTerm(scope: string, has: boolean): Term {
  return plainTerm(
    has
      ? `a credential with scopes has the scope ${scope}`
      : `the caller is unknown, or the credential has scopes without ${scope}`,
    has,
  );
}

export function unlimitedTerm(has: boolean): Term {
  return plainTerm(has ? "the credential is not limited to scopes" : "the credential is limited to scopes", false);
}

export function unknownTerm(): Term {
  return plainTerm("they are not logged in", false);
}

/** A custom permission, in the words of its author. */
export function customTerm({ name, description }: Permission<string>, allows: boolean): Term {
  const words = inOneLine(description ?? name);
  if (description === undefined)
    return plainTerm(`the permission ${JSON.stringify(words)} ${allows ? "allows" : "denies"} it`, false);
  return plainTerm(allows ? words : `not: ${words}`, false);
}

/** Returns a sentence for each alternative. `within` are further conditions of all of them. */
export function toSentences(
  alternatives: readonly (readonly Term[])[],
  what: string,
  within: readonly string[] = [],
): readonly Sentence[] {
  return alternatives.map((terms) => {
    const actors = terms.filter(({ subject }) => subject !== null).toSorted((one, other) => other.rank - one.rank);
    const others = terms.filter((term) => term !== actors[0]).map(({ condition }) => condition);
    const unnamed = terms.some(({ needsLogin }) => needsLogin) ? ANY_USER : ANYONE;
    return { subject: actors[0]?.subject ?? unnamed, what, conditions: [...others.toSorted(compareTexts), ...within] };
  });
}

/** A line of the lock is one line of the file. */
function inOneLine(text: string): string {
  return visible(text.replaceAll(/\s+/g, " ").trim());
}

function actorTerm(subject: string, rank: number): Term {
  return { condition: formatActorCondition(subject), subject, rank, needsLogin: true };
}

function plainTerm(condition: string, needsLogin: boolean): Term {
  return { condition, subject: null, rank: 0, needsLogin };
}
