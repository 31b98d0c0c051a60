import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { accounts, createService, Secret } from "../../src/door/index.ts";
import { sqliteStore } from "../../src/door/stores.ts";

const source = path.join(import.meta.dirname, "../..", "src/features/auth");
const contractNames = ["accounts", "logins", "factors", "confirming", "endings", "changing"] as const;

/**
 * The code of each folder of `features/auth` that takes contracts. `accounts` offers them, and `people` declares them.
 */
const logins = new Map(
  globSync("*/feature.ts", { cwd: source }).map((feature) => {
    const folder = path.dirname(feature);
    const files = globSync(`${folder}/*.ts`, { cwd: source, exclude: ["**/*.test.ts"] });
    return [folder, files.map((file) => readFileSync(path.join(source, file), "utf8")).join("\n")] as const;
  }),
);

test("offers contracts with at most ten members", async () => {
  const people = accounts();
  const secret = new Secret("a secret of 32 characters or more, for tests");
  const service = await createService({ store: sqliteStore({ path: ":memory:" }), secret, features: [people] });
  const offer = service.use(people);
  await service.close();

  assert.deepEqual(Object.keys(offer), contractNames);
  for (const [name, contract] of Object.entries(offer)) {
    const members = Object.keys(contract);
    assert.ok(members.length <= 10, `${name} has ${members.length} members: ${members.join(", ")}`);
  }
});

test("gives each login at most three contracts", () => {
  for (const [folder, code] of logins) {
    const taken = contractNames.filter((name) => takes(code, name));
    assert.ok(taken.length > 0 && taken.length <= 3, `${folder} takes ${taken.join(", ")}`);
  }
});

/**
 * True if the code takes the contract from the offer: `const { accounts } = host.use(people)`, or
 * `host.use(people).accounts`.
 */
function takes(code: string, contract: string): boolean {
  const offers = [...code.matchAll(/const \{ ([^}]*) \} = (?:host\.)?use\((?:people|feature)\);/g)];
  const names = offers.flatMap(([, list = ""]) => list.split(", "));
  return names.includes(contract) || new RegExp(`use\\((?:people|feature)\\)\\.${contract}\\b`).test(code);
}

test("lets each login name the members of a contract that it uses, and no others", () => {
  for (const [folder, code] of logins) {
    const named = /Pick<\s*\w+Contract,([^>]*)>/g;
    const uses = code.replaceAll(named, "");
    const isWhole = /^(?!import).*\b(?:People|\w+Contract)\b(?!\[)/m.test(uses);
    assert.ok(!isWhole, `${folder} takes a whole contract`);
    const members = [...code.matchAll(named)].flatMap(([, list = ""]) => [...list.matchAll(/"(\w+)"/g)]);
    for (const [, member = ""] of members)
      assert.ok(new RegExp(`[.{ ]${member}\\b`).test(uses), `${folder} does not use ${member}`);
  }
});

test("tells a login with a second factor in at most eight files, with functions that exist", () => {
  const page = readFileSync(
    path.join(import.meta.dirname, "../..", "docs/decisions/0020-one-gate-for-logins.md"),
    "utf8",
  );
  const rows = [...page.matchAll(/^\| \d+ \| `([^`]+)` \| ([^|]+) \|/gm)];
  assert.ok(rows.length > 0 && rows.length <= 8, `${rows.length} files`);
  for (const [, file = "", names = ""] of rows) {
    const code = readFileSync(path.join(source, file), "utf8");
    for (const [, name = ""] of names.matchAll(/`(\w+)`/g))
      assert.ok(new RegExp(`(?:function|class|async) ${name}\\b`).test(code), `${file} has no ${name}`);
  }
});
