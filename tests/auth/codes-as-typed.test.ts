import assert from "node:assert/strict";
import { test } from "node:test";
import { addTOTP, startLogin } from "../harness/factors.ts";
import { startMailFlows } from "../harness/mail-flows.ts";
import { email as ada } from "../harness/own-logins.ts";
import { serve } from "../harness/serve.ts";

// Codes as people type and paste them. Each code is sent in each spelling, to every place that takes a code.

const fullWidth = (code: string): string =>
  code.replaceAll(/[0-9a-z]/g, (letter) => String.fromCodePoint(letter.codePointAt(0)! + 0xfee0));
const between = (code: string, text: string): string => `${code.slice(0, 3)}${text}${code.slice(3)}`;

const spellings: Readonly<Record<string, (code: string) => string>> = {
  "a hyphen": (code) => between(code, "-"),
  "an en dash": (code) => between(code, "\u2013"),
  "a figure dash": (code) => between(code, "\u2012"),
  "a hyphen that does not break": (code) => between(code, "\u2011"),
  "a minus sign": (code) => between(code, "\u2212"),
  "a full-width hyphen": (code) => between(code, "\uff0d"),
  blanks: (code) => ` ${between(code, " \u00a0\u3000")} `,
  "a line end": (code) => `${code}\r\n`,
  "a tab": (code) => between(code, "\t"),
  "a zero-width space": (code) => between(code, "\u200b"),
  "a byte order mark": (code) => `\ufeff${code}`,
  "marks of direction": (code) => `\u202a${code}\u202c`,
  "a soft hyphen": (code) => between(code, "\u00ad"),
  "full-width characters": fullWidth,
};

test("accepts codes of an app and recovery codes in every spelling of people", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  let recovery = ann.recoveryCodes;
  let { headers } = ann;

  for (const [name, spell] of Object.entries(spellings)) {
    const login = async (answer: object) => {
      const { pending } = (await startLogin(api, ann)).json.login;
      return api.post("/api/login/", { pending, ...answer });
    };
    api.clock.turn(60);
    const app = await login({ factor: ann.factor, code: spell(ann.code()) });
    assert.equal(app.status, 200, `${name} ${app.text}`);
    headers = { authorization: `Bearer ${app.json.access}` };
    if (recovery.length === 0)
      recovery = (await api.post(`/users/${ann.id}/factors/recovery`, undefined, headers)).json.recovery_codes;
    const [code, ...others] = recovery;
    const used = await login({ factor: "recovery", code: spell(code!) });
    assert.equal(used.status, 200, `${name} ${used.text}`);
    recovery = others;
  }
});

test("accepts codes of mails in every spelling of people", async (t) => {
  const api = await startMailFlows(t);

  for (const [name, spell] of Object.entries(spellings)) {
    api.clock.now += 3_600_000;
    const { code } = (await api.loginCode()).values;
    const done = await api.post("/api/token/", { email: ada, code: spell(code!) });
    assert.equal(done.status, 200, `${name} ${done.text}`);
  }
});

test("accepts no code with another character, or with one that is missing", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");

  for (const change of [
    (code: string) => code.slice(1),
    (code: string) => between(code, "."),
    (code: string) => `${code}0`,
  ]) {
    const { pending } = (await startLogin(api, ann)).json.login;
    for (const [factor, code] of [
      [ann.factor, ann.code()],
      ["recovery", ann.recoveryCodes[0]!],
    ] as const) {
      const wrong = await api.post("/api/login/", { pending, factor, code: change(code) });
      assert.deepEqual([wrong.status, wrong.json.code], [401, "invalid_credentials"], wrong.text);
    }
  }
});
