import type { AccountsFeature, DeclaredNames, People } from "../../door/auth.ts";
import type { ServiceFacts } from "../../door/features.ts";
import { defineResponse, nullable, formatClearedCookie, type Problem } from "../../door/http.ts";
import {
  anyone,
  defineEndpoint,
  defineFeature,
  enumeration,
  integer,
  text,
  type Context,
  type Feature,
} from "../../door/index.ts";
import { ifNoneMatch, notModified, userSchema } from "./descriptions.ts";

/** The endpoints that `GET /` links to, if they are served. */
const logins = { session: "/api/session/", token: "/api/token/", api_token: "/api-token-auth/" };
const others = {
  protected: "/protected/",
  docs: "/docs",
  openapi: "/openapi.json",
  problems: "/problems",
  keys: "/.well-known/jwks.json",
};

/** The descriptions of the API, by their relation (RFC 8631). */
const descriptions = { "service-desc": "/openapi.json", "service-doc": "/docs" };

/**
 * `GET /`: the links of the API, and the caller. It answers every caller: it shows why a credential was rejected, and
 * clears the rejected cookies among `cookies`.
 */
export function wayIn(people: AccountsFeature, title: string, cookies: readonly string[]): Feature<null> {
  return defineFeature({
    name: "way-in",
    needs: [people],
    setUp(host) {
      const parts = { people: host.use(people), cookies };
      const root = describeRoot(parts.people.accounts.declared);
      let found: EntryLinks | null = null;
      return {
        offer: null,
        endpoints: [
          defineEndpoint({
            method: "GET",
            path: "/",
            access: anyone,
            refusals: "reported",
            documentation,
            responses: { 200: root },
            async handle(context) {
              const entryLinks = (found ??= collectLinks(host.service()));
              const below = (links: Links): Links =>
                Object.fromEntries(Object.entries(links).map(([name, path]) => [name, context.at(path)]));
              const links = {
                resources: below(entryLinks.resources),
                logins: below(entryLinks.logins),
                ...below(entryLinks.documents),
              };
              const value = { service: title, ...(await whoCalls(parts, context)), links };
              return root.reply(200, value, welcome(parts, context, entryLinks));
            },
          }),
        ],
      };
    },
  });
}

type EntryLinks = Readonly<Record<"resources" | "logins" | "documents" | "descriptions", Links>>;

function collectLinks({ mounts, endpoints }: ServiceFacts): EntryLinks {
  const served = new Set(endpoints.map(({ path }) => path));
  const resources = Object.fromEntries(
    mounts
      .filter(
        ({ resource, permissions, older }) =>
          older === null && resource.within === null && permissions.list !== undefined,
      )
      .map(({ resource: { plural, path } }) => [plural, path]),
  );
  return {
    resources,
    logins: amongServed(logins, served),
    documents: amongServed(others, served),
    descriptions: amongServed(descriptions, served),
  };
}

type Links = Readonly<Record<string, string>>;

function amongServed(links: Links, served: ReadonlySet<string>): Links {
  return Object.fromEntries(Object.entries(links).filter(([, path]) => served.has(path)));
}

const addresses = { type: "object", additionalProperties: { type: "string", format: "uri-reference" } } as const;
const refused = defineResponse({
  name: "problem",
  fields: { status: integer(), code: text(), detail: text() },
});

function describeRoot({ roles }: DeclaredNames) {
  const caller = defineResponse({
    name: "caller",
    fields: { user: userSchema, username: text(), role: enumeration(roles), scheme: text() },
  });
  return defineResponse({
    name: "root",
    fields: {
      service: text(),
      caller: nullable(caller.schema),
      problem: {
        ...nullable(refused.schema),
        description: "The reason if the caller's credentials were rejected.",
      },
      links: {
        type: "object",
        properties: { resources: addresses, logins: addresses },
        additionalProperties: { type: "string", format: "uri-reference" },
      },
    },
  });
}

const documentation = {
  summary: "The entry points, and the caller",
  tag: "system",
  parameters: [ifNoneMatch],
  responses: {
    200: {
      description: "The entry points of the service, and the caller.",
      headers: {
        ETag: "The tag of the current state.",
        Link: "The description of the API (`service-desc`) and its page (`service-doc`), RFC 8631.",
        "Set-Cookie": "Clears a cookie that was refused.",
      },
    },
    304: notModified,
  },
};

interface WayInParts {
  readonly people: People;
  /** The names of the cookies to clear. */
  readonly cookies: readonly string[];
}

interface Caller {
  readonly caller: object | null;
  readonly problem: object | null;
}

async function whoCalls(parts: WayInParts, context: Context): Promise<Caller> {
  const { identity, refusal } = context;
  const problem = refusal === null ? null : summarizeProblem(refusal.problem);
  if (identity === null) return { caller: null, problem };
  const { id, role, scheme } = identity;
  const { accounts } = parts.people;
  const account = await accounts.find(id);
  if (account === null) return { caller: null, problem };
  const user = await accounts.requireUser(id, identity);
  return { caller: { user, username: account.username, role, scheme }, problem };
}

function summarizeProblem({ status, code, detail }: Problem): object {
  return { status, code, detail };
}

function welcome({ cookies }: WayInParts, context: Context, { descriptions }: EntryLinks) {
  const { refusal } = context;
  const described = Object.entries(descriptions).map(([rel, path]) => `<${context.at(path)}>; rel="${rel}"`);
  return {
    // No cache may store the response to a refused credential.
    cache: refusal === null ? ("private" as const) : ("no-store" as const),
    headers: [
      ...(described.length === 0 ? [] : [["Link", described.join(", ")] as const]),
      ...(refusal === null
        ? []
        : clearedCookies(
            context,
            refusal.cookies.filter((name) => cookies.includes(name)),
          )),
    ],
  };
}

/** Clears cookies by their names without `__Host-`. */
function clearedCookies({ call }: Context, names: readonly string[]): readonly (readonly [string, string])[] {
  const { encrypted, loopback } = call.client;
  return names.map((name) => {
    const cookie = { name: encrypted ? `__Host-${name}` : name, path: "/", secure: encrypted || !loopback } as const;
    return ["Set-Cookie", formatClearedCookie({ ...cookie, sameSite: "lax" })];
  });
}
