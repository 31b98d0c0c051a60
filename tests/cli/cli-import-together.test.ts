import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { placeFor, type Machine } from "../harness/cli.ts";
import { resolveModule } from "../harness/command.ts";
import { startPostgres } from "../harness/postgres.ts";

// `latchkey import` takes several files whose records refer to each other, in any order.

const door = (name: string): string => pathToFileURL(resolveModule(`door/${name}`)).href;
const declared = `
import { anyone, defineResource, mount, reference, text } from ${JSON.stringify(door("index"))};
import { references } from ${JSON.stringify(door("resources"))};

const optional = { optional: true };
const fields = {
  aa: { name: text({ unique: true }), b_id: reference("bbs", optional), next_id: reference("aas", optional) },
  bb: { name: text(), a_id: reference("aas", optional), cs: references("ccs", { id: "uuid", default: [] }) },
  cc: { name: text(), a_id: reference("aas") },
  dd: { name: text(), e_id: reference("ees") },
  ee: { name: text(), d_id: reference("dds") },
};
const made = Object.entries(fields).map(([name, fields]) =>
  defineResource({ name, fields, ...(name === "cc" ? { id: "uuid" } : {}) }));
const part = defineResource({ name: "part", within: made[0], fields: { name: text() } });
export default { mounts: [...made, part].map((each) => mount(each, { permission: anyone })) };
`;

const uuid = (at: number): string => `00000000-0000-4000-8000-00000000000${at}`;

/** The records a1 to a3 and b1 to b3 refer to each other, also by way of c1. */
const records = {
  aas: [
    { id: 1, name: "a1", b_id: 1, next_id: 2 },
    { id: 2, name: "a2", b_id: 3, next_id: 1 },
    { id: 3, name: "a3", b_id: null, next_id: null },
  ],
  bbs: [
    { id: 1, name: "b1", a_id: 1, cs: [uuid(1), uuid(2)] },
    { id: 2, name: "b2", a_id: null, cs: [] },
    { id: 3, name: "b3", a_id: 3, cs: [uuid(1)] },
  ],
  ccs: [
    { id: uuid(1), name: "c1", a_id: 1 },
    { id: uuid(2), name: "c2", a_id: 2 },
  ],
  "aas/parts": [{ id: 1, aa_id: 2, name: "part" }],
};
type Named = keyof typeof records;

const format = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const fileOf = (name: string): string => `${name.replace("/", "-")}.jsonl`;

async function placeOn(t: TestContext, database?: string): Promise<Machine> {
  const secret = { LATCHKEY_SECRET: "a secret that all processes of the service know" };
  const place = placeFor({ ...secret, ...(database === undefined ? {} : { LATCHKEY_DATABASE: database }) });
  t.after(() => place[Symbol.dispose]());
  writeFileSync(path.join(place.folder, "latchkey.config.ts"), declared);
  for (const [name, rows] of Object.entries(records)) write(place, fileOf(name), rows);
  const { code, errors } = await place.run(["db", "migrate"]);
  assert.equal(code, 0, errors);
  return place;
}

function write(place: Machine, name: string, rows: readonly object[]): void {
  writeFileSync(path.join(place.folder, name), format(rows));
}

function together(place: Machine, names: readonly string[], ...options: readonly string[]) {
  return place.run(["import", ...names.flatMap((name) => [name, fileIn(place, name)]), "--with-ids", ...options]);
}

const fileIn = (place: Machine, name: string): string => path.join(place.folder, fileOf(name));

async function stored(place: Machine, name: string): Promise<readonly unknown[]> {
  const { out } = await place.run(["export", name]);
  return out.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as unknown]));
}

async function assertStored(place: Machine, names: readonly Named[]): Promise<void> {
  for (const name of names) assert.deepEqual(await stored(place, name), records[name], name);
}

const two: readonly Named[] = ["aas", "bbs"];
const all: readonly Named[] = ["aas/parts", "bbs", "ccs", "aas"];

async function importsTogether(place: Machine, names: readonly Named[]): Promise<void> {
  const tried = await together(place, names, "--dry-run");
  assert.deepEqual([tried.code, tried.errors, tried.out], [0, "", "9 could be imported, 0 refused.\n"]);
  assert.deepEqual(await stored(place, "aas"), []);

  const { code, errors, out } = await together(place, names);
  assert.deepEqual([code, errors, out], [0, "", "9 imported, 0 refused.\n"]);
  await assertStored(place, names);

  const again = await together(place, names);
  assert.deepEqual([again.code, again.out], [1, "0 imported, 9 refused.\n"]);
  await assertStored(place, ["aas"]);
}

