import type { Collection, Column } from "../store.ts";
import {
  addReference,
  createTable,
  defaultLiteral,
  defineColumn,
  defineShadow,
  indexesOf,
  isFolded,
  keyStorageOf,
  storageOf,
} from "./definition.ts";
import { findIndexes, findReferences, findTable, requiredLeftOvers, type Found } from "./found-table.ts";
import { indexPrefix, literal, quote, referenceConstraintOf, sequenceOf, shadowOf } from "./names.ts";
import { plain } from "./parameters.ts";
import type { Session } from "./session.ts";
import { fillShadow } from "./shadows.ts";

/** Makes the table of a collection, or makes it fit. Gives what stands in the way, each with its cure. */
export async function fitTable(session: Session, collection: Collection): Promise<string[]> {
  const found = await findTable(session, collection);
  const problems = found === null ? [] : await problemsWith(session, collection, found);
  if (problems.length > 0) return problems;

  if (found === null || !found.rows) {
    // An empty table has nothing to lose. What refers to it gets its reference again, see `fitReferences`.
    const sameKey = found?.columns.get("id")?.storage === keyStorageOf(collection);
    const others = sameKey ? await referencesTo(session, collection) : [];
    if (found !== null) await session.run(`DROP TABLE ${quote(collection.name)} CASCADE`);
    await session.run(createTable(collection));
    for (const again of others) await session.run(again);
  } else {
    await alterTable(session, collection, found);
  }
  // The sequence outlives its table, so that no key is handed out twice.
  if (collection.key === "integer") await session.run(`CREATE SEQUENCE IF NOT EXISTS ${quote(sequenceOf(collection))}`);
  return fitIndexes(session, collection);
}

/** Makes the references that are declared and drops ours that are declared no more. */
export async function fitReferences(session: Session, collection: Collection): Promise<string[]> {
  const there = await findReferences(session, collection);
  const problems: string[] = [];
  const wanted = new Set<string>();
  for (const column of collection.columns) {
    const { references } = column;
    if (references === undefined) continue;
    const name = referenceConstraintOf(collection, column);
    wanted.add(name);
    const target = `${await spelled(session, references.collection)} ${references.onDelete === "cascade" ? "c" : "r"}`;
    if (there.get(name) === target) continue;
    const [from, to, by] = [collection.name, references.collection, column.name].map(quote) as [string, string, string];
    const dangling = `FROM ${from} WHERE ${by} IS NOT NULL AND NOT EXISTS (SELECT FROM ${to} AS target WHERE target."id" = ${from}.${by})`;
    if ((await session.send(plain(`SELECT 1 ${dangling} LIMIT 1`))).length > 0) {
      problems.push(
        `${collection.name}.${column.name} refers to rows of ${references.collection} that are not there. List them and change or delete them: SELECT * ${dangling};`,
      );
      continue;
    }
    if (there.has(name)) await session.run(`ALTER TABLE ${from} DROP CONSTRAINT ${quote(name)}`);
    await session.run(addReference(collection, column));
  }
  for (const name of there.keys()) {
    if (!wanted.has(name) && name.startsWith("reference "))
      await session.run(`ALTER TABLE ${quote(collection.name)} DROP CONSTRAINT ${quote(name)}`);
  }
  return problems;
}

/** Keeps the declaration, and what every column was ever declared as. */
export async function rememberDeclaration(session: Session, collection: Collection): Promise<void> {
  const types = Object.fromEntries(collection.columns.map((column) => [column.name, typeOf(column)]));
  await session.send(
    plain(
      "INSERT INTO latchkey_schema AS there (collection, declaration, types) VALUES ($1, $2, $3) " +
        "ON CONFLICT (collection) DO UPDATE SET declaration = excluded.declaration, types = (there.types::jsonb || excluded.types::jsonb)::json",
      [collection.name, JSON.stringify(collection), JSON.stringify(types)],
    ),
  );
}

async function problemsWith(session: Session, collection: Collection, found: Found): Promise<string[]> {
  const table = quote(collection.name);
  const id = found.columns.get("id");
  if (id === undefined || !id.isKey || !found.columns.has("_revision")) {
    return [
      `There is a table ${collection.name} that was not made by this store. Rename one of the two: ALTER TABLE ${table} RENAME TO …;`,
    ];
  }
  if (!found.rows) return [];
  if (id.storage !== keyStorageOf(collection)) {
    return [
      `${collection.name}: keys were ${id.storage} and are declared ${collection.key}. Convert them and what refers to them: ALTER TABLE ${table} ALTER COLUMN "id" TYPE ${keyStorageOf(collection)} USING …;`,
    ];
  }
  const problems: string[] = [];
  for (const column of collection.columns)
    problems.push(...(await problemsWithColumn(session, collection, column, found)));
  for (const { name } of requiredLeftOvers(collection, found)) {
    problems.push(
      `${collection.name}.${name} is declared no more, but new rows would need a value for it. Declare it again, or run: ALTER TABLE ${table} ALTER COLUMN ${quote(name)} DROP NOT NULL;`,
    );
  }
  return problems;
}

