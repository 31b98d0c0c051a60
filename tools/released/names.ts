import { writeFileSync } from "node:fs";
import { computeCode, computeStep } from "../../src/features/auth/totp/codes.ts";
import { createLatchkey } from "../../src/service/latchkey.ts";
import { readSettings } from "../../src/service/settings/settings.ts";

/**
 * Makes a database with usernames that only the case folding of Unicode makes equal, as versions could that compared
 * them by lower case alone. Run it in a checkout of such a version (8a66b6e6), like `make.ts`:
 * `npm run released:names -- sqlite:FILE KNOWN.json`.
 */
const [database = "", file = ""] = process.argv.slice(2);
const secret = "the secret of a database that is kept for the tests";
const clock = { now: Date.parse("2026-01-31T09:00:00Z") };
const proxy = "10.0.0.1";
const service = await createLatchkey({
  settings: readSettings(
    {
      LATCHKEY_DATABASE: database,
      LATCHKEY_SECRET: secret,
      LATCHKEY_ADMIN_PASSWORD: "first-administrator",
      LATCHKEY_SCHEMES: "basic,session,token,bearer,remote-user",
      LATCHKEY_TRUSTED_PROXIES: proxy,
      LATCHKEY_REMOTE_USER_CREATE: "true",
    },
    {},
  ),
  now: () => clock.now,
});

type Headers = Readonly<Record<string, string>>;

async function ask(method: string, path: string, headers: Headers, body?: unknown, peer = "127.0.0.1") {
  clock.now += 1000;
  const init = { method, headers: { "content-type": "application/json", ...headers } };
  const sent = body === undefined ? init : { ...init, body: JSON.stringify(body) };
  const response = await service.fetch(new Request(`http://127.0.0.1:8000${path}`, sent), { peer });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return { json: JSON.parse(text), headers: response.headers };
}

const admin = { authorization: `Basic ${Buffer.from("admin:first-administrator").toString("base64")}` };
const users: { username: string; password: string; id: number; seed?: string }[] = [];
for (const username of ["ΑΣ", "ασ", "ſ", "s", "µ", "μ", "ϐοϐ", "second ſpelling"]) {
  const number = users.length + 1;
  const password = `password of number ${number}`;
  const body = { name: `Number ${number}`, email: `number${number}@example.com`, username, password };
  users.push({ username, password, id: (await ask("POST", "/users", admin, body)).json.id });
}

// The user µ has a second factor.
const { id, username, password } = users[4]!;
const session = await ask("POST", "/api/session/", {}, { username, password });
const cookie = {
  cookie: session.headers
    .getSetCookie()
    .map((each) => each.split(";")[0])
    .join("; "),
};
const factor = await ask("POST", `/users/${id}/factors`, cookie, { kind: "totp", label: "Phone" });
const seed = String(factor.json.secret);
const code = computeCode(parseBase32(seed), computeStep(clock.now + 1000));
await ask("POST", `/users/${id}/factors/${factor.json.id}/confirm`, cookie, { code });
users[4]!.seed = seed;

const proxied: { username: string; id: number }[] = [];
for (const name of ["ſmith", "smith"]) {
  const headers = {
    "x-forwarded-proto": "https",
    "x-remote-user": Buffer.from(name).toString("latin1"),
    "x-remote-email": `proxied${proxied.length + 1}@example.com`,
  };
  const { json } = await ask("GET", "/protected/", headers, undefined, proxy);
  proxied.push({ username: name, id: json.user.id });
}

await service.close();
writeFileSync(file, `${JSON.stringify({ secret, users, proxied, factor: factor.json.id }, null, 2)}\n`);

function parseBase32(text: string): Buffer {
  let bits = "";
  for (const letter of text) bits += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0");
  return Buffer.from(bits.match(/.{8}/g)!.map((octet) => Number.parseInt(octet, 2)));
}
