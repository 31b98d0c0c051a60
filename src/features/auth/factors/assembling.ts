import type { Call } from "../../../core/call/call.ts";
import type { Assembled, Host } from "../../../feature/feature.ts";
import type { Endpoint } from "../../../http/declarations/endpoint.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { Change, Collection } from "../../../store/store.ts";
import type { Notify, SecondFactorRule } from "../gate/contract.ts";
import { endWeakLogins, endWeakLoginsOf } from "../gate/ending-weak.ts";
import { factorsCollection, makeFactors } from "../gate/factors.ts";
import { makeGate, type Gate } from "../gate/gate.ts";
import { makePendingLogins, pendingLoginsCollection } from "../gate/pending.ts";
import { makeRecoveryCodes } from "../gate/recovery.ts";
import { gateMistakes } from "../gate/start-checks.ts";
import { factorTriesCollection, makeFactorTries } from "../gate/tries.ts";
import type { Passwords } from "../passwords/passwords.ts";
import type { Account, Accounts } from "../records/accounts.ts";
import { bindingsCollection, type Bindings } from "../records/bindings.ts";
import type { Revocations } from "../records/revocation.ts";
import { askFor } from "./asking.ts";
import { gateEndpoints } from "./endpoints.ts";
import { factorEndpoints, type FactorEndpointsParts } from "./factor-endpoints.ts";

/** The tables of the gate, the code that completes every login. */
export const gateCollections: readonly Collection[] = [
  pendingLoginsCollection,
  factorsCollection,
  factorTriesCollection,
];

/** Options of the gate. The feature `accounts` passes them. */
export interface GateOptions {
  readonly host: Host;
  readonly accounts: Accounts;
  readonly bindings: Bindings;
  readonly passwords: Passwords;
  readonly revocations: Revocations;
  readonly notify: Notify;
  readonly rule: SecondFactorRule;
  /** Name of the cookie of a login that waits for a second factor. */
  readonly cookie: string;
  requireAccount(context: Context): Promise<Account>;
  requireFreshLogin(context: Context, password: string | undefined): Promise<void>;
  challenge(call: Call): string;
  /** True if users prove their own address by a mail. Called after every feature is set up. */
  provesAddresses(): boolean;
  /** Returns true if another party, such as an issuer, can log users in. Called after every feature is set up. */
  takesOutsideLogins(): boolean;
}

/** The gate of one service with its endpoints and its upkeep. */
export interface AssembledGate {
  readonly gate: Gate;
  readonly parts: FactorEndpointsParts;
  /** Returns the endpoints. Called after every feature is set up. Returns none if no kind of factor is registered. */
  endpoints(): readonly Endpoint[];
  /** Returns the reasons why the service cannot enforce its rule about second factors. Called after every feature is set up. */
  mistakes(all: Assembled): readonly string[];
  upkeep(now: number): readonly Change[];
  /** Ends the logins that the rule refuses. Called at the start. */
  start(now: number): Promise<void>;
}

/** Assembles the gate, its endpoints and its upkeep. */
export function assembleGate(options: GateOptions): AssembledGate {
  const { host, accounts, passwords, revocations, notify, rule, cookie } = options;
  const { store, throttle } = host;
  const pending = makePendingLogins(store, throttle);
  const factors = makeFactors(store);
  const tries = makeFactorTries(store);
  const gate = makeGate({
    store,
    accounts,
    throttle,
    pending,
    rule,
    use: factors.use,
    endWeak: (userId, now) => endWeakLoginsOf({ store, revocations, rule }, userId, now),
    challenge: options.challenge,
    askFor: (context, waiting) => askFor(parts, context, waiting),
  });
  const parts: FactorEndpointsParts = {
    store,
    accounts,
    passwords,
    throttle,
    revocations,
    gate,
    pending,
    factors,
    tries,
    get recovery() {
      return gate.kinds.size === 0 ? null : (recovery ??= makeRecoveryCodes(host.secret));
    },
    cookie,
    notify,
    outsideLogins: [{ collection: bindingsCollection }],
    factorPage: () => host.service().pages?.factor ?? null,
    outsideWays: [],
    challenge: options.challenge,
    provesAddresses: options.provesAddresses,
    requireAccount: options.requireAccount,
    requireFreshLogin: options.requireFreshLogin,
  };
  let recovery: ReturnType<typeof makeRecoveryCodes> | null = null;
  return {
    gate,
    parts,
    endpoints: () => [...gateEndpoints(parts), ...factorEndpoints(parts)],
    mistakes: ({ schemes }) =>
      gateMistakes(schemes, {
        rule,
        hasKinds: gate.kinds.size > 0,
        takesOutsideLogins: options.takesOutsideLogins(),
      }),
    start: (now) => endWeakLogins({ store, revocations, rule }, now),
    upkeep: (now) => [...pending.due(now), ...factors.due(now), ...tries.due(now)],
  };
}
