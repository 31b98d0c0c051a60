import { findAdministered } from "../../features/auth/records/users.ts";
import { exemptionOf, permissionOf } from "../../http/declarations/rules.ts";
import type { FieldRule } from "../../resource/declaration/field.ts";
import type { Resource } from "../../resource/resource.ts";
import { collectAlternatives, type Alternative } from "./alternatives.ts";
import { NOBODY_ELSE, type Sentence } from "./sentence.ts";
import { ownTerm, roleTerm, toSentences, type Namer } from "./terms.ts";

/** Returns the sentences about the rules of fields. A field without a rule has none. */
export function fieldSentences(resource: Resource, name: string, namer: Namer): readonly Sentence[] {
  const ruled = Object.entries(resource.fields).flatMap(([field, { options }]) =>
    (["read", "write"] as const).flatMap((verb) => {
      const rule = options[verb];
      return rule === undefined ? [] : ruleSentences(ruleAlternatives(rule, namer), `${verb} ${field} of ${name}`);
    }),
  );
  const administered = findAdministered(resource).flatMap((field) =>
    ruleSentences([[roleTerm("admin", true)]], `write ${field} of ${name}`),
  );
  return [...ruled, ...administered];
}

/** The last sentence says that there is a rule, so that a removed rule is not read as a removed right. */
function ruleSentences(alternatives: readonly Alternative[], what: string): readonly Sentence[] {
  return [...toSentences(alternatives, what), { subject: NOBODY_ELSE, what, conditions: [] }];
}

/** Returns whom a rule allows. A rule of users may hold only for the records of others. */
function ruleAlternatives(rule: FieldRule, namer: Namer): readonly Alternative[] {
  const exemption = exemptionOf(rule);
  if (exemption === null) return collectAlternatives(permissionOf(rule), "call", namer);
  const ofOwn = exemption.own === null ? [[]] : collectAlternatives(permissionOf(exemption.own), "call", namer);
  return [
    ...collectAlternatives(permissionOf(exemption.rule), "call", namer),
    ...ofOwn.map((alternative) => [ownTerm("id"), ...alternative]),
  ];
}
