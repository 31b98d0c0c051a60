import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { computeCode, computeStep } from "../../src/features/auth/totp/codes.ts";
import { placeFor } from "../harness/cli.ts";
import { parseBase32 } from "../harness/factors.ts";
import { startService } from "../harness/service-process.ts";

test("removes the lost factor of a user, who then logs in with the password alone", async () => {
  using place = placeFor({ LATCHKEY_SECOND_FACTOR: "admins" });
  const settings = { LATCHKEY_DATABASE: `sqlite:${path.join(place.folder, "latchkey.db")}` };
  await using service = await startService({ ...settings, LATCHKEY_ADMIN_PASSWORD: "first-administrator" });
  await place.run(
    ["user", "create", "--name", "Ann", "--email", "ann@example.com", "--password-stdin"],
    "correct horse\n",
  );
  const send = async (method: string, to: string, body: object, headers: object = {}) => {
    const answer = await fetch(service.address + to, {
      method,
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return { status: answer.status, json: (await answer.json()) as Readonly<Record<string, string>> };
  };
  const logIn = () => send("POST", "/api/token/", { username: "ann@example.com", password: "correct horse" });
  const bearer = { authorization: `Bearer ${(await logIn()).json["access"]}` };
  const made = await send("POST", "/users/2/factors", { kind: "totp", label: "Phone" }, bearer);
  const code = computeCode(parseBase32(made.json["secret"]!), computeStep(Date.now()));
  const confirmed = await send("POST", `/users/2/factors/${made.json["id"]!}/confirm`, { code }, bearer);
  assert.equal(confirmed.status, 200);
  assert.equal((await logIn()).json["code"], "factor_required");

  const listed = (await place.json(["user", "factor", "list", "ann@example.com"])) as { id: string; label: string }[];
  assert.deepEqual(
    listed.map(({ id, label }) => [id, label]),
    [[made.json["id"]!, "Phone"]],
  );
  const neither = await place.run(["user", "factor", "remove", "ann@example.com"]);
  assert.deepEqual([neither.code, neither.errors.includes("--all")], [1, true]);
  const missing = await place.run(["user", "factor", "remove", "ann@example.com", "999"]);
  assert.equal(missing.code, 1);
  const removed = await place.run(["user", "factor", "remove", "ann@example.com", made.json["id"]!]);

  assert.deepEqual(
    [removed.code, removed.out],
    [0, "1 factor was removed. All logins of the user were revoked.\n"],
    removed.errors,
  );
  const access = { authorization: `Bearer ${confirmed.json["access"]}` };
  assert.equal((await send("POST", "/users/2/factors", { kind: "totp" }, access)).status, 401);
  assert.equal((await logIn()).status, 200);
  assert.deepEqual(await place.json(["user", "factor", "remove", "ann@example.com", "--all"]), { id: 2, removed: 0 });
});
