import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import {
  accountsCollection,
  identityOf,
  mountCredentials,
  namedKeys,
  type Admission,
  type OtherLogin,
  type People,
} from "../../src/door/auth.ts";
import {
  accepted,
  accounts,
  anyone,
  authenticated,
  basicLogin,
  dateTime,
  defineFeature,
  defineResource,
  integer,
  owner,
  problem,
  reference,
  rejected,
  sessionLogin,
  text,
  type Feature,
  type Scheme,
} from "../../src/door/index.ts";
import { findByToken, shownOnce, type Mount } from "../../src/door/resources.ts";
import type { Change } from "../../src/door/stores.ts";
import { admitted } from "../harness/admitted.ts";
import { open, password, serve, type Own } from "../harness/own-logins.ts";
import { basicHeader } from "../harness/serve.ts";

// Credentials of an application: a badge opens a door, and with it a user can log in without a password.

const badge = defineResource({
  name: "badge",
  id: "text",
  fields: {
    label: text({ maxLength: 100 }),
    user_id: reference("users", { readOnly: true, onDelete: "cascade" }),
    made_at: dateTime({ readOnly: true }),
    current_password: text({ optional: true, writeOnly: true, transient: true, confidential: true }),
    code: shownOnce({ owner: "user_id", prefix: "badge" }),
  },
});
const mine = owner("user_id");
const permission = { list: mine, read: mine, create: authenticated, delete: mine };

interface Badges {
  readonly mounted: Mount<typeof badge>;
}

function badges(people: Feature<People>, logsIn: boolean): Feature<Badges> {
  return defineFeature({
    name: "badges",
    needs: [people],
    setUp(host) {
      const { accounts: users, logins, confirming, endings } = host.use(people);
      const requireUser = async (id: number) => (await users.find(id)) ?? fail();
      const fail = (): never => {
        throw problem("not_found");
      };
      const mounted: Mount<typeof badge> = mountCredentials({ endings }, badge, {
        permission,
        maximum: 2,
        async requireAdmission({ context, draft }) {
          const account = await requireUser(context.requireIdentity().id);
          const admission = await logins.vouch(context, account, draft.transient.current_password);
          return { admission, values: { made_at: new Date(context.now).toISOString() } };
        },
        requireOtherLogin: async ({ current: { user_id, id } }) =>
          confirming.keepOtherLogin(
            await requireUser(user_id),
            logsIn ? { collection: mounted.collection, id } : "program",
          ),
      });
      if (logsIn) confirming.registerOutsideLogin({ collection: mounted.collection });
      const authenticate: Scheme["authenticate"] = async (presented) => {
        const found = await findByToken(mounted, host, presented);
        if (found.kind !== "genuine") return rejected(found.kind);
        const account = await users.find(found.record.user_id);
        return account?.active === true ? accepted(identityOf(account, "badge")) : rejected("inactive");
      };
      const scheme: Scheme = {
        name: "badge",
        carriers: [{ in: "header", name: "X-Badge" }],
        proves: "program",
        authenticate,
      };
      return { offer: { mounted }, mounts: [mounted], schemes: [scheme] };
    },
  });
}

async function start(t: TestContext, logsIn = false): Promise<Own & { readonly mounted: Badges["mounted"] }> {
  const people = accounts(open);
  const feature = badges(people, logsIn);
  const own = await serve(t, people, [basicLogin(people), sessionLogin(people), namedKeys(people), feature]);
  return { ...own, mounted: own.service.use(feature).mounted };
}

const ada = basicHeader("ada@example.com", password);

