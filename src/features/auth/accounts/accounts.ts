import { availableParallelism } from "node:os";
import { anything, objectOf, oneOf, optional, text, wholeFrom } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import type { PasswordCost } from "../../../core/crypto/password-hash.ts";
import { usualRoles } from "../../../core/identity.ts";
import { gauge, type MetricFamily } from "../../../core/measurement.ts";
import { defineFeature, type Host } from "../../../feature/feature.ts";
import type { Fields } from "../../../resource/resource.ts";
import { bindingsCollection, storeBindings } from "../bindings.ts";
import { aTokenPrefix } from "../keys/prefix.ts";
import type { AccountsFeature, LoginSource, People } from "../login.ts";
import { DAY_SECONDS, PRUNE_SECONDS, secondsFrom } from "../options.ts";
import { makeRevocations, revocationsCollection } from "../tokens/revocation.ts";
import { ownUserFieldsMistakes, type OwnUserFields } from "../users.ts";
import { accountEndpoints } from "./account.ts";
import { makeEndings } from "./endings.ts";
import { loginListEndpoints } from "./logins.ts";
import { insertUser } from "./new-user.ts";
import type { AccountsParts, UsersParts } from "./parts.ts";
import { aRangeURL, breachedPasswords } from "./passwords/breached-passwords.ts";
import { hashesAtOnce } from "./passwords/hash-threads.ts";
import { oneTimePasswordEndpoint } from "./passwords/one-time-password.ts";
import { makePasswords } from "./passwords/passwords.ts";
import { outsideEnd, requireFreshLogin } from "./passwords/proof.ts";
import { noteLogin, requireAccount, requireLogin, requireUser } from "./people.ts";
import { requireDeclaredRoles } from "./roles.ts";
import { accountsCollection, storeAccounts } from "./stored-accounts.ts";
import { mountUsers } from "./users.ts";

/** Options of `accounts()`: who may sign up, the fields of users, and what passwords cost. */
export interface AccountsOptions<F extends Fields = Fields> extends OwnUserFields<F> {
  /** `open`: everyone may make a user; `closed`, administrators only, where it is left out. */
  readonly registration?: "closed" | "open";
  /** What the service calls itself in what it signs, and no password may be; the service's name where it is left out. */
  readonly issuer?: string;
  /** What API tokens and keys begin with, before `_`: up to 16 lower-case letters and digits; `key` where it is left out. */
  readonly tokenPrefix?: string;
  /** What a password's hash costs; as OWASP asks for it where it is left out. */
  readonly passwordCost?: PasswordCost;
  /** Where new passwords are looked up among those of breaches, by the first five characters of a digest; nowhere where it is left out. */
  readonly breachedPasswordsURL?: string;
  /** How long API tokens and keys live that are made through a login that others vouch for; 30 days where it is left out. 0: none are made. */
  readonly outsideCredentialsSeconds?: number;
}

const costMembers: ChecksOf<PasswordCost> = { memoryKiB: wholeFrom(1), passes: wholeFrom(1), lanes: wholeFrom(1) };
const checks: ChecksOf<AccountsOptions> = {
  registration: optional(oneOf("closed", "open")),
  // What is wrong with these is told with the users' resource.
  fields: anything,
  filters: anything,
  sorts: anything,
  administered: anything,
  identity: anything,
  roles: anything,
  issuer: optional(text),
  tokenPrefix: optional(aTokenPrefix),
  passwordCost: optional(objectOf(costMembers, "it has to be { memoryKiB, passes, lanes }")),
  breachedPasswordsURL: optional(aRangeURL),
  outsideCredentialsSeconds: secondsFrom(0),
};

