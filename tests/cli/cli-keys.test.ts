import assert from "node:assert/strict";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { placeFor } from "../harness/cli.ts";
import { startService, type ServiceProcess } from "../harness/service-process.ts";

interface ShownKey {
  readonly kid: string;
  readonly alg: string;
  readonly state: string;
}

test("changes keys under load without a failed request, and ends the tokens of a retired key", async () => {
  using place = placeFor({ LATCHKEY_SIGNING_KEYS: "keys.json" });
  const file = path.join(place.folder, "keys.json");
  const first = (await place.json(["key", "new"])) as ShownKey;
  const settings = {
    LATCHKEY_SIGNING_KEYS: file,
    LATCHKEY_DATABASE: `sqlite:${path.join(place.folder, "latchkey.db")}`,
    LATCHKEY_ADMIN_PASSWORD: "of both processes",
  };
  await using service = await startService(settings);
  await using other = await startService(settings);
  const json = { "content-type": "application/json" };
  const body = JSON.stringify({ username: "admin", password: "of both processes" });
  const login = async ({ address }: ServiceProcess): Promise<string> => {
    const answer = await fetch(`${address}/api/token/`, { method: "POST", headers: json, body });
    return ((await answer.json()) as { access: string }).access;
  };
  const ask = async ({ address }: ServiceProcess, token: string): Promise<number> =>
    (await fetch(`${address}/protected/`, { headers: { authorization: `Bearer ${token}` } })).status;
  const early = await login(service);
  const statuses = new Map<number, number>();
  let rotating = true;
  const load = async (one: ServiceProcess, another: ServiceProcess): Promise<void> => {
    while (rotating) {
      const token = await login(one);
      for (const each of [early, token, token]) {
        const status = await ask(another, each);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    }
  };
  const lanes = [load(service, other), load(other, service)];

  const second = (await place.json(["key", "new", "--alg", "ES256"])) as ShownKey;
  const activated = (await place.json(["key", "activate", second.kid])) as ShownKey;
  const published = (await (await fetch(`${other.address}/.well-known/jwks.json`)).json()) as { keys: ShownKey[] };
  rotating = false;
  await Promise.all(lanes);

  assert.deepEqual([...statuses.keys()], [200]);
  assert.deepEqual([first.state, second.state, activated.state], ["signs", "verifies", "signs"]);
  assert.deepEqual(
    published.keys.map(({ kid, alg }) => [kid, alg]),
    [
      [second.kid, "ES256"],
      [first.kid, "EdDSA"],
    ],
  );

  const signing = await place.run(["key", "retire", second.kid]);
  const living = await place.run(["key", "retire", first.kid]);
  const listed = (await place.json(["key", "list"])) as ShownKey[];
  assert.deepEqual([signing.code, /is the signing key/.test(signing.errors)], [1, true]);
  assert.deepEqual([living.code, /are valid until 20/.test(living.errors)], [1, true]);
  assert.deepEqual(
    listed.map(({ state }) => state),
    ["signs", "verifies"],
  );
  assert.equal(await ask(service, early), 200);

  assert.equal((await place.run(["key", "retire", first.kid, "--force"])).code, 0);
  // This request makes the service read the key file now. Otherwise the service reads it only about once a second.
  await fetch(`${service.address}/.well-known/jwks.json`);
  assert.equal(await ask(service, early), 401);
  assert.equal(await ask(service, await login(service)), 200);
});

test("switches from the derived key to a key file while processes with and without the file accept each other's tokens", async () => {
  using place = placeFor({ LATCHKEY_SIGNING_KEYS: "keys.json" });
  const settings = {
    LATCHKEY_DATABASE: `sqlite:${path.join(place.folder, "latchkey.db")}`,
    LATCHKEY_ADMIN_PASSWORD: "of both processes",
  };
  const body = JSON.stringify({ username: "admin", password: "of both processes" });
  const headers = { "content-type": "application/json" };
  const login = async ({ address }: ServiceProcess): Promise<string> =>
    ((await (await fetch(`${address}/api/token/`, { method: "POST", headers, body })).json()) as { access: string })
      .access;
  const ask = async ({ address }: ServiceProcess, token: string): Promise<number> =>
    (await fetch(`${address}/protected/`, { headers: { authorization: `Bearer ${token}` } })).status;
  await using before = await startService(settings);
  const early = await login(before);

  const made = (await place.json(["key", "new"])) as ShownKey;
  await using after = await startService({ ...settings, LATCHKEY_SIGNING_KEYS: path.join(place.folder, "keys.json") });
  const meanwhile = await login(after);

  assert.equal(made.state, "verifies");
  const [derived] = (await place.json(["key", "list"])) as ShownKey[];
  assert.equal(derived!.state, "signs");
  for (const token of [early, meanwhile])
    assert.deepEqual([await ask(before, token), await ask(after, token)], [200, 200]);

  await place.json(["key", "activate", made.kid]);
  await fetch(`${after.address}/.well-known/jwks.json`);
  const late = await login(after);
  const readKid = (token: string) =>
    (JSON.parse(Buffer.from(token.split(".")[0]!, "base64url").toString()) as ShownKey).kid;
  assert.deepEqual([early, meanwhile, late].map(readKid), [derived!.kid, derived!.kid, made.kid]);
  for (const token of [early, meanwhile, late]) assert.equal(await ask(after, token), 200);

  // A kid may begin with a hyphen. After `--`, the command does not read the kid as an option.
  assert.match((await place.run(["key", "retire", "--", derived!.kid])).errors, /are valid until 20/);
  assert.equal((await place.run(["key", "retire", "--force", "--", derived!.kid])).code, 0);
  await fetch(`${after.address}/.well-known/jwks.json`);
  assert.deepEqual([await ask(after, early), await ask(after, late)], [401, 200]);
});

test("creates no key file if the secret cannot be read, because tokens of the derived key would become invalid", async () => {
  using place = placeFor({ LATCHKEY_SIGNING_KEYS: "keys.json" });
  const secret = path.join(place.folder, "latchkey.secret");
  writeFileSync(secret, "the server's own secret of this test, which is long");
  chmodSync(secret, 0o644);

  const open = await place.run(["key", "new"]);
  chmodSync(secret, 0o600);
  const closed = await place.run(["key", "new", "--alg", "ES256"]);

  assert.deepEqual([open.code, /chmod 600/.test(open.errors)], [78, true]);
  assert.equal(closed.code, 0);
  assert.match(closed.out, /the previous key still signs/);
  assert.ok(!(open.errors + closed.out + closed.errors).includes("which is long"));
  assert.equal(((await place.json(["key", "list"])) as ShownKey[]).length, 2);
});

test("makes the key file private to its owner, and leaves a broken key file unchanged", async () => {
  using place = placeFor({ LATCHKEY_SIGNING_KEYS: "keys.json" });
  const file = path.join(place.folder, "keys.json");
  const made = await place.run(["key", "new"]);
  const mode = statSync(file).mode & 0o777;
  const { d } = (JSON.parse(readFileSync(file, "utf8")) as { keys: { d: string }[] }).keys[0]!;
  writeFileSync(file, '{"keys":[{"kty":"oct"}]}');

  const broken = await place.run(["key", "new"]);

  assert.equal(mode, 0o600);
  assert.ok(!(made.out + made.errors).includes(d));
  assert.deepEqual([broken.code, readFileSync(file, "utf8")], [78, '{"keys":[{"kty":"oct"}]}']);
});

test("checks a token's checksum without a database, and explains the result of each scheme", async () => {
  using place = placeFor();
  const none = await place.run(["token", "check"], "nothing here\n");
  await place.run(["user", "create", "--name", "Ann", "--email", "ann@example.com", "--without-password"]);
  const { token } = (await place.json(["token", "create", "ann@example.com"])) as { token: string };
  const wrong = `${token.slice(0, -1)}${token.endsWith("a") ? "b" : "a"}`;
  const [checked, explained, nowhere] = await Promise.all([
    place.run(["token", "check"], `one ${token}, "${wrong}" and ${token.slice(0, 40)}\n`),
    place.run(
      ["explain", "/users", "-r", "-"],
      `GET /users HTTP/1.1\nHost: x\nAuthorization: Token ${token}\nCookie: access_token=a.b.c\n\nbody`,
    ),
    place.run(["explain", "--peer", "10.0.0"]),
  ]);

  assert.equal(none.code, 1);
  assert.deepEqual([checked.code, checked.out.match(/ (?:true|false) /g)], [1, [" true ", " false ", " false "]]);
  assert.match(explained.out, /^identified, user 1: One credential was accepted\./);
  assert.deepEqual([nowhere.code, nowhere.out], [2, ""]);
  assert.match(explained.out, /^token +accepted +Authorization: token .*user 1\.$/m);
  assert.match(
    explained.out,
    /^bearer +absent +the cookie access_token +- +The credential belongs to another scheme\.$/m,
  );
  for (const { out, errors } of [checked, explained])
    assert.ok(!(out + errors).includes(token.slice(20)), "no output contains the secret part of the token");
});
