import assert from "node:assert/strict";
import { test } from "node:test";
import { totpCode } from "../../src/testing/testing.ts";
import { addTOTP, cookiesOf, startLogin } from "../harness/factors.ts";
import { outsideLogins } from "../harness/outside-logins.ts";
import { serve } from "../harness/serve.ts";

// What the gate refuses after its first step: proofs that are not enough together, logins that have ended meanwhile, and
// bodies that lack something.

const bearer = (access: string) => ({ authorization: `Bearer ${access}` });

test("completes no login with two proofs of one kind", async (t) => {
  const api = await serve(t, { config: { features: outsideLogins().features } });
  const ann = await addTOTP(api, "Ann");

  for (const kind of ["session", "tokens"]) {
    const first = await api.post(`/badge/${kind}`, undefined, { "x-badge-login": ann.email });
    assert.equal(first.json.code, "factor_required");
    const cookie = kind === "session" ? cookiesOf(first) : {};
    const { pending } = first.json.login;
    // The badge and the code are both something that the user has.
    const refused = await api.post("/api/login/", { pending, factor: ann.factor, code: ann.code() }, cookie);
    assert.deepEqual([refused.status, refused.json.code], [401, "factor_required"], refused.text);
    assert.match(refused.json.detail, /another kind of proof/);
    assert.ok(refused.headers.has("www-authenticate"));
    assert.doesNotMatch(refused.headers.getSetCookie().join(), /session=[^;]/);
    api.clock.turn(30);
  }
  const { pending } = (await startLogin(api, ann)).json.login;
  assert.equal((await api.post("/api/login/", { pending, factor: ann.factor, code: ann.code() })).status, 200);
});

test("gives no login that is not enough to a user who adds the first factor", async (t) => {
  const api = await serve(t, { config: { features: outsideLogins().features } });
  const ann = await api.user("Ann");
  const { access } = (await api.post("/badge/tokens", undefined, { "x-badge-login": ann.email })).json;
  const made = (await api.post(`/users/${ann.id}/factors`, { kind: "totp" }, bearer(access))).json;
  const code = totpCode(made.secret, api.clock.now);

  const confirmed = await api.post(`/users/${ann.id}/factors/${made.id}/confirm`, { code }, bearer(access));

  assert.equal(confirmed.status, 200, confirmed.text);
  assert.equal("access" in confirmed.json, false);
  assert.equal((await api.get("/protected/", bearer(access))).status, 401);
});