test("makes a credential for the admitted user, and nothing else is offered", async (t) => {
  const { ask, get, service } = await start(t);

  const made = await ask("POST", "/badges", { label: "Door" }, ada);

  assert.equal(made.status, 201, made.text);
  const { id, code, ...rest } = made.json;
  assert.deepEqual(rest, { label: "Door", user_id: 1, made_at: "2026-03-01T12:00:00.000Z" });
  assert.equal((await get("/notes", { "x-badge": code })).status, 200);
  const offered = service.routes.flatMap(({ path, methods }) =>
    path.startsWith("/badges") ? [...methods.keys()].map((method) => `${method} ${path}`) : [],
  );
  assert.deepEqual(offered.toSorted(), [
    "DELETE /badges/{id}",
    "GET /badges",
    "GET /badges/{id}",
    "POST /badges",
    "QUERY /badges",
  ]);
  assert.equal((await ask("DELETE", `/badges/${id}`, undefined, ada)).status, 204);
  assert.equal((await get("/notes", { "x-badge": code })).status, 401);
});

test("admits no stale login, no key, no scope and no credential of its own kind", async (t) => {
  const { ask, get, clock } = await start(t);
  const body = { label: "Door" };
  const login = await ask("POST", "/api/session/", { username: "ada@example.com", password });
  const cookie = { cookie: login.headers.getSetCookie()[0]!.split(";", 1)[0]!, "sec-fetch-site": "same-origin" };
  const keyOf = async (limits: object) => {
    const { key } = (await ask("POST", "/users/1/keys", { name: "k", ...limits }, ada)).json;
    return { authorization: `Token ${key}` };
  };
  const [key, limited] = [await keyOf({}), await keyOf({ scopes: ["read", "write"] })];
  const made = await ask("POST", "/badges", body, cookie);
  assert.equal(made.status, 201, made.text);
  const own = { "x-badge": made.json.code };
  clock.now += 601_000;

  const refused = async (headers: Readonly<Record<string, string>>, sent: object = body) =>
    (await ask("POST", "/badges", sent, headers)).status;
  const withPassword = { ...body, current_password: password };
  assert.deepEqual(
    [await refused(cookie), await refused(key), await refused(limited), await refused(own), await refused({})],
    [400, 403, 403, 400, 401],
  );
  assert.deepEqual([await refused(key, withPassword), await refused(limited, withPassword)], [403, 403]);
  assert.equal((await ask("DELETE", `/badges/${made.json.id}`, undefined, limited)).status, 403);
  assert.equal((await get("/badges", ada)).json.length, 1);
  assert.equal(await refused(cookie, withPassword), 201);
});

test("lets a login at another party create no credential, because it would not end with that login", async (t) => {
  const issuer = "https://company.example";
  const outside: Scheme = {
    name: "company",
    carriers: [{ in: "header", name: "X-Company" }],
    authenticate: () =>
      accepted({ id: 1, username: "ada", role: "user", scheme: "company", scopes: null, expiresAt: null, issuer }),
  };
  for (const outsideCredentialsSeconds of [0, 3600]) {
    const people = accounts({ ...open, outsideCredentialsSeconds });
    const { ask, get } = await serve(t, people, [basicLogin(people), badges(people, false)], { schemes: [outside] });
    const headers = { "x-company": "1" };

    const made = await ask("POST", "/badges", { label: "Door", current_password: password }, headers);

    assert.deepEqual([made.status, made.json.code], [403, "permission_denied"], made.text);
    assert.deepEqual((await get("/badges", headers)).json, []);
    assert.equal((await ask("POST", "/badges", { label: "Door" }, ada)).status, 201);
  }
});

test("does not let a token that acts for a user see, make or delete credentials", async (t) => {
  const actor = { id: 9, username: "root" };
  const people = accounts(open);
  const acting: Scheme = {
    name: "acting",
    carriers: [{ in: "header", name: "X-Acting" }],
    authenticate: () =>
      accepted({ id: 1, username: "ada", role: "user", scheme: "acting", scopes: null, expiresAt: null, actor }),
  };
  const { ask } = await serve(t, people, [basicLogin(people), badges(people, false)], { schemes: [acting] });
  const { id } = (await ask("POST", "/badges", { label: "Door" }, ada)).json;
  const status = async (method: string, path: string, body?: object) =>
    (await ask(method, path, body, { "x-acting": "1" })).status;

  const answers = [
    await status("GET", "/badges"),
    await status("GET", `/badges/${id}`),
    await status("QUERY", "/badges", {}),
    await status("POST", "/badges", { label: "x" }),
    await status("DELETE", `/badges/${id}`),
  ];

  assert.deepEqual(answers, [403, 403, 403, 403, 403]);
});

