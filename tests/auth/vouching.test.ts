import assert from "node:assert/strict";
import { test } from "node:test";
import { authenticated, defineEndpoint, defineFeature, type Context } from "../../src/door/index.ts";
import type { BuiltIn } from "../../src/service/built-in.ts";
import { adminPassword, serve } from "../harness/serve.ts";

// The checks of `logins.vouch`, `confirming.requireFreshLogin` and `confirming.requireProof`. The endpoints of a third
// party allow every caller, so that only these checks refuse a request.

const makesCredentials = ({ accounts }: BuiltIn) => [
  defineFeature({
    name: "makes-credentials",
    needs: [accounts],
    setUp(host) {
      const { accounts: found, logins, confirming } = host.use(accounts);
      const make = (path: `/${string}`, check: (context: Context, password?: string) => Promise<unknown>) =>
        defineEndpoint({
          method: "POST",
          path,
          access: authenticated,
          async handle(context) {
            await check(context, context.call.header("x-password") ?? undefined);
            return { status: 204 };
          },
        });
      return {
        offer: null,
        endpoints: [
          make("/fresh", confirming.requireFreshLogin),
          make("/proved/{id}", async (context, password) =>
            confirming.requireProof(context, await found.requireAccount(context), password),
          ),
          make("/vouched/{id}", async (context, password) =>
            logins.vouch(context, await found.requireAccount(context), password),
          ),
        ],
      };
    },
  }),
];

test("makes no credential for an administrator who acts for a user, even with the password of the user", async (t) => {
  const api = await serve(t, { config: { features: makesCredentials } });
  const ann = await api.user("Ann");
  const login = { username: "admin", password: adminPassword };
  const { access } = (await api.post("/api/token/", login)).json;
  const made = await api.post(`/users/${ann.id}/act`, undefined, { authorization: `Bearer ${access}` });
  const acting = { authorization: `Bearer ${made.json.access}` };

  for (const path of ["/fresh", `/proved/${ann.id}`, `/vouched/${ann.id}`]) {
    const refused = await api.post(path, undefined, { ...acting, "x-password": ann.password });
    assert.deepEqual([refused.status, refused.json.code], [403, "permission_denied"], `${path} ${refused.text}`);
    const own = await api.post(path, undefined, { ...ann.headers, "x-password": ann.password });
    assert.equal(own.status, 204, `${path} ${own.text}`);
  }
});

test("makes a credential for another user only if the caller is an administrator and the other user is not", async (t) => {
  const api = await serve(t, { config: { features: makesCredentials } });
  const [ann, ben, root] = [await api.user("Ann"), await api.user("Ben"), await api.user("Root")];
  const promoted = await api.patch(`/users/${root.id}/account`, { role: "admin" }, api.admin);
  assert.equal(promoted.status, 200, promoted.text);

  for (const [caller, id, expected] of [
    [ann.headers, ann.id, [204, undefined]],
    [ann.headers, ben.id, [403, "permission_denied"]],
    [ann.headers, root.id, [403, "permission_denied"]],
    [api.admin, ann.id, [204, undefined]],
    [api.admin, root.id, [403, "permission_denied"]],
  ] as const) {
    const { status, json, text } = await api.post(`/vouched/${id}`, undefined, caller);
    assert.deepEqual([status, json?.code], expected, text);
  }
  // A caller who may not make a credential does not learn whether the account is active.
  await api.patch(`/users/${ben.id}/account`, { active: false }, api.admin);
  assert.equal((await api.post(`/vouched/${ben.id}`, undefined, ann.headers)).status, 403);
  assert.equal((await api.post(`/vouched/${ben.id}`, undefined, api.admin)).status, 409);
});

test("proves a change of another user's login only for an administrator, and never with the password of that user", async (t) => {
  const api = await serve(t, { config: { features: makesCredentials } });
  const [ann, ben, root] = [await api.user("Ann"), await api.user("Ben"), await api.user("Root")];
  const promoted = await api.patch(`/users/${root.id}/account`, { role: "admin" }, api.admin);
  assert.equal(promoted.status, 200, promoted.text);

  for (const [caller, id, password, expected] of [
    [ann.headers, ann.id, ann.password, [204, undefined]],
    [ann.headers, ben.id, ann.password, [403, "permission_denied"]],
    [ann.headers, ben.id, ben.password, [403, "permission_denied"]],
    [ann.headers, root.id, root.password, [403, "permission_denied"]],
    [api.admin, ann.id, undefined, [204, undefined]],
    [api.admin, root.id, root.password, [403, "permission_denied"]],
  ] as const) {
    const headers = password === undefined ? caller : { ...caller, "x-password": password };
    const { status, json, text } = await api.post(`/proved/${id}`, undefined, headers);
    assert.deepEqual([status, json?.code], expected, text);
  }
});
