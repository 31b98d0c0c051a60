import assert from "node:assert/strict";
import path from "node:path";
import { after, test, type TestContext } from "node:test";
import { anyone, defineResource, mount, reference, text } from "../../src/door/index.ts";
import { references } from "../../src/door/resources.ts";
import { exportRecords, type ExportedRecord } from "../../src/service/records/export-records.ts";
import { importRecords, type RecordImportOptions } from "../../src/service/records/import-records.ts";
import type { ImportLine, RefusedLine } from "../../src/service/records/import-users.ts";
import { formatResourceName } from "../../src/service/records/resource-names.ts";
import { readSettings } from "../../src/service/settings/settings.ts";
import { openOperator, type Operator } from "../../src/service/system/operator.ts";
import { placeFor } from "../harness/cli.ts";
import { startPostgres, type TestServer } from "../harness/postgres.ts";
import { adminPassword } from "../harness/serve.ts";

// `latchkey import --with-ids` accepts records of one file that refer to each other, in any order.

const optional = { optional: true } as const;
const node = defineResource({
  name: "node",
  fields: { name: text(), up_id: reference("nodes", optional), root_id: reference("nodes", optional) },
});
const page = defineResource({
  name: "page",
  id: "uuid",
  fields: {
    name: text(),
    next_id: reference("pages", { ...optional, id: "uuid" }),
    like: references("pages", { id: "uuid", default: [] }),
  },
});
const step = defineResource({ name: "step", fields: { name: text(), before: reference("steps") } });
const mounts = [node, page, step].map((each) => mount(each, { permission: anyone }));

let server: Promise<TestServer> | null = null;
after(async () => (await server)?.stop());

const databases = {
  SQLite: async (folder: string) => `sqlite:${path.join(folder, "latchkey.db")}`,
  PostgreSQL: async () => (await (server ??= startPostgres())).makeDatabase(),
};

function onBoth(title: string, keep: (shop: Operator) => Promise<void>): void {
  for (const [engine, makeDatabase] of Object.entries(databases))
    test(`${title} (${engine})`, async (t: TestContext) => {
      const place = placeFor();
      t.after(() => place[Symbol.dispose]());
      const settings = {
        LATCHKEY_DATABASE: await makeDatabase(place.folder),
        LATCHKEY_SECRET: "a secret that all processes of the service know",
        LATCHKEY_ADMIN_PASSWORD: adminPassword,
      };
      const operator = await openOperator({ settings: readSettings(settings), config: { mounts }, mayCreate: true });
      t.after(() => operator.close());
      await keep(operator);
    });
}

interface Imported {
  readonly imported: number;
  readonly refused: readonly RefusedLine[];
  /** True if the import was stopped before its end. */
  readonly isStopped: boolean;
}

/** Imports records as the command does, but in batches of two. Stops after `batches` batches. */
async function imported(
  operator: Operator,
  resource: string,
  records: readonly object[],
  { batches = Infinity, ...overrides }: Partial<RecordImportOptions> & { readonly batches?: number } = {},
): Promise<Imported> {
  const mount = operator.mounts.find((each) => formatResourceName(each) === resource)!;
  const options = { file: null, isText: false, withIds: true, dryRun: false, as: null, ...overrides };
  const running = await importRecords(operator, mount, options);
  const refused: RefusedLine[] = [];
  let [made, count] = [0, 0];
  let batch: ImportLine[] = [];
  const flush = async (): Promise<void> => {
    const refusals = await running.add(batch);
    refused.push(...refusals);
    made += batch.length - refusals.length;
    batch = [];
  };
  for await (const line of running.orderLines(numberRecords(records))) {
    batch.push(line);
    if (batch.length < 2) continue;
    if (count++ >= batches) return { imported: made, refused, isStopped: true };
    await flush();
  }
  await flush();
  refused.push(...(await running.end()));
  return { imported: made, refused, isStopped: false };
}

async function* numberRecords(records: readonly object[]): AsyncGenerator<ImportLine> {
  for (const [at, record] of records.entries()) yield { line: at + 1, record: { ...record } };
}

async function all({ mounts, store }: Operator, resource: string): Promise<readonly ExportedRecord[]> {
  const found: ExportedRecord[] = [];
  const one = mounts.find((each) => formatResourceName(each) === resource)!;
  for await (const records of exportRecords(store, one)) found.push(...records);
  return found;
}

/** The root (9) comes last. The nodes 3 to 5 form a circle, and node 6 refers to itself. */
const nodes = [
  { id: 1, name: "leaf", up_id: 2, root_id: 9 },
  { id: 2, name: "branch", up_id: 7, root_id: 9 },
  { id: 3, name: "one", up_id: 4, root_id: null },
  { id: 4, name: "two", up_id: 5, root_id: 9 },
  { id: 5, name: "three", up_id: 3, root_id: 1 },
  { id: 6, name: "itself", up_id: 6, root_id: 6 },
  { id: 7, name: "bough", up_id: 9, root_id: 9 },
  { id: 8, name: "alone", up_id: null, root_id: null },
  { id: 9, name: "root", up_id: null, root_id: 9 },
];

const uuid = (at: number): string => `00000000-0000-4000-8000-00000000000${at}`;
/** Each page refers to all others in `like`. */
const pages = [1, 2, 3, 4].map((at) => ({
  id: uuid(at),
  name: `page ${at}`,
  next_id: at === 4 ? null : uuid(at + 1),
  like: [1, 2, 3, 4].filter((other) => other !== at).map(uuid),
}));

