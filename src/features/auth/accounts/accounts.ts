import { availableParallelism } from "node:os";
import { aCookieName } from "../../../access/scheme/checking.ts";
import {
  aBoolean,
  anything,
  buildObjectCheck,
  buildChoiceCheck,
  optional,
  text,
  wholeFrom,
} from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import type { PasswordCost } from "../../../core/crypto/password-hash.ts";
import { usualRoles } from "../../../core/identity.ts";
import { gauge, type MetricFamily } from "../../../core/measurement.ts";
import { defineFeature, type Host } from "../../../feature/feature.ts";
import type { Fields } from "../../../resource/resource.ts";
import { assembleGate, gateCollections, type AssembledGate } from "../factors/assembling.ts";
import type { Notify, SecondFactorRule } from "../gate/contract.ts";
import { pendingLoginsCollection } from "../gate/pending.ts";
import { neededLevel } from "../gate/policy.ts";
import { aRangeURL, breachedPasswords } from "../passwords/breached-passwords.ts";
import { hashesAtOnce } from "../passwords/hash-threads.ts";
import { makePasswords, type Passwords } from "../passwords/passwords.ts";
import type { LoginSource } from "../people/contracts/endings.ts";
import { DAY_SECONDS, PRUNE_SECONDS, secondsFrom } from "../people/options.ts";
import type { AccountsParts } from "../people/parts.ts";
import type { AccountsFeature } from "../people/people.ts";
import { accountsCollection, serviceAccounts, type Accounts } from "../records/accounts.ts";
import { bindingsCollection, storeBindings } from "../records/bindings.ts";
import { namesCollection } from "../records/names.ts";
import { makeRevocations } from "../records/revocation.ts";
import { revocationsCollection } from "../records/revoked.ts";
import { aTokenPrefix } from "../records/token-prefix.ts";
import { ownUserFieldsMistakes, type OwnUserFields } from "../records/users.ts";
import { creatingParts, makeVerifierPlace, type Registration } from "../records/verifying.ts";
import { accountEndpoints } from "./account.ts";
import { makeEndings } from "./endings.ts";
import { chooseChallenge } from "./first-proof.ts";
import { loginListEndpoints } from "./logins.ts";
import { makeNamesUpkeep } from "./names-upkeep.ts";
import { buildOffer, type Collected } from "./offer.ts";
import { makeMarking } from "./passwords/marking.ts";
import { oneTimePasswordEndpoint } from "./passwords/one-time-password.ts";
import { requireDeclaredRoles } from "./roles.ts";
import { mountUsers } from "./users.ts";

/** Options of `accounts()`: who may sign up, the fields of users, and what passwords cost. */
export interface AccountsOptions<F extends Fields = Fields> extends OwnUserFields<F> {
  /**
   * `open`: every caller may create a user. `closed`: only administrators may. `verified`: every caller may, and proves
   * an address first, which needs `verifiedEmail()`. Default: `closed`.
   */
  readonly registration?: Registration;
  /**
   * Lets administrators invite users by mail (`POST /users` with `invite`), which needs `verifiedEmail()`. Default:
   * false.
   */
  readonly invitations?: boolean;
  /**
   * The name of the service in the tokens that it signs. No password may be equal to it. Default: the service's name.
   */
  readonly issuer?: string;
  /** The prefix of API tokens and keys, before `_`: up to 16 lower-case letters and digits. Default: `key`. */
  readonly tokenPrefix?: string;
  /** The cost of a password hash. Default: the OWASP recommendation. */
  readonly passwordCost?: PasswordCost;
  /**
   * The URL of a service that knows passwords from breaches. It receives only the first five digits of the digest of a
   * new password. Default: no check.
   */
  readonly breachedPasswordsURL?: string;
  /**
   * The accounts that must have a second factor: `optional` (none), `admins` or `everyone`. Default: `optional`. After
   * the next start, the service refuses every existing login of such an account that was made without a second factor
   * (level 1).
   */
  readonly secondFactor?: SecondFactorRule;
  /**
   * The name of the cookie of a login that waits for a second factor. Default: `login`. Over TLS, it begins with
   * `__Host-`.
   */
  readonly loginCookie?: string;
  /**
   * The lifetime of API tokens and keys that are made through an external login. Default: 30 days. 0: an external login
   * cannot make any.
   */
  readonly outsideCredentialsSeconds?: number;
}

const costMembers: ChecksOf<PasswordCost> = { memoryKiB: wholeFrom(1), passes: wholeFrom(1), lanes: wholeFrom(1) };
const checks: ChecksOf<AccountsOptions> = {
  registration: optional(buildChoiceCheck("closed", "open", "verified")),
  invitations: optional(aBoolean),
  // The resource of the users reports the mistakes in its fields.
  fields: anything,
  filters: anything,
  sorts: anything,
  administered: anything,
  identity: anything,
  roles: anything,
  permissions: anything,
  rules: anything,
  issuer: optional(text),
  tokenPrefix: optional(aTokenPrefix),
  passwordCost: optional(buildObjectCheck(costMembers, "it has to be { memoryKiB, passes, lanes }")),
  breachedPasswordsURL: optional(aRangeURL),
  outsideCredentialsSeconds: secondsFrom(0),
  secondFactor: optional(buildChoiceCheck("optional", "admins", "everyone")),
  loginCookie: optional(aCookieName),
};

/**
 * Users and their accounts: `/users`, `/users/{id}/account`, `/users/{id}/sessions`, their passwords, revocations, and
 * the links to external users. Every login method needs it.
 *
 * @example
 * ```ts
 * import { accounts, createService, Secret, sessionLogin } from "latchkey";
 * import { sqliteStore } from "latchkey/stores";
 *
 * const people = accounts({ registration: "open" });
 * export const service = await createService({
 *   store: sqliteStore({ path: "users.db" }),
 *   secret: new Secret(process.env["SECRET"]!),
 *   features: [people, sessionLogin(people)],
 * });
 * ```
 */
