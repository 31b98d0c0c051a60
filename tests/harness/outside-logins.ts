import { absent, identityOf, type People, type Proof } from "../../src/door/auth.ts";
import type { Call } from "../../src/door/http.ts";
import {
  accepted,
  defineEndpoint,
  defineFeature,
  problem,
  rejected,
  type Feature,
  type Identity,
  type Scheme,
} from "../../src/door/index.ts";
import type { ConfigFile } from "../../src/service/settings/config-file/config-file.ts";

// Logins as a third party writes them for the ready-made service, with the public exports alone.

/** Three logins of a third party, and the accounts that they use. */
export interface OutsideLogins {
  readonly features: NonNullable<ConfigFile["features"]>;
  /** The accounts of the service that was started last with these features. */
  people(): People;
}

/** Options of the logins of a third party. */
export interface OutsideOptions {
  /**
   * Schemes in addition to `badge` and `robot`, by their names. Each reads `X-<Name>`. With `isBare`, a scheme does not
   * use `identityOf`.
   */
  readonly more?: Readonly<
    Record<string, Pick<Scheme, "proves"> & { readonly claims?: Claims; readonly isBare?: true }>
  >;
  /** True if the badge of `/badge/session` and `/badge/tokens` checks the person. Then it proves level 2 alone. */
  readonly checksPerson?: boolean;
}

/** The members that a scheme adds to its identity. */
export type Claims = (call: Call) => Partial<Pick<Identity, "actor" | "authTime" | "level" | "needs" | "proofs">>;

/**
 * Makes three logins: the scheme `badge`, which proves possession; the scheme `robot` for programs; and the endpoints
 * `/badge/session` and `/badge/tokens`, which start a login.
 */
export function outsideLogins({ more = {}, checksPerson = false }: OutsideOptions = {}): OutsideLogins {
  let people: People | null = null;
  const schemes = {
    badge: { proves: ["hwk"], claims: ({ now }: Call) => ({ authTime: now }) },
    robot: { proves: "program", claims: ({ now }: Call) => ({ authTime: now }) },
    ...more,
  } satisfies OutsideOptions["more"];
  return {
    people: () => people!,
    features: ({ accounts, "session-login": sessions, "token-login": tokens }) =>
      [
        defineFeature({
          name: "outside-logins",
          needs: [accounts, sessions, tokens],
          setUp(host) {
            people = host.use(accounts);
            const { accounts: found, logins } = people;
            const begins = { session: host.use(sessions).begin, tokens: host.use(tokens).begin };
            const endpoints = (["session", "tokens"] as const).map((kind) =>
              defineEndpoint({
                method: "POST",
                path: `/badge/${kind}`,
                access: "open",
                logsIn: true,
                async handle(context) {
                  const account = await found.findByUsername(context.call.header("x-badge-login") ?? "");
                  if (account === null) throw problem("invalid_credentials");
                  const proofs: readonly [Proof] = [{ method: "hwk", at: context.now, verifiesUser: checksPerson }];
                  return kind === "session"
                    ? logins.beginLogin(context, { account, proofs, begin: begins.session, options: {} })
                    : logins.beginLogin(context, { account, proofs, begin: begins.tokens, options: { cookie: false } });
                },
              }),
            );
            return {
              offer: null,
              endpoints,
              schemes: Object.entries<Outside>(schemes).map(([name, outside]) => createScheme(people!, name, outside)),
            };
          },
        }),
      ] satisfies readonly Feature[],
  };
}

type Outside = NonNullable<OutsideOptions["more"]>[string];

/** A scheme that believes the username in its header field. */
function createScheme({ accounts }: People, name: string, { proves, claims = () => ({}), isBare }: Outside): Scheme {
  return {
    name,
    carriers: [{ in: "header", name: `X-${name}` }],
    ...(proves === undefined ? {} : { proves }),
    async authenticate(username, call) {
      if (username === "") return absent;
      const account = await accounts.findByUsername(username);
      if (account?.active !== true) return rejected("inactive");
      if (isBare !== true) return accepted(identityOf(account, name, claims(call)));
      const { id, role } = account;
      return accepted({ id, username, role, scheme: name, scopes: null, expiresAt: null, ...claims(call) });
    },
  };
}
