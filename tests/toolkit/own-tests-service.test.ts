import assert from "node:assert/strict";
import { test } from "node:test";
import {
  accounts,
  administrator,
  anyOf,
  authenticated,
  defineEndpoint,
  defineResource,
  mount,
  owner,
  problem,
  scope,
  sessionLogin,
  text,
  caller,
  integer,
  Secret,
} from "../../src/door/index.ts";
import { defineConfig } from "../../src/service/service.ts";
import { assertProblem, testLatchkey, testService } from "../../src/testing/testing.ts";

const note = defineResource({
  name: "note",
  fields: { body: text({ maxLength: 20 }), owner_id: integer({ default: caller }) },
});
const notes = mount(note, { permission: anyOf(owner("owner_id"), administrator) });
const config = defineConfig({ without: ["orders"], mounts: [notes] });

test("starts a service from a config file, and calls it as an unknown caller, as users and as an administrator", async () => {
  await using api = await testLatchkey(config);
  const [ann, ben, root] = [await api.user(), await api.user({ name: "Ben" }), await api.user({ role: "admin" })];

  const made = await api.as(ann).post("/notes", { body: "Buy milk" });
  const { id } = made.record(note);

  assert.equal(made.status, 201);
  assert.deepEqual((await api.as(ann).get("/notes")).records(note), [{ id, body: "Buy milk", owner_id: ann.id }]);
  assert.deepEqual((await api.as(ben).get("/notes")).records(note), []);
  assert.equal((await api.as(root).get(`/notes/${id}`)).status, 200);
  assert.equal((await api.get(`/notes/${id}`)).status, 401);
  assert.equal((await api.as(root).get("/users")).records({ ...note, plural: "users" }).length, 3);
});

test("reads a user's role and status for each request", async () => {
  await using api = await testLatchkey(config);
  const [ann, root] = [await api.user(), await api.user({ role: "admin" })];
  const asAnn = api.as(ann);
  const change = (values: object) => api.as(root).patch(`/users/${ann.id}/account`, values);

  const before = await asAnn.get(`/users/${root.id}/account`);
  await change({ role: "admin" });
  const promoted = await asAnn.get(`/users/${root.id}/account`);
  await change({ active: false });
  const ended = await asAnn.get(`/users/${root.id}/account`);

  assert.deepEqual([before.status, promoted.status, ended.status], [403, 200, 401]);
});

test("limits a caller to the scopes that the test names", async () => {
  const shelf = mount(note, { permission: scope("notes") });
  await using api = await testService({ mounts: [shelf] });

  const limited = await api.as({ id: 1 }, { scopes: ["other"] }).get("/notes");
  const allowed = await api.as({ id: 1 }, { scopes: ["notes"] }).get("/notes");

  assertProblem(limited, 403, "permission_denied");
  assert.equal(allowed.status, 200);
});

test("keeps the clock still until the test moves it, and expires sessions by this clock", async () => {
  const people = accounts({ registration: "open" });
  await using api = await testService({
    people,
    secret: new Secret("a secret of thirty-two characters"),
    features: [people, sessionLogin(people, { idleSeconds: 60, lifetimeSeconds: 100 })],
    now: Date.parse("2030-01-01T00:00:00Z"),
  });
  const password = "correct horse battery";
  await api.post("/users", { name: "Ann", email: "ann@example.com", password });
  const { headers } = await api.post("/api/session/", { username: "ann@example.com", password });
  const cookie = (headers.get("set-cookie") ?? "").split(";")[0]!;

  const at = api.clock.now;
  const before = await api.get("/users/1/account", { cookie });
  api.clock.turn(101);
  const after = await api.get("/users/1/account", { cookie });

  assert.equal(at, Date.parse("2030-01-01T00:00:00Z"));
  assert.equal(before.status, 200);
  assert.notEqual(after.status, 200);
});

