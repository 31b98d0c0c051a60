import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import type { IssuerDeclaration } from "../../door/auth.ts";
import type { ConfigFile } from "./config-file/config-file.ts";
import { ConfigError, readSettings, type Settings } from "./settings.ts";

const folder = mkdtempSync(path.join(tmpdir(), "latchkey-issuers-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const declared: IssuerDeclaration = {
  issuer: "https://login.example/",
  audience: "https://api.example",
  jwksURL: "https://login.example/keys",
  algorithms: ["RS256"],
};

let files = 0;

function createFile(content: unknown): string {
  const file = path.join(folder, `${++files}.json`);
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

function read(environment: Record<string, string>, config?: ConfigFile): Settings {
  return readSettings({ LATCHKEY_DATABASE: "sqlite::memory:", ...environment }, config);
}

function collectProblems(environment: Record<string, string>, config?: ConfigFile): readonly string[] {
  try {
    read(environment, config);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.problems;
  }
}

test("reads issuers from their file or from the config file, and prefers the environment", () => {
  const LATCHKEY_ISSUERS = createFile([{ ...declared, usernameClaim: "email" }]);
  const inFile = [{ ...declared, usernameClaim: "email" }];
  const inConfig = [{ ...declared, usernameClaim: "sub" }];

  assert.deepEqual(read({}).issuers, []);
  assert.deepEqual(read({ LATCHKEY_ISSUERS }).issuers, inFile);
  assert.deepEqual(read({}, { settings: { issuers: LATCHKEY_ISSUERS } }).issuers, inFile);
  assert.deepEqual(read({}, { issuers: [declared] }).issuers, inConfig);
  assert.deepEqual(read({ LATCHKEY_ISSUERS }, { issuers: [declared] }).issuers, inFile);
});

test("reads whether an issuer vouches for addresses, and refuses other values", () => {
  const { issuers } = read({ LATCHKEY_ISSUERS: createFile([{ ...declared, trust_email: true }]) });
  const wrong = { LATCHKEY_ISSUERS: createFile([{ ...declared, trust_email: "yes" }]) };

  assert.deepEqual(issuers, [{ ...declared, usernameClaim: "sub", trustEmail: true }]);
  assert.match(collectProblems(wrong).join(), /trustEmail is not true or false/);
});

test("reports a file that cannot be used, with its fix", () => {
  const missing = path.join(folder, "missing.json");
  const broken = createFile("[{");

  assert.deepEqual(collectProblems({ LATCHKEY_ISSUERS: missing }), [
    `LATCHKEY_ISSUERS names ${missing}, which cannot be read (ENOENT). Name a JSON file that this process may read.`,
  ]);
  assert.deepEqual(collectProblems({ LATCHKEY_ISSUERS: broken }), [
    `LATCHKEY_ISSUERS names ${broken}, which is not JSON. Write [{"issuer", "audience", "jwksURL", "algorithms"}] in it.`,
  ]);
  assert.deepEqual(collectProblems({ LATCHKEY_ISSUERS: createFile({ issuers: [] }) }), [
    "LATCHKEY_ISSUERS: issuers is not a list. Write [ { issuer, audience, jwksURL, algorithms } ].",
  ]);
});

test("reports every wrong field together with every other wrong setting", () => {
  const LATCHKEY_ISSUERS = createFile([
    { ...declared, algorithms: ["HS256"], jwksURL: "http://login.example/keys", jwks_uri: "x" },
    { ...declared, audience: 5 },
  ]);

  const problems = collectProblems({ LATCHKEY_ISSUERS, LATCHKEY_PORT: "80a" });

  assert.equal(problems.length, 6, problems.join("\n"));
  for (const field of ["[0] has", "[0].algorithms", "[0].jwksURL", "[1].audience", "[1].issuer"])
    assert.equal(problems.filter((each) => each.startsWith(`LATCHKEY_ISSUERS: issuers${field}`)).length, 1, field);
});

test("refuses an issuer with the name of this service", () => {
  const own = (issuer: string) => ({ issuers: [{ ...declared, issuer }] });
  const problem = /^issuers in the config file: issuers\[0\]\.issuer is ".*", which is this service itself\./;

  assert.match(collectProblems({}, own("latchkey")).join(), problem);
  assert.match(collectProblems({ LATCHKEY_ISSUER: "https://a.example" }, own("https://a.example")).join(), problem);
  assert.match(
    collectProblems({ LATCHKEY_PUBLIC_URL: "https://a.example/" }, own("https://a.example")).join(),
    problem,
  );
  assert.deepEqual(collectProblems({ LATCHKEY_ISSUER: "https://a.example" }, own("latchkey")), []);
});

test("reports issuers without the scheme bearer, and issuers that are set both as a file and as a list", () => {
  const LATCHKEY_ISSUERS = createFile([declared]);
  const withoutBearer = { LATCHKEY_SCHEMES: "basic" };

  assert.deepEqual(collectProblems({ ...withoutBearer, LATCHKEY_ISSUERS }), [
    "LATCHKEY_ISSUERS is set, but LATCHKEY_SCHEMES does not contain bearer. Add bearer there, or remove this setting.",
  ]);
  assert.deepEqual(collectProblems(withoutBearer, { issuers: [declared] }), [
    "issuers in the config file is set, but LATCHKEY_SCHEMES does not contain bearer. Add bearer there, or remove this setting.",
  ]);
  assert.deepEqual(collectProblems({}, { settings: { issuers: LATCHKEY_ISSUERS }, issuers: [declared] }), [
    "settings.issuers in the config file and issuers in the config file are both set. Keep one of them.",
  ]);
});

test("reports issuers of the wrong type, which the compiler also refuses", () => {
  const wrong: readonly ConfigFile[] = [
    // @ts-expect-error -- not a list
    { issuers: declared },
    // @ts-expect-error -- with this algorithm, a service that verifies could also sign
    { issuers: [{ ...declared, algorithms: ["HS256"] }] },
    // @ts-expect-error -- no audience
    { issuers: [{ issuer: "a", jwksURL: "https://a.example", algorithms: ["RS256"] }] },
  ];

  for (const config of wrong) assert.equal(collectProblems({}, config).length, 1);
});
