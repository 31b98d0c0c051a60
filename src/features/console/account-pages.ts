import { anyone } from "../../access/permission/permission.ts";
import type { Reply } from "../../core/call/call.ts";
import { problem } from "../../core/problem/problem.ts";
import type { AccountPages, Assembled, ServiceFacts } from "../../feature/feature.ts";
import { textSchema } from "../../http/declarations/documentation.ts";
import { builtInEndpoint, type Endpoint } from "../../http/declarations/endpoint.ts";
import { defineResponse, listOf } from "../../http/declarations/response.ts";
import { text } from "../../resource/kinds/fields.ts";
import { ACCOUNT_PATH } from "./frame.ts";
import {
  EMAIL_CONFIRM_PATH,
  findUsers,
  hasLoginMethods,
  INVITATION_PATH,
  LOGIN_PATH,
  RESET_CONFIRM_PATH,
  RESET_PATH,
  USERS_PATH,
  resolveLoginMethods,
} from "./login-methods.ts";

/** The default paths of the pages of accounts. */
export const accountPages: Required<AccountPages> = {
  login: "/login",
  factor: "/login/factor",
  signup: "/signup",
  forgot: "/forgot",
  reset: "/reset",
  verify: "/verify",
  invitation: "/invitation",
};

/**
 * Returns the endpoints of the pages of accounts. A page answers 404 if the service does not serve the path that
 * receives its form.
 */
export function pageEndpoints(pages: Required<AccountPages>, facts: () => ServiceFacts): readonly Endpoint[] {
  const page = (path: string, summary: string, call: string): Endpoint => callPage({ path, summary, call, facts });
  return [
    loginEndpoint(pages, facts),
    factorEndpoint(pages, facts),
    page(pages.signup, "The page to sign up", USERS_PATH),
    page(pages.forgot, "The page for a forgotten password", RESET_PATH),
    page(pages.reset, "The page that sets a new password", RESET_CONFIRM_PATH),
    page(pages.verify, "The page that confirms an address", EMAIL_CONFIRM_PATH),
    page(pages.invitation, "The page that accepts an invitation", INVITATION_PATH),
  ];
}

/** A page with one form. */
interface CallPage {
  readonly path: string;
  readonly summary: string;
  /** The path that receives the form. */
  readonly call: string;
  readonly facts: () => ServiceFacts;
}

/**
 * Returns the endpoint of a page. Opening the page does not use up the link in a mail: only the button sends the token
 * of the link.
 */
function callPage({ path, summary, call, facts }: CallPage): Endpoint {
  return builtInEndpoint({
    ...common,
    path,
    // Identifies the caller, because only a logged-in user confirms a changed address. A rejected credential must not
    // prevent a sign-up.
    access: anyone,
    refusals: "reported",
    documentation: {
      summary,
      tag: "system",
      parameters: [{ name: "token", in: "query", description: "The token of the link in a mail.", schema: textSchema }],
      responses: { 200: { description: "The call that the form sends." } },
      problems: ["not_found"],
    },
    responses: { 200: form },
    handle(context) {
      const isServed = call === USERS_PATH ? findUsers(facts()) !== undefined : isPosted(facts(), call);
      if (!isServed) throw problem("not_found");
      return form.reply(200, { call: context.at(call) }, { cache: "no-store" });
    },
  });
}

function isPosted({ endpoints }: ServiceFacts, path: string): boolean {
  return endpoints.some((each) => each.path === path && each.method === "POST");
}

