import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Secret } from "../../src/door/index.ts";
import { inspectPostgres, inspectSQLite, type FoundExisting } from "../../src/door/stores.ts";
import { formatDeclarations } from "../../src/service/inspecting/inspect.ts";
import type { ConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { onBoth, type Before } from "../harness/existing.ts";
import "../harness/doors-of-source.ts";

const root = path.join(import.meta.dirname, "../..");

const theirs = {
  sqlite: `
    CREATE TABLE [Artist] ([ArtistId] INTEGER NOT NULL PRIMARY KEY, [Name] NVARCHAR(120) UNIQUE);
    CREATE TABLE [Album] ([AlbumId] INTEGER NOT NULL, [Title] NVARCHAR(160) NOT NULL, [ArtistId] INTEGER NOT NULL, [Price] NUMERIC(10,2) NOT NULL DEFAULT 9.99,
      [Kind] TEXT NOT NULL CHECK ([Kind] IN ('LP', 'it''s')), [ReleasedAt] DATETIME NOT NULL, [Label] TEXT GENERATED ALWAYS AS ([Title] || '!') VIRTUAL,
      CONSTRAINT [PK_Album] PRIMARY KEY ([AlbumId]), FOREIGN KEY ([ArtistId]) REFERENCES [Artist] ([ArtistId]) ON DELETE CASCADE);
    CREATE INDEX [IFK_Album] ON [Album] ([ArtistId]);
    CREATE INDEX [Released] ON [Album] ([ReleasedAt]);
    CREATE TABLE "2 odd ""names""" ("id" integer PRIMARY KEY, "class" text NOT NULL, "2nd value" integer, "Größe" integer, "it's" varchar(3), "weight" real, "ID" integer);
    CREATE TABLE users (id integer PRIMARY KEY, name text);
    CREATE TABLE pairs (a integer, b integer, PRIMARY KEY (a, b));
    CREATE VIEW both_of AS SELECT 1 AS one;
    INSERT INTO Artist VALUES (1, 'X');
    INSERT INTO Album (AlbumId, Title, ArtistId, Price, Kind, ReleasedAt) VALUES (1, 'A', 1, 1.5, 'LP', '2026-01-31 09:30:00');`
    // SQLite does not allow two columns that differ only in case.
    .replace(', "ID" integer', ""),
  postgres: `
    CREATE TYPE kind AS ENUM ('LP', 'it''s');
    CREATE DOMAIN title AS varchar(160) NOT NULL;
    CREATE TABLE "Artist" ("ArtistId" serial PRIMARY KEY, "Name" varchar(120) UNIQUE, "Origin" text CHECK ("Origin" IN ('here', 'there')));
    CREATE TABLE "Album" ("AlbumId" integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "Title" title, "ArtistId" integer NOT NULL REFERENCES "Artist" ON DELETE CASCADE,
      "Price" numeric(10,2) NOT NULL DEFAULT 9.99, "Kind" kind NOT NULL, "ReleasedAt" timestamptz NOT NULL, "Label" text GENERATED ALWAYS AS ("Title" || '!') STORED, "Tags" text[] NOT NULL DEFAULT '{}', "Token" uuid);
    CREATE INDEX ON "Album" ("ArtistId");
    CREATE INDEX ON "Album" ("ReleasedAt");
    CREATE TABLE "2 odd ""names""" ("id" bigint PRIMARY KEY, "class" text NOT NULL, "2nd value" integer, "Größe" integer, "it's" varchar(3), "weight" real, "ID" integer);
    CREATE TABLE pairs (a integer, b integer, PRIMARY KEY (a, b));
    CREATE VIEW both_of AS SELECT 1 AS one;
    CREATE SCHEMA shop;
    CREATE TABLE shop.users (id integer PRIMARY KEY, name text);
    INSERT INTO "Artist" ("Name") VALUES ('X');
    INSERT INTO "Album" ("Title", "ArtistId", "Price", "Kind", "ReleasedAt") VALUES ('A', 1, 1.5, 'LP', '2026-01-31 09:30:00Z');`,
};

async function inspectTables({ engine, url }: Before): Promise<ReadonlyMap<string, FoundExisting>> {
  return engine === "sqlite" ? inspectSQLite(url.replace("sqlite:", "")) : inspectPostgres(new Secret(url));
}

onBoth("writes declarations with `db inspect` that compile and serve the tables", theirs, async (before, t) => {
  const folder = mkdtempSync(path.join(root, "tests/.inspected-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const text = formatDeclarations(await inspectTables(before));
  const file = path.join(folder, "latchkey.config.ts");
  writeFileSync(file, text);
  writeFileSync(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: path.join(root, "tsconfig.json"),
      include: ["latchkey.config.ts"],
      compilerOptions: { noEmit: true, skipLibCheck: true },
    }),
  );

  // SQLite generates ids for every table with an integer key. PostgreSQL does so only if the column is declared that
  // way.
  const giveNone = [...text.matchAll(/gives no ids.*\nexport const (\w+)/g)].map(([, name]) => name);
  assert.deepEqual(giveNone, before.engine === "sqlite" ? [] : ["n2OddNames", "shopUsers"]);

  const { default: config } = (await import(pathToFileURL(file).href)) as { readonly default: ConfigFile };
  // Compiles for PostgreSQL only, because the compiler takes some seconds, and PostgreSQL has more kinds of columns.
  const said =
    before.engine === "sqlite"
      ? { stdout: "" }
      : await promisify(execFile)(path.join(root, "node_modules/.bin/tsc"), ["-p", folder]).catch(
          (error: { readonly stdout: string }) => error,
        );
  // Sends the requests as an administrator, because the declarations allow only administrators.
  const service = await before.serve(...config.mounts!);
  const get = (at: string) => service.get(at, { as: "root" });

  assert.equal(said.stdout, "", text);
  const album = (await get("/albums/1")).json;
  assert.deepEqual(
    { title: album.title, price: album.price, kind: album.kind, label: album.label, artist_id: album.artist_id },
    { title: "A", price: "1.50", kind: "LP", label: "A!", artist_id: 1 },
  );
  // The entries of a SQLite index end with the number of the row, so the index is also sorted by the id. A PostgreSQL
  // index is not. So the same index serves different lists in the two databases.
  const served = before.engine === "sqlite" ? "artist_id=1" : "sort=-released_at";
  assert.equal((await get(`/albums?${served}`)).json.length, 1);
  assert.match(text, before.engine === "sqlite" ? /\/\/ sorts: \["released_at"\]/ : /\/\/ filters: \{ artist_id: /);
  assert.deepEqual(
    service.observed.filter((each) => each.kind === "notice"),
    [],
  );
  assert.equal((await service.get("/albums")).status, 401);
  assert.equal((await get("/artists")).json[0].name, "X");
  assert.deepEqual((await get("/n_2_odd_names")).json, []);
  assert.match(text, /enumeration\(\["LP", "it's"\]\)/);
  assert.match(text, /name: text\(\{ minLength: 0, maxLength: 120, trim: false, optional: true, unique: true \}\)/);
  assert.match(text, /artist_id: reference\("artists", \{ onDelete: "cascade" \}\)/);
  assert.match(text, /price: decimal\(\{.*filled: true \}\)/);
  assert.match(text, /label: text\(\{.*readOnly: true, filled: true \}\)/);
  assert.match(text, /\/\/ pairs is not declared: its key has 2 columns \(a, b\)/);
  assert.match(text, /\/\/ both_of is not declared: it is a view/);
  assert.match(text, /weight: number\(/);
  if (before.engine === "sqlite") assert.match(text, /name: "user_2",\n  plural: "users_2",\n  table: "users",/);
  assert.match(text, /grosse: integer/);
  if (before.engine === "postgres") {
    assert.match(text, /origin: enumeration\(\["here", "there"\], \{ optional: true \}\)/);
    assert.match(text, /table: "shop\.users"/);
    assert.match(text, /title: text\(\{ minLength: 0, maxLength: 160, trim: false \}\)/);
    assert.deepEqual(album.tags, []);
  }
});
