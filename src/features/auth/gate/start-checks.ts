import type { Scheme } from "../../../access/scheme/scheme.ts";
import type { SecondFactorRule } from "./contract.ts";

/** The facts about a service that the gate knows after every feature is set up. */
export interface GateSetup {
  readonly rule: SecondFactorRule;
  /** True if a kind of second factor is registered. */
  readonly hasKinds: boolean;
  /** True if another party decides who logs in. It may have checked a second factor. */
  readonly takesOutsideLogins: boolean;
}

/** Returns the reasons why the rule about second factors cannot be enforced in this service, each with its fix. */
export function gateMistakes(
  schemes: readonly Scheme[],
  { rule, hasKinds, takesOutsideLogins }: GateSetup,
): readonly string[] {
  if (rule === "optional") return [];
  const silent = [...new Set(schemes.filter(({ proves }) => proves === undefined).map(({ name }) => name))];
  const mistakes = silent.map(
    (name) =>
      `secondFactor is ${rule}, and the scheme ${name} does not declare what it proves; give it proves: a list like ["hwk"], "each" if its identities have proofs, or "program" for keys of programs`,
  );
  if (hasKinds || takesOutsideLogins) return mistakes;
  return [
    ...mistakes,
    `secondFactor is ${rule}, and no feature has a kind of second factor, so these users could never log in; add totp(people) or passkeys(people)`,
  ];
}