/** The address at which password managers look for the page that changes a password. */
export function changePasswordEndpoint(pages: AccountPages, facts: () => ServiceFacts): Endpoint {
  const path = "/.well-known/change-password";
  return builtInEndpoint({
    method: "GET",
    path,
    access: anyone,
    refusals: "reported",
    redirectsFor: ["text/html"],
    documentation: {
      summary: "Redirect to the page that changes the password",
      tag: "system",
      responses: { 303: { description: "The caller's account.", headers: { Location: "A page of this service." } } },
      problems: ["not_found"],
    },
    handle(context): Reply {
      if (!facts().endpoints.some((each) => each.path === ACCOUNT_PATH)) throw problem("not_found");
      const { identity } = context;
      const login = `${context.at(pages.login)}?${new URLSearchParams({ next: context.at(path) }).toString()}`;
      const target = identity === null ? login : context.at(ACCOUNT_PATH.replace("{id}", String(identity.id)));
      return { status: 303, cache: "no-store", headers: [["Location", target]] };
    },
  });
}

const common = { method: "GET", access: "open", logsIn: true, query: "read" } as const;

const nextParameter = {
  name: "next",
  in: "query",
  description: "The page to show after the login: a path of this service.",
  schema: textSchema,
} as const;

const wrongParameter = {
  name: "wrong",
  in: "query",
  description: "What was wrong in the form that led here: the page says so.",
  schema: { type: "string", enum: ["code"] },
} as const;

const doneParameter = {
  name: "done",
  in: "query",
  description:
    "The completed step that led here: the page says that the address is confirmed, or that the password is changed.",
  schema: { type: "string", enum: ["address", "password"] },
} as const;

function loginEndpoint(pages: AccountPages, facts: () => ServiceFacts): Endpoint {
  return builtInEndpoint({
    ...common,
    path: pages.login,
    // Identifies the caller, because a link to another account asks first. A rejected credential must not prevent a
    // login.
    access: anyone,
    refusals: "reported",
    documentation: {
      summary: "The page to log in",
      tag: "system",
      parameters: [nextParameter, doneParameter],
      responses: { 200: { description: "The ways to log in, each with its address." } },
      problems: ["not_found"],
    },
    responses: { 200: loginMethods },
    handle(context) {
      const { password, passkey, others } = resolveLoginMethods(facts());
      if (!hasLoginMethods(facts())) throw problem("not_found");
      const at = (path: string | null): string | null => (path === null ? null : context.at(path));
      const listed = others.map(({ title, href }) => ({ title, href: context.at(href) }));
      return loginMethods.reply(
        200,
        { password: at(password), passkey: at(passkey), others: listed },
        { cache: "no-store" },
      );
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
      parameters: [nextParameter, wrongParameter],
      responses: {
        200: {
          description: "The call that completes the login, and the page that starts it.",
        },
      },
      problems: ["not_found"],
    },
    responses: { 200: secondStep },
    handle(context) {
      if (!facts().endpoints.some(({ path }) => path === LOGIN_PATH)) throw problem("not_found");
      return secondStep.reply(
        200,
        { complete: context.at(LOGIN_PATH), start: context.at(login) },
        { cache: "no-store" },
      );
    },
  });
}

const form = defineResponse({ name: "page", fields: { call: text() } });
const secondStep = defineResponse({ name: "login", fields: { complete: text(), start: text() } });
const loginMethods = defineResponse({
  name: "login",
  fields: {
    password: text({ optional: true }),
    passkey: text({ optional: true }),
    others: listOf(defineResponse({ name: "way", fields: { title: text(), href: text() } }), "others"),
  },
});

/** Returns the mistakes for resources and endpoints with the path of a page. */
export function takenPages(pages: AccountPages, { mounts, endpoints }: Assembled): readonly string[] {
  return Object.entries(pages).flatMap(([name, path]) => {
    const others = endpoints.filter((each) => each.path === path && each.method === "GET").length - 1;
    const taken = mounts.some(({ resource }) => resource.path === path) ? "a resource" : "an endpoint";
    return taken === "a resource" || others > 0
      ? [
          `${path} is a page for people and ${taken}; give the page another path: consolePages({ pages: { ${name}: "/people${path}" } }), or give ${taken} another one`,
        ]
      : [];
  });
}
