import { computeCode, computeStep } from "../../src/features/auth/totp/codes.ts";
import { parseBase32, readCookies } from "../../tests/harness/factors.ts";
import { adminPassword, type Answered } from "../../tests/harness/serve.ts";
import { origin, type Headers, type World } from "./world.ts";

const html: Headers = { accept: "text/html,application/xhtml+xml,*/*;q=0.8", "sec-fetch-mode": "navigate" };
const sameOrigin: Headers = { "sec-fetch-site": "same-origin" };
const form: Headers = {
  ...html,
  ...sameOrigin,
  origin,
  "content-type": "application/x-www-form-urlencoded",
};
const bearer = (token: unknown): Headers => ({ authorization: `Bearer ${String(token)}` });
const cookies = (answer: Answered): Headers => ({ ...readCookies(answer), ...sameOrigin });
const password = "password of a user";

/** Logs in, renews and ends logins of every kind. */
export async function passwordLogins({ ask, api }: World): Promise<void> {
  const pair = await ask("POST", "/api/token/", { username: "ada@shop.example", password });
  const used = pair.json.refresh as string;
  const next = await ask("POST", "/api/token/refresh/", { refresh: used });
  await ask("POST", "/api/token/refresh/", { refresh: used });
  await ask("POST", "/api/token/verify/", { token: pair.json.access });
  await ask("POST", "/api/token/verify/", { token: used });
  api.clock.turn(11);
  await ask("POST", "/api/token/refresh/", { refresh: used });
  await ask("POST", "/api/token/refresh/", { refresh: next.json.refresh });
  await ask("GET", "/protected/", undefined, bearer(next.json.access));
  const asCookies = await ask(
    "POST",
    "/api/token/",
    { username: "ada@shop.example", password, cookie: true },
    sameOrigin,
  );
  const renewed = await ask("POST", "/api/token/refresh/", undefined, cookies(asCookies));
  await ask("GET", "/protected/", undefined, cookies(renewed));
  await ask("DELETE", "/api/token/", undefined, cookies(renewed));
  const session = await ask("POST", "/api/session/", { username: "ADA@shop.example", password }, sameOrigin);
  await ask("GET", "/api/session/", undefined, cookies(session));
  await ask("GET", "/users/2/sessions", undefined, cookies(session));
  await ask("POST", "/orders", { status: "open" }, { ...readCookies(session), "sec-fetch-site": "cross-site" });
  await ask("DELETE", "/api/session/", undefined, cookies(session));
  await ask("GET", "/", undefined, { ...cookies(session), ...html });
  const byForm = await ask(
    "POST",
    "/api/session/",
    `username=ada%40shop.example&password=${password}&next=%2Forders`,
    form,
  );
  for (const path of ["/", "/orders", "/users/2", "/users/2/account", "/users/2/factors", "/users/2/keys"])
    await ask("GET", path, undefined, { ...cookies(byForm), ...html });
  await ask("POST", "/api-token-auth/", { username: "ada@shop.example", password });
  await ask("POST", "/api-token-auth/", `username=ada%40shop.example&password=${password}`, {
    "content-type": "application/x-www-form-urlencoded",
  });
  for (let tried = 0; tried < 11; tried++)
    await ask("POST", "/api/token/", { username: "cleo@shop.example", password: "wrong" });
}

/** Logs in with a second factor, in every form, and changes factors. */
export async function factorLogins({ ask, api, ben, authenticator }: World): Promise<void> {
  const first = await ask("POST", "/api/token/", { username: ben.email, password });
  const { pending } = first.json.login as { pending: string };
  await ask("POST", "/api/login/", { pending, factor: ben.factor, code: "000000" });
  await ask("POST", "/api/login/", { pending, factor: "99", code: ben.code() });
  const complete = await ask("POST", "/api/login/", { pending, factor: ben.factor, code: ben.code() });
  await ask("POST", "/api/login/", { pending, factor: ben.factor, code: ben.code() });
  const access = bearer(complete.json.access);
  await ask("GET", "/api/session/", undefined, access);
  await ask("GET", `/users/${ben.id}/factors`, undefined, access);
  api.clock.turn(30);
  const session = await ask("POST", "/api/session/", { username: ben.email, password }, sameOrigin);
  await ask("GET", "/api/login/", undefined, cookies(session));
  await ask("GET", "/login/factor", undefined, { ...cookies(session), ...html });
  const byCookie = await ask("POST", "/api/login/", { factor: ben.factor, code: ben.code() }, cookies(session));
  const added = await ask("POST", `/users/${ben.id}/factors`, { kind: "passkey", label: "Laptop" }, cookies(byCookie));
  const options = added.json.options as Parameters<typeof authenticator.register>[0];
  const at = `/users/${ben.id}/factors/${added.json.id as string}/confirm`;
  await ask("POST", at, { credential: {} }, cookies(byCookie));
  await ask("POST", at, { credential: authenticator.register(options) }, cookies(byCookie));
  const passkey = await ask("POST", "/api/login/passkey/");
  const credential = authenticator.assert(passkey.json.ask);
  await ask("POST", "/api/session/", { pending: passkey.json.pending, credential }, sameOrigin);
  await ask("POST", "/api/token/", { pending: passkey.json.pending, credential });
  const byForm = await ask(
    "POST",
    "/api/session/",
    `username=${encodeURIComponent(ben.email)}&password=${password}`,
    form,
  );
  await ask("POST", "/api/login/", `factor=${ben.factor}&code=000000`, { ...form, ...readCookies(byForm) });
  api.clock.turn(30);
  await ask("POST", "/api/login/", `factor=${ben.factor}&code=${ben.code()}`, { ...form, ...readCookies(byForm) });
  const again = await ask("POST", "/api/token/", { username: ben.email, password });
  const recovery = { pending: again.json.login.pending, factor: "recovery", code: ben.recoveryCodes[0] };
  const recovered = await ask("POST", "/api/login/", recovery);
  await ask("DELETE", `/users/${ben.id}/factors/${ben.factor}`, undefined, bearer(recovered.json.access));
  await ask("POST", `/users/${ben.id}/factors/recovery`, undefined, bearer(recovered.json.access));
  await ask("GET", "/protected/", undefined, {
    authorization: `Basic ${Buffer.from(`${ben.email}:${password}`).toString("base64")}`,
  });
  const confirming = await ask("POST", "/api/login/confirm/", undefined, cookies(byCookie));
  api.clock.turn(60);
  await ask("POST", "/api/login/", { ...confirming.json, factor: ben.factor, code: ben.code() }, cookies(byCookie));
}

