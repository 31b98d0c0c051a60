import assert from "node:assert/strict";
import path from "node:path";
import { after, test } from "node:test";
import { anyone, defineResource, integer, mount, reference } from "../../src/door/index.ts";
import { importRecords } from "../../src/service/records/import-records.ts";
import { formatResourceName } from "../../src/service/records/resource-names.ts";
import { readSettings } from "../../src/service/settings/settings.ts";
import { openOperator } from "../../src/service/system/operator.ts";
import { placeFor } from "../harness/cli.ts";
import { startPostgres, type TestServer } from "../harness/postgres.ts";
import { adminPassword } from "../harness/serve.ts";

const seat = defineResource({
  name: "seat",
  fields: { row: integer(), place: integer({ optional: true }), beside_id: reference("seats", { optional: true }) },
  unique: [
    ["row", "place"],
    ["row", "beside_id"],
  ],
});
const mounts = [mount(seat, { permission: anyone })];

let server: Promise<TestServer> | null = null;
after(async () => (await server)?.stop());

const databases = {
  SQLite: async (folder: string) => `sqlite:${path.join(folder, "latchkey.db")}`,
  PostgreSQL: async () => (await (server ??= startPostgres())).makeDatabase(),
};

for (const [engine, makeDatabase] of Object.entries(databases))
  test(`imports the lines that no set refuses, and names the fields of the others (${engine})`, async (t) => {
    const place = placeFor();
    t.after(() => place[Symbol.dispose]());
    const settings = {
      LATCHKEY_DATABASE: await makeDatabase(place.folder),
      LATCHKEY_SECRET: "a secret that all processes of the service know",
      LATCHKEY_ADMIN_PASSWORD: adminPassword,
    };
    const operator = await openOperator({ settings: readSettings(settings), config: { mounts }, mayCreate: true });
    t.after(() => operator.close());
    const target = operator.mounts.find((each) => formatResourceName(each) === "seats")!;
    const run = await importRecords(operator, target, {
      file: "seats",
      isText: false,
      withIds: true,
      dryRun: false,
      as: null,
    });
    const records = [
      { id: 1, row: 1, place: 1, beside_id: 2 },
      { id: 2, row: 1, place: 2, beside_id: 1 },
      { id: 3, row: 2, place: 2, beside_id: null },
      { id: 4, row: 2, place: 2, beside_id: null },
      { id: 5, row: 1, place: null, beside_id: 2 },
      { id: 6, row: 3, place: 1, beside_id: 7 },
      { id: 7, row: 2, place: 2, beside_id: 6 },
    ];
    const lines = async function* () {
      for (const [at, record] of records.entries()) yield { line: at + 1, record };
    };
    const ordered = [];
    for await (const each of run.orderLines(lines())) ordered.push(each);

    const refused = [...(await run.add(ordered)), ...(await run.end())];

    const together = "These values together are already taken.";
    const [one, other, ...more] = refused.toSorted((a, b) => a.line - b.line);
    // The reference of the first line is set last, because its record comes later.
    assert.deepEqual(one, {
      line: 1,
      reasons: ["beside_id: Another record has this value already. The record was imported without it."],
    });
    assert.deepEqual(other, { line: 4, reasons: [`row: ${together}`, `place: ${together}`] });
    assert.deepEqual(more, [
      { line: 6, reasons: ["beside_id: There is no record with this id. The record was imported without it."] },
      { line: 7, reasons: [`row: ${together}`, `place: ${together}`] },
    ]);
  });