test("accepts any id as the caller of a service without accounts, and creates no users there", async () => {
  await using api = await testService({ mounts: [mount(note, { permission: authenticated })] });

  const made = await api.as({ id: 7, role: "editor" }).post("/notes", { body: "Hello" });

  assert.equal(made.record(note).owner_id, 7);
  await assert.rejects(api.user(), /testService\(\{ people/);
});

test("creates no user with an undeclared role or a taken name", async () => {
  await using api = await testLatchkey(config);
  await api.user({ username: "ann" });

  await assert.rejects(api.user({ role: "editor" }), /There is no role editor\. The declared roles are user, admin\./);
  await assert.rejects(api.user({ username: "ann", email: "other@example.com" }), /The user ann cannot be made/);
});

test("reports mistakes in the calls of a test, with the fix", async () => {
  await using api = await testLatchkey(config);
  const ann = api.user();
  assert.throws(
    () => api.as(ann as never),
    /as: the caller is a promise; write as\(await api\.user\(\)\), or as\(\{ id: 1 \}\)/,
  );
  assert.equal((await api.as(await ann).get("/users")).status, 200);
  await assert.rejects(api.get("users"), /GET users: a path begins with a slash: \/users/);

  await assert.rejects(api.user({ activ: false } as object), /user: there is no option activ; did you mean active\?/);
  await assert.rejects(
    api.get("/users", { headers: { accept: "text/html" } } as never),
    /GET \/users: the header field headers is an object, not a text\. Write fields by name/,
  );
});

test("prints the stack of a fault, and adds the fault to the observations", async (t) => {
  const printed: string[] = [];
  t.mock.method(process.stderr, "write", (line: string) => printed.push(line) > 0);
  const broken = defineEndpoint({
    method: "GET",
    path: "/broken",
    access: "open",
    handle: () => {
      throw new RangeError("out of range");
    },
  });
  await using api = await testService({ endpoints: [broken] });

  const reply = await api.get("/broken");
  t.mock.reset();

  assertProblem(reply, 500, "internal");
  assert.match(printed.join(""), /RangeError: out of range[^]*own-tests-service\.test\.ts/);
  assert.ok(api.observed.some(({ kind }) => kind === "fault"));
});

test("shows the request and the response in the message of a failed expectation", async () => {
  const refuse = defineEndpoint({
    method: "GET",
    path: "/refused",
    access: "open",
    handle: () => {
      throw problem("conflict");
    },
  });
  await using api = await testService({ endpoints: [refuse], mounts: [mount(note, { permission: authenticated })] });
  const refused = await api.get("/refused");
  const invalid = await api.as({ id: 1 }).post("/notes", { body: "", colour: "red" });
  const good = await api.as({ id: 1 }).get("/notes");

  assertProblem(refused, 409, "conflict");
  assertProblem(invalid, 400, "invalid", { "/body": "too_short", "/colour": "unknown_field" });
  for (const [status, code, issues] of [
    [404, "conflict", undefined],
    [409, "not_found", undefined],
    [409, "conflict", { "/body": "too_short" }],
  ] as const)
    assert.throws(
      () => assertProblem(refused, status, code, issues),
      { name: "AssertionError", message: /^GET \/refused: .* was expected, but the answer is 409 / },
      `${status} ${code}`,
    );
  for (const issues of [{}, { "/body": "too_short" }, { "/body": "too_long", "/colour": "unknown_field" }])
    assert.throws(() => assertProblem(invalid, 400, "invalid", issues), { name: "AssertionError" });
  assert.throws(() => assertProblem(good, 200, "conflict"), { name: "AssertionError" });
  assert.throws(() => refused.record(note), { name: "AssertionError" });
  assert.throws(() => good.record(note), { name: "AssertionError" });
  assert.throws(() => invalid.records(note), { name: "AssertionError" });
});

test("sends text and bytes unchanged, with the content type that the test names", async () => {
  await using api = await testService({ mounts: [mount(note, { permission: authenticated })] });
  const xml = { "Content-Type": "application/xml" };

  const fromText = await api.as({ id: 1 }).post("/notes", "<note><body>Hello</body></note>", xml);
  const fromBytes = await api.as({ id: 1 }).post("/notes", Buffer.from('{"body":"Hello"}'));
  const broken = await api.as({ id: 1 }).post("/notes", "{");

  assert.deepEqual([fromText.status, fromBytes.status], [201, 201]);
  assertProblem(broken, 400, "malformed");
});

test("ignores the environment variables of the process", async (t) => {
  process.env["LATCHKEY_SCHEMES"] = "nonsense";
  t.after(() => delete process.env["LATCHKEY_SCHEMES"]);

  await using api = await testLatchkey(config, { environment: { LATCHKEY_SCHEMES: "basic" } });

  assert.match((await api.get("/users")).headers.get("www-authenticate") ?? "", /^Basic/);
});