/**
 * Users, and the accounts with which they log in: `/users`, `/users/{id}/account`, `/users/{id}/sessions`, their passwords, what was
 * revoked, and who from outside is who here. Every way of logging in needs it.
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
export function accounts<const F extends Fields = Fields>(options: AccountsOptions<F> = {}): AccountsFeature {
  return defineFeature({ name: "accounts", setUp: (host) => setUp(host, options) });
}

function setUp(host: Host, options: AccountsOptions): ReturnType<AccountsFeature["setUp"]> {
  requireOptions(options, checks, { more: ownUserFieldsMistakes(ownUserFields(options)) });
  const { store, throttle, observe, tracer } = host;
  const { issuer = host.name, tokenPrefix = "key", breachedPasswordsURL: url, passwordCost: cost } = options;
  const endings = makeEndings();
  const sources: LoginSource[] = [];
  const told = { revocationSeconds: 0, outside: false };
  const { identity: identityFields = [], roles = usualRoles } = options;
  const found = storeAccounts(store, { names: identityFields, collection: () => users.collection });
  const usersParts: UsersParts = {
    store,
    observe,
    throttle,
    accounts: found,
    bindings: storeBindings({ store, accounts: found, observe }),
    passwords: makePasswords({
      store,
      accounts: found,
      throttle,
      cores: hashesAtOnce(availableParallelism(), process.env["UV_THREADPOOL_SIZE"]),
      tracer,
      ...(cost === undefined ? {} : { cost }),
    }),
    isBreached: url === undefined ? null : breachedPasswords({ url, observe }),
    revocations: makeRevocations({
      store,
      accessSeconds: () => told.revocationSeconds,
      ...endings.ends,
    }),
    registration: options.registration ?? "closed",
    serviceNames: [host.name, issuer, ...host.ownOrigins.map((origin) => new URL(origin).hostname)],
    outsideCredentialsSeconds: options.outsideCredentialsSeconds ?? 30 * DAY_SECONDS,
    sources,
    roles,
    takesOutsideLogins: () => told.outside,
  };
  const parts: AccountsParts = { ...usersParts, users: mountUsers(usersParts, ownUserFields(options)) };
  const { bindings, passwords, revocations, users } = parts;
  const offer: People = {
    accounts: found,
    bindings,
    passwords,
    throttle,
    revocations,
    users,
    roles,
    identityFields,
    issuer,
    tokenPrefix,
    requireUser: (id) => requireUser(parts, id),
    requireAccount: (context) => requireAccount(parts, context),
    requireLogin: (context, username, password) =>
      requireLogin(parts, context, { username, password }, host.service().schemes),
    requireFreshLogin: (context, proof) => requireFreshLogin(parts, context, proof),
    noteLogin: (context, account) => noteLogin(parts, context, account),
    outsideEnd: (context) => outsideEnd(parts, context),
    insertUser: (user, at) => insertUser(users, user, at),
    endsWith: endings.add,
    listLogins: (source) => void sources.push(source),
    rememberRevocations(seconds) {
      told.revocationSeconds = Math.max(told.revocationSeconds, seconds);
    },
    takeOutsideLogins() {
      told.outside = true;
    },
  };
  return {
    offer,
    mounts: [users],
    endpoints: [...accountEndpoints(parts), ...loginListEndpoints(parts), oneTimePasswordEndpoint(parts)],
    identity: identityFields,
    roles,
    collections: [accountsCollection, bindingsCollection, revocationsCollection],
    mistakes: endings.mistakes,
    upkeep: [{ everySeconds: PRUNE_SECONDS, due: (now) => revocations.prune(now) }],
    measure: () => measure(parts),
    start: () => requireDeclaredRoles(store, roles).then(() => revocations.open()),
    stop: () => revocations.close(),
  };
}

function ownUserFields(options: AccountsOptions | null): OwnUserFields {
  // What is no object is told with the options.
  const { fields, filters, sorts, administered, identity, roles }: Partial<AccountsOptions> = options ?? {};
  return Object.fromEntries(
    Object.entries({ fields, filters, sorts, administered, identity, roles }).filter(
      ([, given]) => given !== undefined,
    ),
  );
}

function measure({ passwords, revocations }: AccountsParts): readonly MetricFamily[] {
  const age = revocations.ageMs();
  return [
    gauge("latchkey_password_hashes", "Password hashes that are computed, and that wait for their turn.", {
      ...passwords.load(),
    }),
    {
      ...gauge(
        "latchkey_revocation_feed_age_seconds",
        "Age of the view of what was revoked; beyond 5 seconds access tokens are refused.",
        age === null ? {} : { "": age / 1000 },
      ),
      together: "max",
    },
  ];
}
