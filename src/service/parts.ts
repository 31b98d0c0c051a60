import { availableParallelism } from "node:os";
import {
  accessTokens,
  apiTokens,
  breachedPasswords,
  apiTokensCollection,
  derivedSigningKeys,
  familiesCollection,
  makePasswords,
  makeRevocations,
  namedKeys,
  namedKeysCollection,
  outsideIssuers,
  sessions,
  sessionsCollection,
  storeAccounts,
  storeBindings,
  tokenPairs,
  watchSigningKeys,
  type Accounts,
  type APITokens,
  type AccessTokens,
  type AccountGuessing,
  type Bindings,
  type IsBreached,
  type NamedKeys,
  type Observer,
  type OutsideIssuers,
  type Passwords,
  type Revocations,
  type Sessions,
  type SigningKeys,
  type Store,
  type TokenPairs,
} from "../index.ts";
import type { Settings } from "./settings.ts";
import type { UsersMount } from "./users-resource.ts";

/** What logging in is made of; endpoints and schemes share it. */
export interface LoginParts {
  readonly settings: Settings;
  readonly store: Store;
  readonly observe: Observer;
  readonly accounts: Accounts;
  readonly bindings: Bindings;
  readonly guessing: AccountGuessing;
  readonly passwords: Passwords;
  /** Null: nobody is asked. */
  readonly isBreached: IsBreached | null;
  readonly revocations: Revocations;
  readonly keys: SigningKeys;
  readonly access: AccessTokens;
  /** Null: no token from elsewhere is taken. */
  readonly issuers: OutsideIssuers | null;
  readonly pairs: TokenPairs;
  readonly sessions: Sessions;
  readonly apiTokens: APITokens;
  readonly namedKeys: NamedKeys;
}

/** The same with users as they are served. */
export interface Parts extends LoginParts {
  readonly users: UsersMount;
}

/** Makes them over a store. */
export function makeLoginParts(
  settings: Settings,
  store: Store,
  guessing: AccountGuessing,
  observe: Observer,
): LoginParts {
  const { secret, issuer, breachedPasswordsURL: breachedURL } = settings;
  const accounts = storeAccounts(store);
  const bindings = storeBindings({ store, accounts, observe });
  const passwords = makePasswords({
    accounts,
    store,
    guessing,
    cores: availableParallelism(),
    cost: settings.passwordCost,
  });
  const revocations = makeRevocations({
    store,
    accessSeconds: settings.accessSeconds,
    endWithGeneration: [sessionsCollection, familiesCollection],
    endWithAccount: [apiTokensCollection, namedKeysCollection],
  });
  const keys =
    settings.signingKeysFile === null
      ? derivedSigningKeys(secret)
      : watchSigningKeys(settings.signingKeysFile, { observe });
  const access = accessTokens({ keys, issuer, lifetimeSeconds: settings.accessSeconds, revocations, accounts });
  const pairs = tokenPairs({
    store,
    accounts,
    access,
    revocations,
    secret,
    issuer,
    refreshSeconds: settings.refreshSeconds,
    familySeconds: settings.refreshFamilySeconds,
    graceSeconds: settings.refreshGraceSeconds,
    rotates: settings.rotatesRefreshTokens,
    observe,
  });
  return {
    settings,
    store,
    observe,
    accounts,
    bindings,
    guessing,
    passwords,
    isBreached: breachedURL === null ? null : breachedPasswords({ url: breachedURL, observe }),
    revocations,
    keys,
    access,
    issuers:
      settings.issuers.length === 0
        ? null
        : outsideIssuers({ issuers: settings.issuers, ownIssuer: issuer, bindings, observe }),
    pairs,
    sessions: sessions({
      store,
      idleSeconds: settings.sessionIdleSeconds,
      lifetimeSeconds: settings.sessionSeconds,
      observe,
    }),
    apiTokens: apiTokens({ store, secret, observe }),
    namedKeys: namedKeys({ store, secret, observe }),
  };
}
