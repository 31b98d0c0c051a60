import type { Reply } from "../../core/call/call.ts";
import { problem } from "../../core/problem/problem.ts";
import type { AccountPages, Assembled, ServiceFacts } from "../../feature/feature.ts";
import { builtInEndpoint } from "../../http/endpoint/built-in.ts";
import { nullable, objectSchema, textSchema } from "../../http/endpoint/documentation.ts";
import type { Endpoint } from "../../http/endpoint/endpoint.ts";
import type { Context } from "../../http/exchange.ts";
import { hasWays, LOGIN_PATH, waysOf } from "./ways-in.ts";

/** The default paths of the pages of accounts. */
export const accountPages: AccountPages = {
  login: "/login",
  factor: "/login/factor",
  signup: "/signup",
  forgot: "/forgot",
  reset: "/reset",
  verify: "/verify",
};

/** Returns the endpoints of the pages of accounts. A page whose call is not served is 404. */
export function pageEndpoints(pages: AccountPages, facts: () => ServiceFacts): readonly Endpoint[] {
  return [loginEndpoint(pages, facts), factorEndpoint(pages, facts)];
}

const common = { method: "GET", access: "open", logsIn: true, query: "read" } as const;

const nextParameter = {
  name: "next",
  in: "query",
  description: "The page to show after the login: a path of this service.",
  schema: textSchema,
} as const;

function loginEndpoint(pages: AccountPages, facts: () => ServiceFacts): Endpoint {
  return builtInEndpoint({
    ...common,
    path: pages.login,
    documentation: {
      summary: "The page to log in",
      tag: "system",
      parameters: [nextParameter],
      responses: { 200: { description: "The ways to log in, each with its address.", schema: waysSchema } },
      problems: ["not_found"],
    },
    handle(context): Reply {
      const { password, passkey, others } = waysOf(facts());
      if (!hasWays(facts())) throw problem("not_found");
      const at = (path: string | null): string | null => (path === null ? null : context.at(path));
      const listed = others.map(({ title, href }) => ({ title, href: context.at(href) }));
      return shown({ password: at(password), passkey: at(passkey), others: listed }, "login");
    },
  });
}

function factorEndpoint({ factor, login }: AccountPages, facts: () => ServiceFacts): Endpoint {
  return builtInEndpoint({
    ...common,
    path: factor,
    documentation: {
      summary: "The page for the second factor of a login",
      tag: "system",
      parameters: [nextParameter],
      responses: {
        200: {
          description: "The call that completes the login, and the page that starts it.",
          schema: objectSchema("login", { complete: textSchema, start: textSchema }),
        },
      },
      problems: ["not_found"],
    },
    handle(context: Context): Reply {
      if (!facts().endpoints.some(({ path }) => path === LOGIN_PATH)) throw problem("not_found");
      return shown({ complete: context.at(LOGIN_PATH), start: context.at(login) }, "login");
    },
  });
}

function shown(value: Extract<NonNullable<Reply["body"]>, { kind: "data" }>["value"], element: string): Reply {
  return { status: 200, cache: "no-store", body: { kind: "data", value, element } };
}

const waysSchema = objectSchema("login", {
  password: nullable(textSchema),
  passkey: nullable(textSchema),
  others: {
    type: "array",
    xml: { name: "others" },
    items: objectSchema("way", { title: textSchema, href: textSchema }),
  },
});

/** Returns the mistakes for resources with the path of a page. */
export function takenPages(pages: AccountPages, { mounts }: Assembled): readonly string[] {
  return Object.entries(pages).flatMap(([name, path]) =>
    mounts.some(({ resource }) => resource.path === path)
      ? [
          `${path} is a page for people and a resource; give the page another path: consolePages({ pages: { ${name}: "/people${path}" } }), or give the resource another plural`,
        ]
      : [],
  );
}
