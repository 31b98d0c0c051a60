import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { json, mount, defineResource, anyone } from "../../src/door/index.ts";
import { exportRecords, type ExportedRecord } from "../../src/service/records/export-records.ts";
import { importRecords, type RecordImportOptions } from "../../src/service/records/import-records.ts";
import type { RefusedLine } from "../../src/service/records/import-users.ts";
import { formatResourceName } from "../../src/service/records/resource-names.ts";
import type { ConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { readSettings } from "../../src/service/settings/settings.ts";
import { openOperator, type Operator } from "../../src/service/system/operator.ts";
import { placeFor, type Machine } from "../harness/cli.ts";
import { command } from "../harness/command.ts";
import { adminPassword } from "../harness/serve.ts";

interface Shop {
  readonly operator: Operator;
  /** Imports records into a resource. Returns the refused lines. */
  add(
    resource: string,
    records: readonly object[],
    options?: Partial<RecordImportOptions>,
  ): Promise<readonly RefusedLine[]>;
  all(resource: string): Promise<readonly ExportedRecord[]>;
}

/** Creates a service with one user, whose id is 1. */
async function shop(t: TestContext, place: Machine, config: ConfigFile = {}): Promise<Shop> {
  const settings = {
    LATCHKEY_DATABASE: `sqlite:${path.join(place.folder, "latchkey.db")}`,
    LATCHKEY_SECRET: "a secret that all processes of the service know",
    LATCHKEY_ADMIN_PASSWORD: adminPassword,
  };
  const operator = await openOperator({ settings: readSettings(settings), config, mayCreate: true });
  t.after(() => operator.close());
  await operator.makeFirstAdministrator();
  const find = (name: string) => operator.mounts.find((each) => formatResourceName(each) === name)!;
  return {
    operator,
    async add(resource, records, options = {}) {
      const all = { file: null, isText: false, withIds: false, dryRun: false, as: null, ...options };
      const running = await importRecords(operator, find(resource), all);
      return running.add(records.map((record, at) => ({ line: at + 1, record: { ...record } })));
    },
    async all(resource) {
      const all: ExportedRecord[] = [];
      for await (const page of exportRecords(operator.store, find(resource))) all.push(...page);
      return all;
    },
  };
}

test("applies the rules of the resource to records, and reports each bad line with its field", async (t) => {
  using place = placeFor();
  const { add, all } = await shop(t, place);

  const orders = await add("orders", [
    { user_id: 1, status: "paid" },
    { user_id: 1, status: "lost" },
    { user_id: 99 },
    { id: 7, user_id: 1, created_at: "2020-01-01T00:00:00.000Z" },
    { user_id: 1, total: 3 },
  ]);
  const [first] = await all("orders");
  const items = await add(
    "orders/items",
    [
      { order_id: String(first!["id"]), product: "Key", quantity: "2", unit_price: "1.5" },
      { order_id: String(first!["id"]), product: "Key", quantity: "many", unit_price: "1" },
      { order_id: "99", product: "Key", quantity: "1", unit_price: "1" },
      { order_id: null, product: "Key", quantity: "1", unit_price: "1" },
    ],
    { isText: true },
  );

  assert.deepEqual(orders, [
    { line: 2, reasons: ["status: One of open, paid, cancelled is required."] },
    { line: 3, reasons: ["user_id: There is no record with this id."] },
    { line: 5, reasons: ["total: There is no field of this name."] },
  ]);
  assert.deepEqual(items, [
    { line: 2, reasons: ["quantity: A whole number is required."] },
    { line: 3, reasons: ["order_id: There is no record with this id."] },
    { line: 4, reasons: ["order_id: A whole number from 1 is required."] },
  ]);
  assert.equal((await all("orders")).length, 2);
  assert.deepEqual(await all("orders/items"), [
    { id: 1, order_id: first!["id"], product: "Key", quantity: 2, unit_price: "1.50" },
  ]);
});

test("stores JSON unchanged, even if it looks like `keyOf`, a reference to the key of another change", async (t) => {
  using place = placeFor();
  const note = defineResource({ name: "note", fields: { data: json() } });
  const { add, all } = await shop(t, place, { mounts: [mount(note, { permission: anyone })] });

  const refused = await add("notes", [{ data: { keyOf: 0 } }, { data: { keyOf: 0 } }]);

  assert.deepEqual(refused, []);
  assert.deepEqual(
    (await all("notes")).map(({ data }) => data),
    [{ keyOf: 0 }, { keyOf: 0 }],
  );
});

test("reports the same refused lines in a dry run as in an import, and writes nothing", async (t) => {
  using place = placeFor();
  const { add, all } = await shop(t, place);
  const orders = [{ user_id: 1 }, { user_id: 99 }, { user_id: 1, status: "lost" }, { user_id: 1 }];

  const tried = await add("orders", orders, { dryRun: true });
  const none = await all("orders");
  const done = await add("orders", orders);

  assert.deepEqual(none, []);
  assert.deepEqual(tried, done);
  assert.deepEqual([done.length, (await all("orders")).length], [2, 2]);
});

test("imports records with their ids, and with fields that only the service can set", async (t) => {
  using place = placeFor();
  const { add, all } = await shop(t, place);
  const orders = [
    { id: 7, user_id: 1, status: "paid", created_at: "2020-01-01T00:00:00.000Z" },
    { id: 3, user_id: 1, status: "open", created_at: "2021-06-01T12:00:00.000Z" },
  ];

  const first = await add("orders", orders, { withIds: true });
  const again = await add("orders", [...orders, { ...orders[0], id: 5 }, { ...orders[0], id: "x" }], { withIds: true });
  await add("orders", orders);

  assert.deepEqual(first, []);
  assert.deepEqual(again, [
    { line: 1, reasons: ["id: This value is already taken."] },
    { line: 2, reasons: ["id: This value is already taken."] },
    { line: 4, reasons: ["id: A whole number from 1 is required."] },
  ]);
  const storedOrders = await all("orders");
  const withIds = storedOrders.filter(({ id }) => [3, 5, 7].includes(id as number));
  assert.deepEqual(withIds, [orders[1], { ...orders[0], id: 5 }, orders[0]]);
  assert.deepEqual([storedOrders.length, new Set(storedOrders.map(({ id }) => id)).size], [5, 5]);
});

test("reports the number of records and the refused lines, and exports the same file again", async () => {
  using place = placeFor();
  const write = (name: string, text: string): string => (writeFileSync(path.join(place.folder, name), text), name);
  await place.run(["user", "import", write("users.csv", "email\nann@example.com\n")]);
  const rows = [
    "id,user_id,status,created_at",
    "2,1,paid,2020-01-01T00:00:00.000Z",
    "4,1,open,2021-01-01T00:00:00.000Z",
  ];
  const orders = write("orders.csv", `${rows.join("\r\n")}\r\n4,1,lost,\r\n`);

  const imported = await place.run(["import", "orders", orders, "--with-ids"]);
  const exported = await place.run(["export", "orders", "again.csv"]);
  const twice = await place.run(["export", "orders", "again.csv"]);
  const piped = await place.run(["export", "orders", "-", "--format", "csv"]);
  const unknown = await place.run(["export", "order"]);

  assert.deepEqual(imported, {
    code: 1,
    out: "2 imported, 1 refused.\n",
    errors: "line 4: status: One of open, paid, cancelled is required.\n",
  });
  assert.deepEqual([exported.code, exported.out], [0, "2 exported.\n"]);
  assert.equal(readFileSync(path.join(place.folder, "again.csv"), "utf8"), `${rows.join("\r\n")}\r\n`);
  assert.deepEqual([piped.code, piped.out], [0, `${rows.join("\r\n")}\r\n`]);
  assert.deepEqual([twice.code, twice.errors], [1, "again.csv exists already. Name a new file.\n"]);
  assert.deepEqual(unknown.errors, 'There is no resource "order". There are users, orders, orders/items.\n');
});

test("reports errors before the remaining writes, so that a killed process loses no report", async (t) => {
  using place = placeFor();
  const { operator } = await shop(t, place);
  const mount = operator.mounts.find(({ resource }) => resource.name === "order")!;
  const options = { file: "orders", isText: false, withIds: false, dryRun: false, as: null };
  const running = await importRecords(operator, mount, options);
  const reports: (readonly [line: number, written: number])[] = [];
  const lines = [{ user_id: 1 }, { user_id: 1, status: "lost" }, { user_id: 1 }];

  const refused = await running.add(
    lines.map((record, at) => ({ line: at + 1, record })),
    // This store counts synchronously, so `n` is the number of records at the time of the report.
    ({ line }) =>
      void Promise.resolve(operator.store.count(mount.collection, null)).then((n) => reports.push([line, n])),
  );

  assert.deepEqual([reports, refused.length], [[[2, 0]], 1]);
  assert.equal(await operator.store.count(mount.collection, null), 2);
});

test("resumes a killed import without duplicate or missing lines", async (t) => {
  using place = placeFor({ LATCHKEY_SECRET: "a secret that all processes of the service know" });
  const { operator } = await shop(t, place);
  const count = 5000;
  const lines = Array.from({ length: count }, () => '{"user_id":1}\n');
  writeFileSync(path.join(place.folder, "orders.jsonl"), lines.join(""));
  const { collection } = operator.mounts.find(({ resource }) => resource.name === "order")!;
  const args = ["import", "orders", "orders.jsonl"];
  const env = { ...process.env, LATCHKEY_SECRET: "a secret that all processes of the service know" };

  const child = spawn(process.execPath, [command, ...args], { cwd: place.folder, env, stdio: "ignore" });
  while ((await operator.store.count(collection, null)) === 0) await wait(2);
  child.kill("SIGKILL");
  await once(child, "exit");
  const before = await operator.store.count(collection, null);
  const rest = await place.run(args);

  assert.ok(before > 0 && before < count, String(before));
  assert.deepEqual([rest.code, rest.out], [0, `${count - before} imported, 0 refused.\n`], rest.errors);
  assert.match(rest.errors, new RegExp(`Continuing an interrupted import after line ${before}`));
  assert.equal(await operator.store.count(collection, null), count);
});

test("imports records with the permissions of the user in `--as`, and reports fields that need such a user", async (t) => {
  using place = placeFor();
  const { operator, add, all } = await shop(t, place);
  const made = { name: "Ada", email: "ada@example.com", username: "ada", password: "long and unusual" };
  await operator.ask("POST", "/users", made);
  const ada = await operator.findAccount("ada");
  const lines = [{ status: "paid" }, { user_id: 1 }, { user_id: 2, status: "open" }];

  const asNobody = await add("orders", lines, { dryRun: true });
  const asAda = await add("orders", lines, { as: ada });

  assert.deepEqual(asNobody, [
    {
      line: 1,
      reasons: [
        "user_id: This field holds the user who sends the record, and an import has none. Add a column for it to the file, or name the user: --as USERNAME.",
      ],
    },
  ]);
  assert.deepEqual(
    asAda.map(({ line }) => line),
    [2],
  );
  assert.deepEqual(
    (await all("orders")).map(({ user_id, status }) => [user_id, status]),
    [
      [2, "paid"],
      [2, "open"],
    ],
  );
});

test("imports as the user in `--as`, and refuses an unknown or a disabled user", async () => {
  using place = placeFor();
  writeFileSync(path.join(place.folder, "orders.csv"), "status\npaid\n");
  // `user import` creates the database and Ada. `import` creates no database.
  await place.run(
    ["user", "import", "-", "--format", "jsonl"],
    '{"name":"Ada","email":"ada@example.com","username":"ada"}',
  );

  const missing = await place.run(["import", "orders", "orders.csv", "--as", "eve"]);
  const done = await place.json(["import", "orders", "orders.csv", "--as", "ada"]);
  await place.run(["user", "disable", "ada"]);
  const inactive = await place.run(["import", "orders", "orders.csv", "--as", "ada"]);

  assert.match(missing.errors, /There is no user with the username "eve"/);
  assert.deepEqual(done, { imported: 1, refused: [] });
  assert.match(inactive.errors, /ada is disabled/);
});

test(
  "reports a failed write to standard output in a sentence, with exit code 1",
  { skip: !existsSync("/dev/full") },
  async () => {
    using place = placeFor();
    await place.run(["user", "create", "--name", "Ann", "--email", "ann@example.com", "--random-password"]);

    for (const args of [
      ["export", "users"],
      ["user", "list"],
      ["db", "check"],
    ]) {
      const full = openSync("/dev/full", "w");
      const ended = spawnSync(process.execPath, [command, ...args], {
        cwd: place.folder,
        stdio: ["ignore", full, "pipe"],
        encoding: "utf8",
      });
      closeSync(full);

      assert.equal(ended.status, 1);
      assert.match(
        ended.stderr,
        /^Standard output cannot be written \(ENOSPC: no space left on device\b.*\)\. The output is incomplete\.$/m,
      );
      assert.doesNotMatch(ended.stderr, /^ {4}at /m);
    }
  },
);

test("leaves no file under its final name when an export is killed", async () => {
  using place = placeFor();
  const lines = Array.from({ length: 5000 }, (_, at) => JSON.stringify({ email: `user${at}@example.com` }));
  await place.run(["user", "import", "-"], lines.join("\n"));
  const names = (): readonly string[] => readdirSync(place.folder).filter((name) => name.startsWith("users.jsonl"));
  const child = spawn(process.execPath, [command, "export", "users", "users.jsonl"], { cwd: place.folder });
  const ended = once(child, "exit");
  while (names().length === 0 && child.exitCode === null) await wait(1);
  child.kill("SIGKILL");
  await ended;

  assert.ok(!names().includes("users.jsonl"));
  assert.deepEqual((await place.run(["export", "users", "users.jsonl"])).code, 0);
  assert.equal(readFileSync(path.join(place.folder, "users.jsonl"), "utf8").split("\n").length - 1, 5001);
});
