import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { makeLog } from "../../src/door/ops.ts";
import { adminPassword, basicHeader, serve } from "../harness/serve.ts";

const customToken = "custom-token-of-this-service-0123456789";
const proxySecret = "what-only-the-proxy-knows";
const settings = {
  LATCHKEY_SCHEMES: "basic,session,token,bearer,remote-user,custom-header",
  LATCHKEY_SECRET: "the server's own secret of this test, which is long",
  LATCHKEY_TRUSTED_PROXIES: "127.0.0.1",
  LATCHKEY_REMOTE_USER_SECRET: proxySecret,
  LATCHKEY_CUSTOM_TOKEN: customToken,
  LATCHKEY_CUSTOM_TOKEN_USERNAME: "admin",
};

test("keeps right and wrong credentials out of observations and the log", async (t) => {
  const api = await serve(t, { settings });
  const ann = await api.user("Ann");
  const username = ann.email;
  const newPassword = "another password of Ann";
  const pair = (await api.post("/api/token/", { username, password: ann.password })).json;
  const cookies = (await api.post("/api/token/", { username, password: ann.password, cookie: true })).headers
    .getSetCookie()
    .map((each) => each.split(";")[0]!);
  const session = (await api.post("/api/session/", { username, password: ann.password })).headers
    .get("set-cookie")!
    .split(";")[0]!;
  const { token } = (await api.post(`/users/${ann.id}/token`, undefined, ann.headers)).json;
  const renewed = (await api.post("/api/token/refresh/", { refresh: pair.refresh })).json;

  const wrong = {
    password: "a wrong password",
    token: `${token.slice(0, 20)}${"0".repeat(45)}`,
    custom: "a wrong custom token",
    secret: "a wrong secret",
    session: "B".repeat(43),
  };
  const requests = [
    basicHeader(username, wrong.password),
    { authorization: `Token ${token}` },
    { authorization: `Token ${wrong.token}` },
    { authorization: `Bearer ${pair.access}` },
    { authorization: `Bearer ${pair.access}x` },
    { authorization: `Bearer ${pair.refresh}` },
    { cookie: session },
    { cookie: `session=${wrong.session}` },
    { cookie: cookies.join("; ") },
    { "x-custom-token": customToken },
    { "x-custom-token": wrong.custom },
    { "x-remote-user": "admin", "x-remote-user-secret": proxySecret },
    { "x-remote-user": "admin", "x-remote-user-secret": wrong.secret },
  ];
  for (const headers of requests) {
    await api.get("/protected/", headers);
    await api.get(`/users/${ann.id}/sessions`, headers);
  }
  await api.post("/api/token/", { username: wrong.password, password: ann.password });
  await api.post("/api/token/", { username, password: wrong.password, extra: wrong.secret });
  await api.post("/api/token/refresh/", { refresh: `${renewed.refresh}x` });
  await api.post("/api/token/verify/", { token: wrong.token });
  api.clock.turn(60);
  await api.post("/api/token/refresh/", { refresh: pair.refresh });
  await api.patch(`/users/${ann.id}`, { password: newPassword, current_password: ann.password }, ann.headers);
  await api.patch(
    `/users/${ann.id}`,
    { password: newPassword, current_password: wrong.password },
    basicHeader(username, newPassword),
  );

  const lines: string[] = [];
  const log = makeLog("debug", (text) => lines.push(text))!;
  for (const observation of api.observed) log.observe(observation);
  log.flush();
  const output = inspect(api.observed, { depth: 20, maxArrayLength: null, maxStringLength: null }) + lines.join("");
  assert.ok(api.observed.some(({ kind }) => kind === "credential_rejected"));
  assert.ok(api.observed.some(({ kind }) => kind === "refresh_reuse"));
  const secrets = [
    adminPassword,
    ann.password,
    newPassword,
    ...Object.values(wrong),
    customToken,
    proxySecret,
    settings.LATCHKEY_SECRET,
    ...[pair.access, pair.refresh, renewed.access, renewed.refresh].flatMap((jwt: string) => jwt.split(".").slice(1)),
    ...cookies.map((each) => each.split("=")[1]!),
    session.split("=")[1]!,
    token,
    token.slice(17),
    ...[ann.headers["authorization"]!, api.admin["authorization"]!].map((each) => each.slice("Basic ".length)),
  ];
  for (const secret of secrets) assert.ok(!output.includes(secret), secret);
  assert.ok(!api.observed.some(({ kind }) => kind === "fault"));
});

test("keeps a credential in the path or in the request id out of the log", async (t) => {
  const api = await serve(t);
  const { access, refresh } = (await api.post("/api/token/", { username: "admin", password: adminPassword })).json;
  const { token } = (await api.post("/users/1/token", undefined, api.admin)).json;
  const login = await api.post("/api/session/", { username: "admin", password: adminPassword });
  const session = login.headers.get("set-cookie")!.split(";")[0]!.split("=")[1]!;

  for (const secret of [access, refresh, token, session] as string[]) {
    await api.delete(`/users/1/keys/${secret}`, api.admin);
    await api.delete(`/users/1/sessions/${secret}?at=once`, api.admin);
    await api.get(`/${secret}/nowhere`);
  }

  await api.get("/livez", { "x-request-id": token });

  const paths = api.observed.flatMap((each) => (each.kind === "request" ? [each.path, each.requestId] : []));
  assert.ok(paths.includes(`/users/1/keys/${token.slice(0, 17)}…`));
  for (const secret of [access, refresh, token, session]) assert.doesNotMatch(paths.join("\n"), new RegExp(secret));
});
