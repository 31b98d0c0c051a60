import type { Scheme } from "../../../access/scheme/scheme.ts";
import type { Assembled, Host } from "../../../feature/feature.ts";
import type { Endpoint } from "../../../http/declarations/endpoint.ts";
import type { Change, Collection } from "../../../store/store.ts";
import type { SecondFactorRule } from "../gate/contract.ts";
import { endWeakLogins } from "../gate/ending-weak.ts";
import { factorsCollection, makeFactors } from "../gate/factors.ts";
import { makeGate } from "../gate/gate.ts";
import type { GateParts } from "../gate/parts.ts";
import { makePendingLogins, pendingLoginsCollection } from "../gate/pending.ts";
import { makeRecoveryCodes, type RecoveryCodes } from "../gate/recovery.ts";
import { factorTriesCollection, makeFactorTries } from "../gate/tries.ts";
import { bindingsCollection } from "../records/bindings.ts";
import { askFor } from "./asking.ts";
import { gateEndpoints } from "./endpoints.ts";
import { factorEndpoints } from "./factor-endpoints.ts";

/** The tables of the gate. */
export const gateCollections: readonly Collection[] = [
  pendingLoginsCollection,
  factorsCollection,
  factorTriesCollection,
];

/** The gate of one service with its endpoints and its upkeep. */
export interface AssembledGate {
  readonly parts: GateParts;
  /** Returns the endpoints. Called after every feature is set up. */
  endpoints(): readonly Endpoint[];
  /**
   * Returns the reasons why the service cannot enforce its rule about second factors. Called after every feature is set
   * up.
   */
  mistakes(all: Assembled, takesOutsideLogins: boolean): readonly string[];
  upkeep(now: number): readonly Change[];
  /** Ends the logins that the rule refuses. Called at the start. */
  start(now: number): Promise<void>;
}

/** The parts of the gate that `accounts()` makes. */
type GivenParts = Pick<
  GateParts,
  "accounts" | "passwords" | "revocations" | "rule" | "cookie" | "notify" | "verifiesAddresses" | "challenge"
>;

/** Assembles the gate, its endpoints and its upkeep. */
export function assembleGate(host: Host, given: GivenParts): AssembledGate {
  const { store, throttle } = host;
  let recovery: RecoveryCodes | null = null;
  const own = {
    ...given,
    store,
    throttle,
    pending: makePendingLogins(store, throttle),
    factors: makeFactors(store),
    tries: makeFactorTries(store),
    outsideLogins: [{ collection: bindingsCollection }],
    outsideConfirmations: [],
    recovery: () => (gate.kinds.size === 0 ? null : (recovery ??= makeRecoveryCodes(host.secret))),
    factorPage: () => host.service().pages?.factor ?? null,
  };
  const gate = makeGate(own, (context, waiting) => askFor(parts, context, waiting));
  const parts: GateParts = { ...own, gate };
  const { pending, factors, tries, rule } = parts;
  return {
    parts,
    endpoints: () => [...gateEndpoints(parts), ...factorEndpoints(parts)],
    mistakes: ({ schemes }, takesOutsideLogins) =>
      gateMistakes(schemes, { rule, hasKinds: gate.kinds.size > 0, takesOutsideLogins }),
    start: (now) => endWeakLogins(parts, now),
    upkeep: (now) => [...pending.due(now), ...factors.due(now), ...tries.due(now)],
  };
}

/** The facts about a service that the gate knows after every feature is set up. */
interface GateSetup {
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