test("keeps the last way to log in, also if two ways are deleted at once", async (t) => {
  const { ask, service, mounted } = await start(t, true);
  const [one, other] = [
    (await ask("POST", "/badges", { label: "One" }, ada)).json,
    (await ask("POST", "/badges", { label: "Other" }, ada)).json,
  ];
  await service.store.write({ changes: [update(1, { password_hash: null })] });
  const headers = { "x-badge": one.code };

  const answers = await Promise.all([one, other].map(({ id }) => ask("DELETE", `/badges/${id}`, undefined, headers)));

  assert.equal(answers.filter(({ status }) => status === 204).length, 1);
  const left = await service.store.list({ collection: mounted.collection, where: null, sort: [], limit: 9 });
  assert.equal(left.length, 1);
  const last = left[0]!.record["id"] === one.id ? one : other;
  const refused = await ask("DELETE", `/badges/${last.id}`, undefined, { "x-badge": last.code });
  assert.deepEqual([refused.status, refused.json.code], [409, "last_login"]);
});

test("deletes the credentials of a deactivated or deleted user, and stops at the maximum", async (t) => {
  const { ask, service, mounted } = await start(t);
  const answers = await Promise.all([1, 2, 3, 4].map(() => ask("POST", "/badges", { label: "x" }, ada)));
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((one, other) => one - other),
    [201, 201, 409, 409],
  );
  assert.equal(answers.find(({ status }) => status === 409)!.json.code, "too_many");

  await service.store.write({ changes: [update(1, { role: "admin" })] });
  await ask("POST", "/users", { name: "Ben", email: "ben@example.com", password }, ada);
  const ben = basicHeader("ben@example.com", password);
  assert.equal((await ask("POST", "/badges", { label: "x" }, ben)).status, 201);
  const countLeft = async () =>
    (await service.store.list({ collection: mounted.collection, where: null, sort: [], limit: 9 })).length;
  assert.equal(await countLeft(), 3);

  assert.equal((await ask("PATCH", "/users/2/account", { active: false }, ada)).status, 200);
  assert.equal(await countLeft(), 2);
  await service.store.write({ changes: [update(2, { active: true, role: "admin" })] });
  assert.equal((await ask("DELETE", "/users/1", undefined, ada)).status, 204);
  assert.equal(await countLeft(), 0);
});

function update(key: number, values: Readonly<Record<string, string | boolean | null>>): Change {
  return { kind: "update", collection: accountsCollection, key, values };
}

const none = { registerTable() {}, outsideEnd: () => null };

