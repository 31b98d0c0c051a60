import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import {
  identityProviders,
  namedKeys,
  totp,
  type AccountsFeature,
  type AccountsOptions,
  type IdentityProviderDeclaration,
  type People,
} from "../../src/door/auth.ts";
import { accounts, Secret, sessionLogin, type Feature, type ServiceOptions } from "../../src/door/index.ts";
import type { Observation } from "../../src/door/ops.ts";
import type { Store } from "../../src/door/stores.ts";
import { clientId, clientSecret, startIssuer, type Issuer } from "./openid-issuer.ts";
import { open, serve, type Answered, type Own } from "./own-logins.ts";
import { emptyStore } from "./test-store.ts";

/** A browser: it keeps cookies, and sends them to the service. */
export interface Browser {
  readonly cookies: Map<string, string>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  ask(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  /** Starts a login. Returns the address of the callback to which the issuer sends the browser. */
  start(query?: string): Promise<URL>;
  /** Starts a login and receives the answer of the issuer. */
  logIn(query?: string): Promise<Answered>;
}

/** A service with a provider `company`, whose issuer runs on loopback. */
export interface World {
  readonly own: Own;
  readonly store: Store;
  readonly people: People;
  readonly issuer: Issuer;
  readonly observed: Observation[];
  readonly reasons: () => readonly string[];
  browser(): Browser;
}

export const origin = "https://shop.example";

export interface WorldOptions {
  readonly provider?: Partial<IdentityProviderDeclaration>;
  readonly accounts?: AccountsOptions;
  /** More providers. They get the issuer of `company` with another port. */
  readonly others?: (issuer: Issuer) => readonly IdentityProviderDeclaration[];
  readonly service?: Partial<ServiceOptions>;
  /** Returns more features of the service. */
  readonly more?: (people: AccountsFeature) => readonly Feature[];
}

export function declare(issuer: string, more: Partial<IdentityProviderDeclaration> = {}): IdentityProviderDeclaration {
  return { id: "company", title: "Company", issuer, clientId, clientSecret: new Secret(clientSecret), ...more };
}

/** Starts the service and its issuer. ada (1) has signed up with a password. */
export async function startWorld(t: TestContext, options: WorldOptions = {}): Promise<World> {
  const clock = { now: () => own.clock.now };
  const issuer = await startIssuer(t, () => clock.now());
  const people = accounts({ ...open, ...options.accounts });
  const sessions = sessionLogin(people);
  const providers = [
    declare(issuer.issuer, { create: true, ...options.provider }),
    ...(options.others?.(issuer) ?? []),
  ];
  const store = options.service?.store ?? (await emptyStore());
  const observed: Observation[] = [];
  const own: Own = await serve(
    t,
    people,
    [
      sessions,
      totp(people),
      namedKeys(people),
      identityProviders(people, { sessions, providers }),
      ...(options.more?.(people) ?? []),
    ],
    {
      ownOrigins: [origin],
      observe: (each) => void observed.push(each),
      ...options.service,
      store,
    },
  );
  const reasons = (): readonly string[] =>
    observed.flatMap((each) => (each.kind === "provider_login_failed" ? [each.reason] : []));
  return {
    own,
    store,
    people: own.service.use(people),
    issuer,
    observed,
    reasons,
    browser: () => openBrowser(own, issuer),
  };
}

function openBrowser(own: Own, issuer: Issuer): Browser {
  const cookies = new Map<string, string>();
  async function ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answered> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await own.ask(method, path, body, {
      ...(cookie === "" ? {} : { cookie }),
      "sec-fetch-site": "same-origin",
      ...headers,
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value === "") cookies.delete(name!);
      else cookies.set(name!, value!);
    }
    return answer;
  }
  const browser: Browser = {
    cookies,
    ask,
    get: (path, headers) => ask("GET", path, undefined, headers),
    async start(query = "") {
      const started = await ask("GET", `/api/login/company/start${query}`);
      assert.equal(started.status, 303, started.text);
      return issuer.authorize(started.headers.get("location")!);
    },
    async logIn(query) {
      const { pathname, search } = await browser.start(query);
      return ask("GET", pathname + search);
    },
  };
  return browser;
}

/** Returns true if a response logs the browser in. */
export function setsSession(answer: Answered): boolean {
  return answer.headers.getSetCookie().some((each) => /^(?:__Host-)?session=[^;]/.test(each));
}
