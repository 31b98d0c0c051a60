import assert from "node:assert/strict";
import { anyone, defineResource, mount, Secret, text } from "../../src/door/index.ts";
import { inspectPostgres } from "../../src/door/stores.ts";
import { formatDeclarations } from "../../src/service/inspecting/inspect.ts";
import { onPostgres } from "../harness/existing.ts";

// Only PostgreSQL has tables that inherit, indexes that are not valid, and foreign tables.

const par = (writes: readonly ("update" | "delete")[], more: object = {}) =>
  mount(defineResource({ name: "par", table: "par", writes, fields: { v: text({ optional: true }) }, ...more }), {
    permission: anyone,
  });

onPostgres(
  "refuses a table from which others inherit, because no key covers their rows",
  `CREATE TABLE par (id serial PRIMARY KEY, v text); CREATE TABLE kid (w text) INHERITS (par);
   CREATE SCHEMA far; CREATE TABLE far.grandkid () INHERITS (kid);
   INSERT INTO par (id, v) VALUES (1, 'parent'); INSERT INTO kid (id, v, w) VALUES (1, 'kid', 'w'), (2, 'kid2', 'w');
   CREATE VIEW own AS SELECT * FROM ONLY par`,
  async ({ serve, sql, url }) => {
    for (const mounted of [par(["update", "delete"]), par([]), par(["update"], { revision: "digest" })])
      await assert.rejects(serve(mounted), /par has no unique key: the rows of kid, which inherit from it.*ONLY par/);

    assert.match(
      formatDeclarations(await inspectPostgres(new Secret(url))),
      /^\/\/ kid is not declared: the rows of far\.grandkid.*\n+\/\/ par is not declared: the rows of kid/ms,
    );
    const view = defineResource({ name: "own", table: "own", fields: { v: text() } });
    const api = await serve(mount(view, { permission: anyone }));
    assert.deepEqual((await api.get("/owns")).json, [{ id: 1, v: "parent" }]);

    await sql("ALTER TABLE kid NO INHERIT par");
    const alone = await serve(par(["update", "delete"]));
    assert.equal((await alone.ask("PATCH", "/pars/1", { body: { v: "Z" } })).status, 200);
    assert.deepEqual(await sql("SELECT v FROM kid WHERE id = 1"), [{ v: "kid" }]);
  },
);

onPostgres(
  "serves a partitioned table, whose key covers its partitions",
  `CREATE TABLE par (id integer PRIMARY KEY, v text) PARTITION BY RANGE (id);
   CREATE TABLE low PARTITION OF par FOR VALUES FROM (1) TO (10); INSERT INTO par VALUES (1, 'a');`,
  async ({ serve }) => {
    const api = await serve(par(["update"]));

    assert.equal((await api.ask("PATCH", "/pars/1", { body: { v: "b" } })).status, 200);
  },
);

onPostgres(
  "refuses a key whose unique index is not valid",
  `CREATE TABLE par (id integer NOT NULL, v text); INSERT INTO par VALUES (1, 'a'), (1, 'b');`,
  async ({ serve, sql }) => {
    await assert.rejects(sql("CREATE UNIQUE INDEX CONCURRENTLY ids ON par (id)"));

    await assert.rejects(serve(par(["update"])), /par\.id is neither the key of the table nor a unique column/);
  },
);

onPostgres(
  "says that a foreign table is a foreign table",
  `CREATE FOREIGN DATA WRAPPER nowhere; CREATE SERVER elsewhere FOREIGN DATA WRAPPER nowhere;
   CREATE FOREIGN TABLE par (id integer, v text) SERVER elsewhere;`,
  async ({ serve, url }) => {
    const written = formatDeclarations(await inspectPostgres(new Secret(url)));
    assert.match(
      written,
      /^\/\/ par is not declared: it is a foreign table, which is only read; declare it with columns/m,
    );
    await assert.rejects(serve(par(["update"])), /par is a foreign table, which is read-only/);
  },
);