/** Signs up, resets a password, changes an address and logs in by mail. */
export async function mailFlows({ ask, api, latestMail, callers }: World): Promise<void> {
  const address = "zoe@shop.example";
  await ask("POST", "/users", { name: "Zoe", email: address });
  await ask("POST", "/users", { name: "Ada", email: "ada@shop.example" });
  const link = await latestMail(address);
  if (link.token === "") return; // Registration is closed.
  await ask("GET", `/verify?token=${link.token}`, undefined, html);
  await ask("POST", "/api/email/confirm/", { email: address, code: "00000000", password: "a good pass phrase" });
  await ask("POST", "/api/email/confirm/", { token: link.token, password: "password" });
  await ask("POST", "/api/email/confirm/", { token: link.token, password: "a good pass phrase" });
  await ask("POST", "/api/email/confirm/", { token: link.token, password: "a good pass phrase" });
  await ask("POST", "/api/token/", { username: address, password: "a good pass phrase" });
  api.clock.turn(3700);
  await ask("POST", "/api/password/reset/", { email: address });
  const reset = await latestMail(address);
  await ask("GET", `/reset?token=${reset.token}`, undefined, html);
  await ask("POST", "/api/password/reset/confirm/", { email: address, code: reset.code, password: "another phrase" });
  await ask("POST", "/api/password/reset/confirm/", { token: reset.token, password: "another phrase" });
  api.clock.turn(3700);
  await ask("POST", "/api/login/code/", { email: address });
  const login = await latestMail(address);
  await ask("GET", `/login?token=${login.token}`, undefined, html);
  const session = await ask("POST", "/api/session/", { email: address, code: login.code }, sameOrigin);
  await ask("POST", "/api/token/", { token: login.token });
  api.clock.turn(3700);
  const { id } = session.json.user as { id: number };
  const changing = { email: "zoe@elsewhere.example", current_password: "another phrase" };
  await ask("POST", `/users/${id}/email`, changing, cookies(session));
  const changed = await latestMail(changing.email);
  await ask("POST", "/api/email/confirm/", { token: changed.token });
  await ask("GET", `/verify?token=${changed.token}`, undefined, { ...html, ...cookies(session) });
  await ask("POST", "/api/email/confirm/", { token: changed.token }, cookies(session));
  const admin = callers["administrator by password"];
  await ask("POST", "/users", { name: "Yan", email: "yan@shop.example", invite: true }, admin);
  const invited = await latestMail("yan@shop.example");
  await ask("GET", `/verify?token=${invited.token}`, undefined, html);
  await ask("POST", "/api/email/confirm/", { token: invited.token, password: "a good pass phrase" });
  for (const page of ["/login", "/signup", "/forgot", "/reset", "/verify", "/login/factor"])
    await ask("GET", page, undefined, html);
}

/** Logs in at the identity provider, and links and unlinks an identity. */
export async function providerLogins({ ask, issuer, callers }: World): Promise<void> {
  const start = await ask("GET", "/api/login/company/start?next=/orders");
  const callback = await issuer.authorize(start.headers.get("location")!);
  const at = callback.pathname + callback.search;
  const logged = await ask("GET", at, undefined, { ...html, ...readCookies(start) });
  await ask("GET", at, undefined, { ...html, ...readCookies(start) });
  await ask("GET", "/api/session/", undefined, cookies(logged));
  const linked = await ask("POST", "/users/2/identities", { provider: "company" }, callers["user by session"]);
  await ask("GET", "/users/2/identities", undefined, callers["user by session"]);
  await ask("GET", String(linked.json?.start ?? "/api/login/company/start"));
}

/** Logs in an administrator who must have a factor and has none. */
export async function enrolment({ ask, api }: World): Promise<void> {
  const first = await ask("POST", "/api/token/", { username: "admin", password: adminPassword });
  const { pending } = first.json.login as { pending: string };
  await ask("POST", "/api/login/factors/", { pending, kind: "carrier pigeon" });
  const added = await ask("POST", "/api/login/factors/", { pending, kind: "totp" });
  const { id, secret } = added.json as { id: string; secret: string };
  await ask("POST", "/api/login/", { pending, factor: id, code: "000000" });
  const code = computeCode(parseBase32(secret), computeStep(api.clock.now));
  const complete = await ask("POST", "/api/login/", { pending, factor: id, code });
  const access = bearer(complete.json.access);
  await ask("GET", "/users/1/factors", undefined, access);
  await ask("DELETE", `/users/1/factors/${id}`, undefined, access);
  await ask("GET", "/users", undefined, {
    authorization: `Basic ${Buffer.from(`admin:${adminPassword}`).toString("base64")}`,
  });
  const session = await ask("POST", "/api/session/", { username: "admin", password: adminPassword }, sameOrigin);
  await ask("GET", "/login/factor", undefined, { ...cookies(session), ...html });
}