test("does not compile without an admission and without the guard of the last login", async () => {
  const admission = {} as Admission;
  const kept = {} as OtherLogin;
  const [requireAdmission, requireOtherLogin] = [() => ({ admission }), () => kept];
  const given = { permission, maximum: 1, requireAdmission, requireOtherLogin };
  const { maximum: _, ...unlimited } = given;

  const uncalled = (): void => {
    mountCredentials({ endings: none }, badge, given);
    // @ts-expect-error a creation needs an admission
    mountCredentials({ endings: none }, badge, { ...given, requireAdmission: () => ({}) });
    // @ts-expect-error an object is no admission
    mountCredentials({ endings: none }, badge, { ...given, requireAdmission: () => ({ admission: { userId: 1 } }) });
    // @ts-expect-error a deletion needs the result of the guard
    mountCredentials({ endings: none }, badge, { ...given, requireOtherLogin: () => [] });
    // @ts-expect-error a promise of other changes is no result of the guard
    mountCredentials({ endings: none }, badge, { ...given, requireOtherLogin: async () => [] });
    // @ts-expect-error the option is required
    mountCredentials({ endings: none }, badge, { permission, maximum: 1, requireOtherLogin });
    // @ts-expect-error the option is required
    mountCredentials({ endings: none }, badge, { permission, maximum: 1, requireAdmission });
    // @ts-expect-error each user has a maximum
    mountCredentials({ endings: none }, badge, unlimited);
  };
  assert.ok(uncalled);
  assert.throws(
    // @ts-expect-error a credential is not changed
    () => mountCredentials({ endings: none }, badge, { ...given, permission: { ...permission, update: mine } }),
    /offer list, read, create, delete only/,
  );
  const fields = { user_id: integer({ readOnly: true }), code: shownOnce({ owner: "user_id" }) };
  const lasting = defineResource({ name: "lasting", id: "text", fields });
  assert.throws(
    () => mountCredentials({ endings: none }, lasting, given),
    /the credentials of a deleted user would stay/,
  );
  const held = { holder_id: badge.fields.user_id, user_id: integer({ readOnly: true }) };
  const other = defineResource({
    name: "other",
    id: "text",
    fields: { ...held, code: shownOnce({ owner: "holder_id" }) },
  });
  assert.throws(
    () => mountCredentials({ endings: none }, other, given),
    /the owner is in holder_id, .* write shownOnce\(\{ owner: "user_id" \}\)/,
  );
  const note = defineResource({ name: "note", fields: { body: text() } });
  assert.throws(
    () =>
      mountCredentials({ endings: none }, note, {
        permission: { list: anyone },
        maximum: 1,
        requireAdmission,
        requireOtherLogin,
      }),
    /it has no field shownOnce/,
  );
});

test("throws in JavaScript that skips the gate or the guard", async () => {
  const { beforeWrite } = mountCredentials({ endings: none }, badge, {
    permission,
    maximum: 1,
    requireAdmission: () => ({ admission: { userId: 1, notices: [] } as unknown as Admission }),
    requireOtherLogin: () => [] as unknown as OtherLogin,
  });
  const write = (kind: string) => beforeWrite!({ kind, current: {}, context: { params: {} } } as never);

  await assert.rejects(async () => write("create"), /needs an Admission/);
  await assert.rejects(async () => write("delete"), /needs the result of confirming\.keepOtherLogin/);
  await assert.rejects(async () => write("update"), /credentials are not changed/);
});

test("throws if the admission is for another user than the path names", async () => {
  const { beforeWrite } = mountCredentials({ endings: none }, badge, {
    permission,
    maximum: 1,
    requireAdmission: () => ({ admission: admitted(7) }),
    requireOtherLogin: () => [] as unknown as OtherLogin,
  });
  const write = async (params: object) => beforeWrite!({ kind: "create", context: { params } } as never);

  await assert.rejects(write({ user_id: 8 }), /the admission is for another user/);
  assert.deepEqual((await write({ user_id: 7 })).values, { user_id: 7 });
  const { values, changes = [] } = await write({});
  assert.deepEqual(values, { user_id: 7 });
  // The account may be deactivated between the admission and the write.
  assert.deepEqual(
    changes.map((change) => [change.kind, "name" in change ? change.name : null]),
    [["require", "not_active"]],
  );
});

test("throws if the guard of the last login was for another user than the owner", async (t) => {
  const people = accounts(open);
  const { service } = await serve(t, people, [basicLogin(people)]);
  const { accounts: users, confirming } = service.use(people);
  const account = (await users.find(1))!;
  for (const leaving of ["program", { collection: accountsCollection, id: 1 }] as const) {
    const { beforeWrite } = mountCredentials({ endings: none }, badge, {
      permission,
      maximum: 1,
      requireAdmission: () => ({ admission: admitted(7) }),
      requireOtherLogin: () => confirming.keepOtherLogin(account, leaving),
    });
    const remove = async (user_id: number) => beforeWrite!({ kind: "delete", current: { user_id } } as never);

    await assert.rejects(remove(7), /guarded another user/);
    assert.ok((await remove(1)).changes);
  }
});
