import {
  accountsCollection,
  apiTokensCollection,
  bindingsCollection,
  deadFamiliesCollection,
  defineFeature,
  familiesCollection,
  gauge,
  namedKeysCollection,
  refreshUsesCollection,
  revocationsCollection,
  sessionsCollection,
  type AccountGuessing,
  type Endpoint,
  type Family,
  type Feature,
} from "../index.ts";
import { accountEndpoints } from "./accounts.ts";
import { apiTokenEndpoints } from "./api-token.ts";
import { keyEndpoints } from "./keys.ts";
import { loginListEndpoints } from "./logins.ts";
import { makeLoginParts, type LoginParts, type Parts } from "./parts.ts";
import { chosenSchemes } from "./schemes.ts";
import { sessionEndpoints } from "./sessions.ts";
import type { Settings } from "./settings.ts";
import { signingKeysEndpoint } from "./signing-keys.ts";
import { tokenEndpoints } from "./tokens.ts";
import { mountUsers } from "./users.ts";

/** Users, and every way of logging in that the settings turn on. */
export function loggingIn(
  settings: Settings,
  guessing: (host: { readonly store: LoginParts["store"] }) => AccountGuessing,
): Feature<Parts> {
  return defineFeature({
    name: "logging-in",
    setUp(host) {
      const loginParts = makeLoginParts(settings, host.store, guessing(host), host.observe);
      const parts: Parts = { ...loginParts, users: mountUsers(loginParts) };
      const { pairs, sessions, revocations } = parts;
      return {
        offer: parts,
        schemes: chosenSchemes(parts),
        mounts: [parts.users],
        endpoints: endpointsOf(parts),
        collections: [
          accountsCollection,
          bindingsCollection,
          sessionsCollection,
          apiTokensCollection,
          namedKeysCollection,
          refreshUsesCollection,
          deadFamiliesCollection,
          familiesCollection,
          revocationsCollection,
        ],
        tags: {
          tokens: "Logging in with tokens, and out.",
          session: "Logging in with a session cookie, and out.",
        },
        measure: () => measure(parts),
        upkeep: [
          { everySeconds: 1, due: (now) => pairs.sweep(now) },
          { everySeconds: 60, due: (now) => [...pairs.prune(now), ...sessions.prune(now), ...revocations.prune(now)] },
        ],
        start: () => revocations.open(),
        stop: () => revocations.close(),
      };
    },
  });
}

function endpointsOf(parts: Parts): readonly Endpoint[] {
  // A login whose credential no endpoint would take is not there.
  const logins = { token: apiTokenEndpoints, session: sessionEndpoints, bearer: tokenEndpoints };
  const on = (["session", "token", "bearer"] as const).filter((scheme) => parts.settings.schemes.includes(scheme));
  return [
    ...on.flatMap((scheme) => logins[scheme](parts)),
    ...accountEndpoints(parts),
    ...keyEndpoints(parts),
    ...loginListEndpoints(parts),
    signingKeysEndpoint(parts),
  ];
}

function measure({ passwords, revocations }: Parts): readonly Family[] {
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