export function accounts<const F extends Fields = Fields>(options?: AccountsOptions<F>): AccountsFeature;
export function accounts(options: AccountsOptions = {}): AccountsFeature {
  return defineFeature({ name: "accounts", setUp: (host) => setUp(host, options) });
}

function setUp(host: Host, options: AccountsOptions): ReturnType<AccountsFeature["setUp"]> {
  requireOptions(options, checks, { more: ownUserFieldsMistakes(ownUserFields(options)) });
  const { store, observe } = host;
  const { issuer = host.name, tokenPrefix = "key", breachedPasswordsURL: url } = options;
  const endings = makeEndings();
  const sources: LoginSource[] = [];
  const verifier = makeVerifierPlace();
  const needs = { revocationSeconds: 0, outside: false };
  const notifiers: Notify[] = [];
  const notify: Notify = (...event) => notifiers.flatMap((each) => each(...event));
  const rule = options.secondFactor ?? "optional";
  const { identity: identityFields = [], roles = usualRoles } = options;
  const found = serviceAccounts(store, { names: identityFields, collection: () => users.collection });
  const bindings = storeBindings({ store, accounts: found, observe });
  const passwords = createPasswords(host, found, options, rule);
  const accessSeconds = (): number => needs.revocationSeconds;
  const revocations = makeRevocations({ store, accessSeconds, ...endings.ends });
  endings.add("password", pendingLoginsCollection);
  const assembled = assembleGate(host, {
    accounts: found,
    passwords,
    revocations,
    rule,
    cookie: options.loginCookie ?? "login",
    notify,
    verifiesAddresses: () => verifier.current !== null,
    challenge: (call) => chooseChallenge(call, host.service().schemes),
  });
  const parts: AccountsParts = {
    ...assembled.parts,
    ...creatingParts(host, options, issuer, verifier),
    observe,
    accounts: found,
    bindings,
    isBreached: url === undefined ? null : breachedPasswords({ url, observe }),
    roles,
    outsideCredentialsSeconds: options.outsideCredentialsSeconds ?? 30 * DAY_SECONDS,
    sources,
    takesOutsideLogins: () => needs.outside,
    get users() {
      return users;
    },
  };
  const users = mountUsers(parts, ownUserFields(options));
  const declared = { roles, identityFields, issuer, tokenPrefix };
  const collected: Collected = { sources, needs, notifiers, endings, declared };
  return {
    offer: buildOffer(host, parts, collected),
    mounts: [users],
    endpoints: [
      ...accountEndpoints(parts),
      ...loginListEndpoints(parts),
      oneTimePasswordEndpoint(parts),
      ...assembled.endpoints(),
    ],
    standing: parts.gate.checkAssurance,
    identity: identityFields,
    roles,
    collections: [accountsCollection, namesCollection, bindingsCollection, revocationsCollection, ...gateCollections],
    mistakes: (all) => [
      ...endings.mistakes(all),
      ...assembled.mistakes(all, needs.outside),
      ...verifier.mistakes(options),
    ],
    upkeep: [
      { everySeconds: PRUNE_SECONDS, due: (now) => revocations.prune(now) },
      { everySeconds: PRUNE_SECONDS, due: assembled.upkeep },
    ],
    tags: { factors: "Second factors and passkeys." },
    measure: () => measure(parts),
    ...startAndStop(host, parts, assembled),
  };
}

function startAndStop(
  host: Host,
  { roles, revocations }: Pick<AccountsParts, "roles" | "revocations">,
  gate: Pick<AssembledGate, "start">,
) {
  const marking = makeMarking(host);
  const upkeep = makeNamesUpkeep(host);
  return {
    async start() {
      await requireDeclaredRoles(host.store, roles);
      await revocations.open();
      await gate.start(host.now());
      marking.open();
      upkeep.open();
    },
    async stop() {
      revocations.close();
      await Promise.all([marking.close(), upkeep.close()]);
    },
  };
}

function createPasswords(
  { store, throttle, tracer }: Host,
  accounts: Accounts,
  { passwordCost: cost }: AccountsOptions,
  rule: SecondFactorRule,
): Passwords {
  return makePasswords({
    store,
    accounts,
    throttle,
    cores: hashesAtOnce(availableParallelism(), process.env["UV_THREADPOOL_SIZE"]),
    tracer,
    needsMore: (account) => neededLevel(account, rule) === 2,
    ...(cost === undefined ? {} : { cost }),
  });
}

function ownUserFields(options: AccountsOptions | null): OwnUserFields {
  // The check of the options reports a value that is not an object.
  const { fields, filters, sorts, administered, identity, roles, permissions, rules }: Partial<AccountsOptions> =
    options ?? {};
  return Object.fromEntries(
    Object.entries({ fields, filters, sorts, administered, identity, roles, permissions, rules }).filter(
      ([, value]) => value !== undefined,
    ),
  );
}

/** Returns the metrics of accounts. */
export function measure({ passwords, revocations }: AccountsParts): readonly MetricFamily[] {
  const age = revocations.ageMs();
  return [
    gauge("latchkey_password_hashes", "Password hashes that are being computed, and those that wait.", {
      ...passwords.load(),
    }),
    {
      ...gauge(
        "latchkey_revocation_feed_age_seconds",
        "Age of the list of revocations; after 5 seconds access tokens are refused.",
        age === null ? {} : { "": age / 1000 },
      ),
      together: "max",
    },
  ];
}