async function problemsWithColumn(
  session: Session,
  collection: Collection,
  column: Column,
  found: Found,
): Promise<string[]> {
  const place = `${collection.name}.${column.name}`;
  const [table, name] = [quote(collection.name), quote(column.name)];
  const there = found.columns.get(column.name);
  if (there === undefined) {
    if (column.nullable === true || column.default !== undefined) return [];
    return [
      `${place} is new and must not be null, and there are rows already. Declare it nullable or with a default, or run: ALTER TABLE ${table} ADD COLUMN ${defineColumn(column)} DEFAULT …;`,
    ];
  }
  const was = found.types[column.name];
  if (there.storage !== storageOf(column) || (was !== undefined && was !== typeOf(column))) {
    return [
      `${place} was ${was ?? there.storage} and is declared ${typeOf(column)}. Convert what is there and confirm it: ALTER TABLE ${table} ALTER COLUMN ${name} TYPE ${storageOf(column)} USING …; DELETE FROM latchkey_schema WHERE collection = ${literal(collection.name)};`,
    ];
  }
  if (column.nullable === true || !there.nullable) return [];
  const nulls = await session.send(plain(`SELECT 1 FROM ${table} WHERE ${name} IS NULL LIMIT 1`));
  if (nulls.length === 0) return [];
  return [
    `${place} is declared not nullable, and there are rows without a value. Run: UPDATE ${table} SET ${name} = … WHERE ${name} IS NULL;`,
  ];
}

async function alterTable(session: Session, collection: Collection, found: Found): Promise<void> {
  const steps: string[] = [];
  for (const column of collection.columns) {
    const name = quote(column.name);
    const there = found.columns.get(column.name);
    if (there === undefined) {
      steps.push(`ADD COLUMN ${defineColumn(column)}`);
    } else {
      steps.push(`ALTER COLUMN ${name} SET DEFAULT ${defaultLiteral(column)}`);
      if (there.nullable !== (column.nullable === true))
        steps.push(`ALTER COLUMN ${name} ${there.nullable ? "SET" : "DROP"} NOT NULL`);
    }
    if (isFolded(column) && !found.columns.has(shadowOf(column))) steps.push(`ADD COLUMN ${defineShadow(column)}`);
  }
  if (steps.length > 0) await session.run(`ALTER TABLE ${quote(collection.name)} ${steps.join(", ")}`);
}

/** Makes the indexes that are declared and drops ours that are declared no more. */
async function fitIndexes(session: Session, collection: Collection): Promise<string[]> {
  const wanted = indexesOf(collection);
  const there = await findIndexes(session, collection);
  for (const name of there) {
    const ours = [true, false].some((unique) => name.startsWith(`${indexPrefix(collection, unique)}(`));
    if (ours && !wanted.has(name)) await session.run(`DROP INDEX ${quote(name)}`);
  }
  const problems: string[] = [];
  for (const [name, { sql, unique }] of wanted) {
    if (there.has(name)) continue;
    if (unique !== null && isFolded(unique)) await fillShadow(session, collection, unique);
    const duplicates = unique === null ? null : duplicatesOf(collection, unique);
    if (duplicates !== null && (await session.send(plain(`${duplicates} LIMIT 1`))).length > 0) {
      problems.push(
        `${collection.name}.${unique!.name} is declared unique${isFolded(unique!) ? " without regard to case" : ""}, and some values are there more than once. Find them and change all but one: ${isFolded(unique!) ? duplicatesOf(collection, { ...unique!, unique: true }, "lower") : duplicates};`,
      );
      continue;
    }
    await session.run(sql);
  }
  return problems;
}

function duplicatesOf(collection: Collection, column: Column, by = ""): string {
  const value = `${by}(${quote(isFolded(column) ? shadowOf(column) : column.name)})`;
  return `SELECT ${value} AS value, count(*) FROM ${quote(collection.name)} WHERE ${value} IS NOT NULL GROUP BY 1 HAVING count(*) > 1`;
}

/** The statements that make again what goes with a table that is dropped: references of other tables to it. */
async function referencesTo(session: Session, { name }: Collection): Promise<string[]> {
  const rows = await session.send(
    plain(
      "SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint " +
        "WHERE contype = 'f' AND confrelid = to_regclass($1) AND conrelid <> confrelid",
      [quote(name)],
    ),
  );
  return rows.map(([sql]) => sql as string);
}

async function spelled(session: Session, name: string): Promise<string> {
  const [found] = await session.send(plain("SELECT to_regclass($1)::text", [quote(name)]));
  return (found?.[0] ?? "") as string;
}

function typeOf({ type, scale }: Column): string {
  return type === "decimal" ? `decimal(${scale ?? 0})` : type;
}