onBoth("imports records that refer to later records, and to each other in circles", async (operator) => {
  const outcome = await imported(operator, "nodes", nodes);

  assert.deepEqual(outcome, { imported: nodes.length, refused: [], isStopped: false });
  assert.deepEqual(await all(operator, "nodes"), nodes);

  assert.deepEqual(await imported(operator, "pages", pages), { imported: 4, refused: [], isStopped: false });
  assert.deepEqual(await all(operator, "pages"), pages);
  for (const [at, { id }] of pages.entries()) {
    const like = await operator.ask("GET", `/pages/${id}`);
    assert.deepEqual((like.value as { like: unknown }).like, pages[at]!.like);
    // A row of the relation refers to each page, so no page can be deleted.
    assert.equal((await operator.ask("DELETE", `/pages/${id}`)).status, 409);
  }
});

onBoth("imports CSV records that refer to later records", async (operator) => {
  const texts = [...nodes, ...pages].map((record) =>
    Object.fromEntries(
      Object.entries(record).map(([name, value]) => [
        name,
        Array.isArray(value) ? JSON.stringify(value) : value === null ? null : String(value),
      ]),
    ),
  );

  assert.equal((await imported(operator, "nodes", texts.slice(0, nodes.length), { isText: true })).imported, 9);
  assert.equal((await imported(operator, "pages", texts.slice(nodes.length), { isText: true })).imported, 4);

  assert.deepEqual([await all(operator, "nodes"), await all(operator, "pages")], [nodes, pages]);
});

onBoth(
  "imports records with required references in any order, and refuses records whose references form a circle",
  async (operator) => {
    const steps = [
      { id: 1, name: "third", before: 2 },
      { id: 2, name: "second", before: 3 },
      { id: 3, name: "first", before: 3 },
      { id: 4, name: "round", before: 5 },
      { id: 5, name: "and round", before: 4 },
    ];

    const { imported: made, refused } = await imported(operator, "steps", steps);

    const reasons = ["before: There is no record with this id."];
    assert.deepEqual(made, 3);
    assert.deepEqual(
      refused.toSorted((one, other) => one.line - other.line),
      [
        { line: 4, reasons },
        { line: 5, reasons },
      ],
    );
    assert.deepEqual(await all(operator, "steps"), steps.slice(0, 3));
  },
);

onBoth(
  "refuses records that refer to missing records, and accepts references to existing records",
  async (operator) => {
    assert.equal((await imported(operator, "nodes", nodes)).imported, 9);
    const more = [
      { id: 11, name: "a", up_id: 12, root_id: 1 },
      { id: 12, name: "b", up_id: 9, root_id: null },
      { id: 13, name: "c", up_id: 99, root_id: null },
      { id: 14, name: "d", up_id: 13, root_id: null },
      { id: 15, name: "e", up_id: "no id", root_id: null },
      { id: 16, name: "f", up_id: 17, root_id: 99 },
      { id: 17, name: "g", up_id: 16, root_id: null },
      { id: 8, name: "taken", up_id: 17, root_id: null },
    ];

    const { refused } = await imported(operator, "nodes", more);

    const byLine = refused
      .toSorted((one, other) => one.line - other.line)
      .map(({ line, reasons }) => [line, ...reasons]);
    const nothing = "There is no record with this id.";
    assert.deepEqual(byLine.slice(0, 2), [
      [3, `up_id: ${nothing}`],
      [4, `up_id: ${nothing}`],
    ]);
    assert.deepEqual(
      byLine.map(([line]) => line),
      [3, 4, 5, 6, 7, 8],
    );
    assert.deepEqual((await all(operator, "nodes")).slice(9), more.slice(0, 2));
  },
);

onBoth("accepts records that refer to each other in a dry run", async (operator) => {
  for (const [resource, records] of [
    ["nodes", nodes],
    ["pages", pages],
  ] as const) {
    const outcome = await imported(operator, resource, records, { dryRun: true });

    assert.deepEqual([outcome.imported, outcome.refused], [records.length, []]);
    assert.deepEqual(await all(operator, resource), []);
  }
});

onBoth("resumes an interrupted import of records that refer to each other", async (operator) => {
  for (let batches = 0; batches < 6; batches++) {
    const shift = 100 * (batches + 1);
    const moved = (id: number | null): number | null => (id === null ? null : id + shift);
    const records = nodes.map(({ id, name, up_id, root_id }) => ({
      id: id + shift,
      name,
      up_id: moved(up_id),
      root_id: moved(root_id),
    }));
    const file = `file ${batches}`;

    let made = 0;
    for (let tries = 0; ; tries++) {
      const one = await imported(operator, "nodes", records, { file, batches: tries < 4 ? batches : Infinity });
      made += one.imported;
      assert.deepEqual(one.refused, []);
      if (!one.isStopped) break;
    }

    assert.equal(made, records.length);
    assert.deepEqual((await all(operator, "nodes")).slice(-records.length), records);
  }
});

onBoth("refuses references to ids of the file if the records get new ids", async (operator) => {
  const { refused } = await imported(operator, "nodes", nodes.slice(7), { withIds: false });

  assert.deepEqual(
    refused.map(({ line }) => line),
    [2],
  );
});
