import assert from "node:assert/strict";
import { test } from "node:test";
import { accounts, basicLogin, sessionLogin } from "../../src/door/index.ts";
import { readCookies } from "../harness/factors.ts";
import { email, open, password, serve } from "../harness/own-logins.ts";

const basic = (word: string) => ({ authorization: `Basic ${Buffer.from(`${email}:${word}`).toString("base64")}` });

test("sets a password by people.changing.changePassword, which refuses weak passwords and ends every login", async (t) => {
  const people = accounts(open);
  const api = await serve(t, people, [sessionLogin(people), basicLogin(people)], { name: "shop-of-ada" });
  const offered = api.service.use(people);
  const session = readCookies(await api.ask("POST", "/api/session/", { username: email, password }));
  const account = (await offered.accounts.find(1))!;

  for (const [weak, code] of [
    ["short", "too_short"],
    ["password1", "too_common"],
    ["Shop-of-Ada", "same_as_service"],
    [email, "same_as_username"],
  ])
    await assert.rejects(
      offered.changing.changePassword(account, weak!),
      ({ issues }) => (assert.equal(issues[0].code, code), true),
    );
  assert.equal((await api.get("/users/1", session)).status, 200);

  await offered.changing.changePassword(account, "analytical-engine");
  assert.equal((await api.get("/users/1", session)).status, 401);
  assert.equal((await api.get("/users/1", basic(password))).status, 401);
  assert.equal((await api.get("/users/1", basic("analytical-engine"))).status, 200);
  await assert.rejects(offered.changing.changePassword(account, "a-third-password"), ({ code }) => code === "conflict");
});
