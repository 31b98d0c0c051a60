import assert from "node:assert/strict";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { opaqueTokenPattern } from "../../src/door/auth.ts";
import { sqliteCollections } from "../../src/door/stores.ts";
import { items, orders } from "../../src/service/endpoints/orders.ts";
import { settingsTable } from "../../src/service/settings/table.ts";
import { assembleFor, migrateDatabase } from "../../src/service/system/migrate.ts";
import { asvsRequirements } from "../harness/asvs.ts";
import { serve } from "../harness/serve.ts";

const root = path.join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const assurance = read("docs/assurance.md");
const asvs = read("docs/asvs.md");
const security = read("SECURITY.md");

/** Returns the rows of the table below a heading as lists of cells, without the head. */
function rowsBelow(text: string, heading: string): readonly (readonly string[])[] {
  const section = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`));
  assert.ok(section !== undefined, heading);
  const rows = [...section.matchAll(/^\|(.+)\|$/gm)].map(([, cells = ""]) =>
    cells.split("|").map((each) => each.trim()),
  );
  return rows.slice(rows.findIndex(([first = ""]) => /^:?-+:?$/.test(first)) + 1);
}

/** Returns the names in backquotes in one column of the tables below a heading of `docs/assurance.md`. */
function namedIn(heading: string, column = 0): ReadonlySet<string> {
  const cells = rowsBelow(assurance, heading).map((row) => row[column] ?? "");
  return new Set(cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name)));
}

const requirements = [...asvs.matchAll(/^## (V.+)$/gm)].flatMap(([, chapter = ""]) => rowsBelow(asvs, chapter));
const deviations = rowsBelow(security, "Deviations");

test("marks each requirement of OWASP ASVS 5.0, levels 1 and 2, once as met, not applicable or a deviation, with a reason", () => {
  const markedNumbers = [...requirements, ...deviations].flatMap(([numbers = ""]) => numbers.split(", "));

  assert.equal(asvsRequirements.length, 253);
  assert.deepEqual(markedNumbers.toSorted(), asvsRequirements.toSorted());
  for (const [numbers = "", verdict = "", how = ""] of requirements) {
    assert.match(verdict, /^(?:held|not applicable)$/, numbers);
    assert.ok(how.length > 5, numbers);
  }
  for (const [numbers = "", why = ""] of deviations) assert.ok(why.length > 60, numbers);
});

test("names only existing files in docs/assurance.md, docs/asvs.md and SECURITY.md", () => {
  const named = [...`${assurance}\n${asvs}\n${security}`.matchAll(/`((?:src|tests|tools|docs|deploy)\/[\w./-]+)`/g)];

  assert.ok(named.length > 50);
  assert.deepEqual(
    named.map(([, file = ""]) => file).filter((file) => !existsSync(path.join(root, file))),
    [],
  );
});

test("lists every event of the log in docs/assurance.md, and only the debug event with level debug", () => {
  const kinds = [...read("src/core/observation.ts").matchAll(/readonly kind: "(\w+)"/g)].map(([, kind = ""]) => kind);

  assert.ok(kinds.length >= 10);
  assert.deepEqual(
    rowsBelow(assurance, "Log")
      .map(([name = ""]) => name.replaceAll("`", ""))
      .toSorted(),
    kinds.toSorted(),
  );
  const debug = /case "(\w+)":\n\s+return "debug";/.exec(read("src/features/ops/log/log.ts"))![1];
  for (const [name = "", level = ""] of rowsBelow(assurance, "Log"))
    assert.equal(level === "debug", name === `\`${debug}\``, name);
});

test("names only existing metrics in the column Counter of docs/assurance.md", () => {
  const metrics = read("docs/operation/monitoring.md");

  for (const name of namedIn("Log", 4)) assert.ok(metrics.includes(`| \`${name}\``), name);
});

test("names every scheme and the path of every login in docs/assurance.md", async (t) => {
  const ways = rowsBelow(assurance, "Every way in")
    .map(([way = ""]) => way)
    .join("\n");
  const schemes = settingsTable.schemes.parse("basic,session,token,bearer,remote-user,custom-header");
  assert.ok("value" in schemes);
  const { service } = await serve(t, {
    settings: {
      LATCHKEY_MAIL_URL: "file:mails",
      LATCHKEY_MAIL_FROM: "no-reply@example.com",
      LATCHKEY_LOGIN_CODES: "on",
      LATCHKEY_REGISTRATION: "verified",
    },
  });

  for (const scheme of schemes.value) assert.ok(ways.includes(`\`${scheme}\``), scheme);
  const logins = service.routes.filter(({ methods }) =>
    [...methods.values()].some(({ logsIn, method }) => logsIn === true && method === "POST"),
  );
  assert.ok(logins.length >= 3);
  for (const { path: address } of logins) assert.ok(ways.includes(`POST ${address}\``), address);
});

test("names every table of the database under Data in docs/assurance.md", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-assurance-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "a.db");
  await migrateDatabase(await assembleFor({ kind: "sqlite", path: file }, {}));
  const data = namedIn("Data");

  for (const { name } of (await sqliteCollections(file))!) assert.ok(data.has(name), name);
});

test("lists every served field in docs/assurance.md, in the table of readers and writers", async (t) => {
  const api = await serve(t);
  const fields = rowsBelow(assurance, "Fields: who reads and writes them").map(([field = ""]) => field);
  const has = (of: string, name: string): boolean =>
    fields.some((each) => each.startsWith(of) && each.includes(`\`${name}\``));
  const users = (await api.get("/openapi.json")).json.components.schemas;

  for (const name of ["id", ...Object.keys(orders.fields)]) assert.ok(has("order", name), `order ${name}`);
  for (const name of ["id", ...Object.keys(items.fields)]) assert.ok(has("item", name), `item ${name}`);
  const written = Object.entries(users as Record<string, { properties?: object }>)
    .filter(([name]) => /^user/i.test(name) && !/query|where|condition/i.test(name))
    .flatMap(([, { properties = {} }]) => Object.keys(properties));
  assert.ok(written.includes("current_password"));
  for (const name of written) assert.ok(has("user", name), `user ${name}`);
  for (const name of ["role", "active", "created_at", "last_login_at", "email_verified_at"])
    assert.ok(has("account", name), `account ${name}`);
});

test("lists every key that is derived from the server's secret in docs/assurance.md", () => {
  const sources = globSync("src/**/*.ts", { cwd: root, exclude: ["**/*.test.ts"] });
  const purposes = sources.flatMap((file) =>
    [...read(file).matchAll(/\bderive(?:Each|Oldest)?\("([\w:-]+)"/g)].map(([, purpose = ""]) => purpose),
  );
  const keys = namedIn("Cryptography");

  assert.ok(purposes.length >= 9);
  for (const purpose of purposes) assert.ok(keys.has(purpose), purpose);
});

test("names every setting for a connection, a secret or a limit in docs/assurance.md, docs/asvs.md or SECURITY.md", () => {
  const named = `${assurance}\n${asvs}\n${security}`;

  for (const { name } of Object.values(settingsTable))
    if (
      /(?:_SECRET|_KEY|_KEYS|_URL|ISSUERS|PROVIDERS|PROXIES|PER_ADDRESS|_COST|CLEARTEXT_LOGINS|ROTATION|HSTS)$/.test(
        name,
      )
    )
      assert.ok(named.includes(name), name);
});

test("shows no secret in docs/assurance.md, docs/asvs.md and SECURITY.md", () => {
  assert.doesNotMatch(assurance + asvs + security, opaqueTokenPattern);
});