test("imports files that refer to each other in a circle (SQLite)", async (t) => {
  await importsTogether(await placeOn(t), all);
});

test("imports files that refer to each other in a circle, in the reverse order (PostgreSQL)", async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  await importsTogether(await placeOn(t, await server.makeDatabase()), all.toReversed());
});

test("imports CSV files that refer to each other", async (t) => {
  const from = await placeOn(t);
  for (const name of two)
    write(
      from,
      fileOf(name),
      records[name].map((row) => ({ ...row, ...("cs" in row ? { cs: [] } : {}) })),
    );
  assert.equal((await together(from, two)).code, 0);
  const to = await placeOn(t);
  const files = two.map((name) => path.join(to.folder, `${name}.csv`));
  for (const [at, name] of two.entries()) assert.equal((await from.run(["export", name, files[at]!])).code, 0);

  const { errors, out } = await to.run(["import", "bbs", files[1]!, "aas", files[0]!, "--with-ids"]);

  assert.deepEqual([errors, out], ["", "6 imported, 0 refused.\n"]);
  for (const name of two) assert.deepEqual(await stored(to, name), await stored(from, name));
});

test("reports references that no file has, and changes no record that exists already", async (t) => {
  const place = await placeOn(t);
  write(place, "first.jsonl", [{ id: 3, name: "here", b_id: null, next_id: null }]);
  await place.run(["import", "aas", path.join(place.folder, "first.jsonl"), "--with-ids"]);
  write(place, fileOf("aas"), [
    { id: 1, name: "a1", b_id: 9, next_id: null },
    { id: 2, name: "a2", b_id: 1, next_id: null },
    { id: 3, name: "a3", b_id: 1, next_id: null },
  ]);
  write(place, fileOf("bbs"), [
    { id: 1, name: "b1", a_id: 2 },
    { id: 2, name: "b2", a_id: 8 },
  ]);
  const tried = await together(place, two, "--dry-run");
  assert.match(tried.errors, /^aas line 1: b_id: There is no record with this id\.$/m);
  assert.match(tried.errors, /^bbs line 2: a_id: There is no record with this id\.$/m);

  const { code, out } = await together(place, two, "--json");

  assert.equal(code, 1);
  assert.deepEqual(JSON.parse(out), {
    imported: 2,
    refused: [
      {
        line: 1,
        reasons: ["b_id: There is no record with this id. The record was imported without it."],
        resource: "aas",
      },
      { line: 2, reasons: ["a_id: There is no record with this id."], resource: "bbs" },
      { line: 3, reasons: ["id: This value is already taken."], resource: "aas" },
    ],
  });
  assert.deepEqual(
    (await stored(place, "aas")).map((each) => (each as { b_id: unknown }).b_id),
    [null, 1, null],
  );
});

test("refuses files whose records require each other, and says what to do", async (t) => {
  const place = await placeOn(t);
  write(place, fileOf("dds"), [{ id: 1, name: "d", e_id: 1 }]);
  write(place, fileOf("ees"), [{ id: 1, name: "e", d_id: 1 }]);

  const { code, errors } = await together(place, ["dds", "ees"]);

  assert.equal(code, 1);
  assert.match(errors, /The records of dds and ees require each other, so none of them can be the first\./);
  assert.deepEqual(await stored(place, "dds"), []);
});

test("refuses several files that it cannot bring together, before it writes", async (t) => {
  const place = await placeOn(t);
  const [aas, bbs] = [fileIn(place, "aas"), fileIn(place, "bbs")];
  for (const [args, reason] of [
    [["aas", aas, "bbs", bbs], /Several files need --with-ids\./],
    [["aas", aas, "bbs", "--with-ids"], /Each resource is followed by its file\./],
    [["aas", aas, "bbs", "-", "--with-ids"], /Several files cannot come from standard input/],
    [["aas", aas, "aas", bbs, "--with-ids"], /Name each resource once\./],
    [["aas", aas, "bbs", `${bbs}.none`, "--with-ids"], /cannot be read \(ENOENT\)/],
  ] as const) {
    const { code, errors } = await place.run(["import", ...args]);
    assert.notEqual(code, 0);
    assert.match(errors, reason);
  }
  assert.deepEqual(await stored(place, "aas"), []);
});
