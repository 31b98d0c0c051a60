import assert from "node:assert/strict";
import path from "node:path";
import { after, test } from "node:test";
import { anyone, defineResource, mount, reference, text } from "../../src/door/index.ts";
import { exportRecords, type ExportedRecord } from "../../src/service/records/export-records.ts";
import { importRecords, importsCollection } from "../../src/service/records/import-records.ts";
import type { ImportLine } from "../../src/service/records/import-users.ts";
import { formatResourceName } from "../../src/service/records/resource-names.ts";
import { readSettings } from "../../src/service/settings/settings.ts";
import { openOperator, type Operator } from "../../src/service/system/operator.ts";
import { placeFor } from "../harness/cli.ts";
import { startPostgres, type TestServer } from "../harness/postgres.ts";
import { adminPassword } from "../harness/serve.ts";

// An import of several files that refer to each other can be interrupted anywhere and repeated.

const optional = { optional: true } as const;
const mounts = [
  defineResource({ name: "aa", fields: { b_id: reference("bbs", optional), like_id: reference("aas", optional) } }),
  defineResource({ name: "bb", fields: { name: text({ optional: true }), a_id: reference("aas", optional) } }),
].map((each) => mount(each, { permission: anyone }));

/** The records of both files. Their ids begin after `shift`. */
function filesFrom(shift: number) {
  const at = (id: number | null): number | null => (id === null ? null : id + shift);
  const aas = [
    [1, 5, 4],
    [2, null, null],
    [3, 1, null],
    [4, 2, 1],
    [5, 3, 2],
  ] as const;
  return {
    aas: aas.map(([id, b, like]) => ({ id: id + shift, b_id: at(b), like_id: at(like) })),
    bbs: [1, 2, 3, 4, 5].map((id) => ({ id: id + shift, name: `b${id}`, a_id: at(6 - id) })),
  };
}

let server: Promise<TestServer> | null = null;
after(async () => (await server)?.stop());

const databases = {
  SQLite: async (folder: string) => `sqlite:${path.join(folder, "latchkey.db")}`,
  PostgreSQL: async () => (await (server ??= startPostgres())).makeDatabase(),
};

/** Imports both files as the command does, but in batches of two. Stops before the write with this number. */
async function imported(
  operator: Operator,
  files: ReturnType<typeof filesFrom>,
  writes: number,
): Promise<{ readonly made: number; readonly isStopped: boolean }> {
  let [made, left] = [0, writes];
  const runs = [];
  for (const [name, records] of Object.entries(files)) {
    const target = operator.mounts.find((each) => formatResourceName(each) === name)!;
    const others = { later: name === "aas" ? ["bbs"] : [], ids: null };
    const options = {
      file: `${name} ${files.aas[0]!.id}`,
      isText: false,
      withIds: true,
      dryRun: false,
      as: null,
      others,
    };
    const run = await importRecords(operator, target, options);
    for (const batch of inTwos(await collect(run.orderLines(numberRecords(records))))) {
      if (left-- === 0) return { made, isStopped: true };
      const refusedLines = await run.add(batch);
      made += batch.length - refusedLines.length;
    }
    await run.end();
    runs.push({ run, records });
  }
  for (const { run, records } of runs)
    for (const batch of inTwos(await collect(numberRecords(records)))) {
      if (left-- === 0) return { made, isStopped: true };
      await run.connect(batch);
    }
  await operator.store.write({ changes: runs.flatMap(({ run }) => run.finished()) });
  return { made, isStopped: false };
}

function inTwos(lines: readonly ImportLine[]): readonly (readonly ImportLine[])[] {
  return lines.flatMap((_, at) => (at % 2 === 0 ? [lines.slice(at, at + 2)] : []));
}

async function collect<T>(all: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const each of all) found.push(each);
  return found;
}

async function* numberRecords(records: readonly object[]): AsyncGenerator<ImportLine> {
  for (const [at, record] of records.entries()) yield { line: at + 1, record: { ...record } };
}

async function stored({ mounts, store }: Operator, resource: string): Promise<readonly ExportedRecord[]> {
  const one = mounts.find((each) => formatResourceName(each) === resource)!;
  return (await collect(exportRecords(store, one))).flat();
}

for (const [engine, makeDatabase] of Object.entries(databases))
  test(`continues an interrupted import of several files, and leaves a record of others alone (${engine})`, async (t) => {
    const place = placeFor();
    t.after(() => place[Symbol.dispose]());
    const settings = {
      LATCHKEY_DATABASE: await makeDatabase(place.folder),
      LATCHKEY_SECRET: "a secret that all processes of the service know",
      LATCHKEY_ADMIN_PASSWORD: adminPassword,
    };
    const operator = await openOperator({ settings: readSettings(settings), config: { mounts }, mayCreate: true });
    t.after(() => operator.close());

    const { collection } = operator.mounts.find((each) => formatResourceName(each) === "aas")!;

    for (let writes = 0; writes < 12; writes++) {
      const files = filesFrom(100 * (writes + 1));
      const taken = { ...files.aas[2]!, b_id: null };
      const values = { b_id: null, like_id: null };
      await operator.store.write({ changes: [{ kind: "insert", collection, key: taken.id, values }] });

      let [made, tries] = [0, 0];
      for (let isStopped = true; isStopped; tries++) {
        const one = await imported(operator, files, tries < 2 ? writes : Infinity);
        made += one.made;
        isStopped = one.isStopped;
      }

      assert.equal(made, 9, `stopped before write ${writes}`);
      assert.deepEqual(
        (await stored(operator, "aas")).slice(-5),
        files.aas.map((each) => (each.id === taken.id ? taken : each)),
      );
      assert.deepEqual((await stored(operator, "bbs")).slice(-5), files.bbs);
      assert.equal(await operator.store.count(importsCollection, null), 0);
    }
  });
