import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { ConfigError } from "./error.ts";
import { readSettings } from "./settings.ts";

const folder = mkdtempSync(path.join(tmpdir(), "latchkey-providers-"));
after(() => rmSync(folder, { recursive: true }));

const declared = {
  id: "company",
  title: "Company",
  issuer: "https://login.example/realms/main",
  client_id: "shop",
  client_secret: "the secret of the provider",
};
const LATCHKEY_PUBLIC_URL = "https://shop.example";

let files = 0;
function createFile(content: unknown, mode = 0o600): string {
  const file = path.join(folder, `${files++}.json`);
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  chmodSync(file, mode);
  return file;
}

function read(content: unknown, more: Readonly<Record<string, string>> = {}) {
  const LATCHKEY_IDENTITY_PROVIDERS = typeof content === "string" ? content : createFile(content);
  return readSettings({
    LATCHKEY_DATABASE: "sqlite::memory:",
    LATCHKEY_PUBLIC_URL,
    LATCHKEY_IDENTITY_PROVIDERS,
    ...more,
  });
}

function collectProblems(content: unknown, more?: Readonly<Record<string, string>>): readonly string[] {
  try {
    read(content, more);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.problems.map((each) => each.replace(/^(LATCHKEY_IDENTITY_PROVIDERS): /, ""));
  }
}

test("reads identity providers with their secrets from files", () => {
  const secretFile = createFile("the secret of the other provider\n");
  const other = { id: "other", title: "Other", issuer: "http://127.0.0.1:9000", client_id: "b" };
  const level = { acr: ["mfa"] };
  const providers = read([
    { ...declared, create: true, trust_email: true, level },
    { ...other, client_secret_file: secretFile, scopes: ["email"] },
    {
      ...other,
      id: "third",
      scopes: "openid email",
      issuer: "https://third.example",
      client_secret_file: path.basename(secretFile),
      level: 2,
    },
  ]).identityProviders;

  const shown = providers.map(({ clientSecret, ...rest }) => ({ ...rest, secret: clientSecret.reveal().toString() }));
  const { client_id: clientId, client_secret: secret, ...rest } = declared;
  assert.deepEqual(shown, [
    { ...rest, clientId, secret, create: true, trustEmail: true, level },
    {
      id: "other",
      title: "Other",
      issuer: other.issuer,
      clientId: "b",
      scopes: ["email"],
      secret: "the secret of the other provider",
    },
    {
      id: "third",
      title: "Other",
      issuer: "https://third.example",
      clientId: "b",
      level: 2,
      scopes: ["openid", "email"],
      secret: "the secret of the other provider",
    },
  ]);
});

test("names every mistake in the file with a pointer and a fix", () => {
  const { client_secret: _, ...withoutSecret } = declared;
  const none = path.join(folder, "none");
  for (const [entry, said] of [
    [{ ...declared, id: "factors" }, /^\/0\/id: factors is a word in the paths of other logins; choose another id\.$/],
    [{ ...declared, issuer: "http://login.example" }, /^\/0\/issuer: .*https address; http is for loopback only\.$/],
    [{ ...declared, client_id: undefined }, /^\/0\/client_id: it has to be a text\.$/],
    [{ ...declared, clientid: "a" }, /^\/0: there is no option clientid; did you mean client_id\?$/],
    [{ ...declared, create: "yes" }, /^\/0\/create: it has to be true or false\.$/],
    [{ ...declared, trust_email: 1 }, /^\/0\/trust_email: it has to be true or false\.$/],
    [{ ...declared, level: 3 }, /^\/0\/level: Write 1, 2 or/],
    [{ ...declared, scopes: 1 }, /^\/0\/scopes: it has to be a list of scopes/],
    [{ ...declared, client_secret: "" }, /^\/0\/client_secret is not a text/],
    [{ ...declared, client_secret_file: none }, /^\/0 has client_secret and client_secret_file\. Keep one/],
    [withoutSecret, /^\/0 has no client_secret_file\. Write the secret/],
    [{ ...withoutSecret, client_secret_file: none }, /^\/0\/client_secret_file: .*none cannot be read \(ENOENT\)\./],
    [{ ...withoutSecret, client_secret_file: createFile("") }, /^\/0\/client_secret_file: .* holds no secret/],
    [
      { ...withoutSecret, client_secret_file: createFile("a", 0o644) },
      /^\/0\/client_secret_file: .* is open to everyone \(mode 0644\)/,
    ],
    ["company", /^\/0 is a text; write/],
  ] as const) {
    const problems = collectProblems([entry]);
    assert.equal(problems.length, 1, problems.join("\n"));
    assert.match(problems[0]!, said);
  }
});

test("refuses a file that everyone can read if it contains secrets", () => {
  const [problem = "", ...more] = collectProblems(createFile([declared], 0o604));

  assert.match(problem, /\.json is open to everyone \(mode 0604\)\. Close it with: chmod o= /);
  assert.deepEqual(more, []);
  const { client_secret: _, ...rest } = declared;
  assert.deepEqual(collectProblems(createFile([{ ...rest, client_secret_file: createFile("secret") }], 0o644)), []);
});

test("refuses a file that is missing or not an array, without showing its content", () => {
  const missing = path.join(folder, "missing.json");
  assert.deepEqual(collectProblems(missing), [
    `LATCHKEY_IDENTITY_PROVIDERS names ${missing}, which cannot be read (ENOENT). Name a JSON file that this process may read.`,
  ]);
  for (const content of ["{", "{}", "null"]) {
    const [problem = ""] = collectProblems(createFile(content));
    assert.match(
      problem,
      /which is not a JSON array\. Write \[\{"id", "title", "issuer", "client_id", "client_secret_file"\}\] in it\.$/,
    );
  }
  assert.deepEqual(collectProblems([]), [
    "providers has to be a list of at least one { id, title, issuer, client_id, client_secret }.",
  ]);
});

test("reads every file that docs/guides/company-login.md shows", () => {
  const page = readFileSync(new URL("../../../docs/guides/company-login.md", import.meta.url), "utf8");
  const shown = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text = ""]) => text);
  writeFileSync(path.join(folder, "company.secret"), "secret", { mode: 0o600 });

  assert.equal(shown.length, 2);
  for (const text of shown) assert.equal(read(createFile(text)).identityProviders.length, 1);
});

test("requires the public address and the session scheme", () => {
  assert.deepEqual(collectProblems([declared], { LATCHKEY_PUBLIC_URL: "" }), [
    "LATCHKEY_PUBLIC_URL is missing. Give the public address of the service, because LATCHKEY_IDENTITY_PROVIDERS is given.",
  ]);
  assert.deepEqual(collectProblems([declared], { LATCHKEY_SCHEMES: "bearer" }), [
    "LATCHKEY_IDENTITY_PROVIDERS is set, but LATCHKEY_SCHEMES does not contain session. Add session there, or remove this setting.",
  ]);
});
