import { columnsIn } from "../../sql/existing/expression-columns.ts";
import { ask, statement, type NamedRow, type Script } from "../../sql/language/script.ts";
import type { FoundExisting, FoundExistingColumn, FoundExistingReference } from "../../sql/schema/found.ts";
import { postgres, describedTableSQL } from "../dialect.ts";

/** Reads the shape of an existing table from PostgreSQL. */
export function* findExisting(table: string): Script<FoundExisting | null> {
  const name = postgres.quoteTable(table);
  const [found] = yield* ask(
    statement(
      `SELECT relkind::text AS kind, ${isFilledSQL} AS is_filled, ${heirsSQL} AS heirs FROM pg_class WHERE oid = to_regclass($1) AND relkind IN ('r', 'p', 'v', 'm', 'f')`,
      [name],
    ),
  );
  if (found === undefined) return null;
  const columns: FoundExistingColumn[] = [];
  for (const row of yield* ask(statement(columnsSQL, [name]))) columns.push(readColumn(row));
  const key = yield* ask(
    statement(
      "SELECT a.attname::text AS name FROM pg_index i, unnest(i.indkey) WITH ORDINALITY AS k(num, at) " +
        "JOIN pg_attribute a ON a.attnum = k.num WHERE i.indrelid = to_regclass($1) AND a.attrelid = i.indrelid AND i.indisprimary AND i.indisvalid ORDER BY k.at",
      [name],
    ),
  );
  const uniques = new Map<string, readonly string[]>();
  const indexes: (readonly string[])[] = [];
  for (const index of yield* ask(statement(indexesSQL, [name]))) {
    const { names } = index["parts"] as { readonly names: readonly string[] };
    if (index["is_unique"] === true && index["is_valid"] === true) uniques.set(String(index["name"]), names);
    if (index["is_one_way"] === true) indexes.push(names);
  }
  const references: FoundExistingReference[] = [];
  for (const { constraint, parts, does, target } of yield* ask(statement(referencesSQL, [name]))) {
    const { from, to } = parts as { readonly from: readonly string[]; readonly to: readonly string[] };
    references.push({
      constraint: String(constraint),
      columns: from,
      table: String(target),
      to,
      onDelete: does === "c" ? "cascade" : does === "n" || does === "d" ? "null" : "restrict",
    });
  }
  const ruled = yield* ask(
    statement(
      "SELECT conname::text AS constraint, attname::text AS column FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND ARRAY[attnum] = conkey WHERE contype = 'c' AND conrelid = to_regclass($1)",
      [name],
    ),
  );
  return {
    isTable: found["kind"] === "r" || found["kind"] === "p",
    ...(found["kind"] === "f" ? { isForeign: true } : {}),
    ...(Array.isArray(found["heirs"]) ? { heirs: found["heirs"] as readonly string[] } : {}),
    columns,
    key: key.map(({ name: column }) => String(column)),
    uniques,
    narrowUniques: yield* findNarrowUniques(
      name,
      columns.map((each) => each.name),
    ),
    indexes,
    references,
    isFilledByTrigger: found["is_filled"] === true,
    ruled: new Map(ruled.map(({ constraint, column }) => [String(constraint), String(column)])),
  };
}

function* findNarrowUniques(table: string, names: readonly string[]): Script<FoundExisting["narrowUniques"]> {
  const found = new Map<string, readonly string[]>();
  for (const index of yield* ask(statement(narrowUniquesSQL, [table]))) {
    const columns = columnsIn(String(index["expressions"]), names);
    if (index["has_expression"] === false || columns.length === 1) found.set(String(index["name"]), columns);
  }
  return found;
}

/**
 * SQL that is true if the table has an enabled trigger `BEFORE INSERT … FOR EACH ROW`. The bits are those of
 * `pg_trigger.h`.
 */
const isFilledSQL =
  "EXISTS (SELECT FROM pg_trigger WHERE tgrelid = pg_class.oid AND NOT tgisinternal AND tgenabled IN ('O', 'A') AND tgtype & 7 = 7)";

/**
 * SQL for the tables that inherit from this one. Its statements also read and write their rows, but no key covers them.
 * A partitioned table has partitions instead, which its keys cover.
 */
const heirsSQL =
  `(SELECT json_agg(${describedTableSQL("h.oid", "h.relname", "s.nspname")} ORDER BY h.relname) FROM pg_inherits JOIN pg_class h ON h.oid = inhrelid ` +
  "JOIN pg_namespace s ON s.oid = h.relnamespace WHERE inhparent = pg_class.oid AND pg_class.relkind <> 'p')";

/** Resolves each domain to its base type. A domain may be based on other domains. */
const domainsSQL =
  "WITH RECURSIVE domains AS (SELECT oid AS first, oid, typbasetype, typtypmod, typnotnull, typdefault, typtype, 0 AS at FROM pg_type WHERE typtype = 'd' " +
  "UNION ALL SELECT o.first, d.oid, d.typbasetype, d.typtypmod, d.typnotnull, d.typdefault, d.typtype, o.at + 1 FROM domains o JOIN pg_type d ON d.oid = o.typbasetype WHERE d.typtype = 'd'), " +
  "resolved AS (SELECT first, (array_agg(typbasetype ORDER BY at DESC))[1] AS base, (array_agg(typtypmod ORDER BY at DESC))[1] AS typmod, " +
  "bool_or(typnotnull) AS notnull, bool_or(typdefault IS NOT NULL) AS filled, array_agg(oid) AS oids FROM domains GROUP BY first) ";

/**
 * The collation of the database, if the C library provides it. NULL for other providers, like ICU, which PostgreSQL 15
 * and later allow.
 */
const databaseCollation =
  "(SELECT CASE WHEN coalesce(to_jsonb(d) ->> 'datlocprovider', 'c') = 'c' THEN d.datcollate END FROM pg_database d WHERE datname = current_database())";

/** Reads the columns of a table. Reports a domain as its base type. */
const columnsSQL =
  domainsSQL +
  "SELECT a.attname::text AS name, format_type(t.oid, coalesce(d.typmod, a.atttypmod)) AS storage, " +
  "NOT (a.attnotnull OR coalesce(d.notnull, FALSE)) AS nullable, a.atthasdef OR a.attidentity <> '' OR coalesce(d.filled, FALSE) AS filled, a.attgenerated <> '' OR a.attidentity = 'a' AS generated, " +
  "CASE WHEN t.typtype = 'e' THEN (SELECT json_agg(enumlabel ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid) END AS words, " +
  `(SELECT coalesce(CASE WHEN c.collname = 'default' THEN ${databaseCollation} ELSE c.collcollate END, '') FROM pg_collation c WHERE c.oid = a.attcollation) IN ('C', 'POSIX') AS by_code_point, ` +
  "(SELECT NOT collisdeterministic FROM pg_collation c WHERE c.oid = a.attcollation) AS is_loose, " +
  "(SELECT json_agg(pg_get_constraintdef(k.oid)) FROM pg_constraint k WHERE k.contype = 'c' AND (k.contypid = ANY (d.oids) OR k.conrelid = a.attrelid AND k.conkey = ARRAY[a.attnum])) AS checks " +
  "FROM pg_attribute a LEFT JOIN resolved d ON d.first = a.atttypid JOIN pg_type t ON t.oid = coalesce(d.base, a.atttypid) " +
  "WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";

/** Reads the indexes on whole columns and on all rows. */
const indexesSQL =
  "SELECT c.relname::text AS name, i.indisunique AS is_unique, i.indisvalid AS is_valid, json_build_object('names', (SELECT json_agg(a.attname ORDER BY k.at) " +
  "FROM unnest(i.indkey) WITH ORDINALITY AS k(num, at) JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.num WHERE k.at <= i.indnkeyatts)) AS parts, " +
  "(SELECT count(DISTINCT o) = 1 FROM unnest(i.indoption) AS o) AND m.amname = 'btree' AND i.indisvalid AS is_one_way " +
  "FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam " +
  "WHERE i.indrelid = to_regclass($1) AND i.indpred IS NULL AND i.indexprs IS NULL";

const narrowUniquesSQL =
  "SELECT c.relname::text AS name, i.indexprs IS NOT NULL AS has_expression, " +
  "(SELECT string_agg(pg_get_indexdef(i.indexrelid, k, FALSE), ', ' ORDER BY k) FROM generate_series(1, i.indnkeyatts) AS k) AS expressions " +
  "FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid " +
  "WHERE i.indrelid = to_regclass($1) AND i.indisunique AND (i.indpred IS NOT NULL OR i.indexprs IS NOT NULL OR NOT i.indisvalid)";

const referencesSQL =
  "SELECT conname::text AS constraint, json_build_object('from', (SELECT json_agg(a.attname ORDER BY k.at) FROM unnest(conkey) WITH ORDINALITY AS k(num, at) JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = k.num), " +
  "'to', (SELECT json_agg(a.attname ORDER BY k.at) FROM unnest(confkey) WITH ORDINALITY AS k(num, at) JOIN pg_attribute a ON a.attrelid = confrelid AND a.attnum = k.num)) AS parts, " +
  "confdeltype::text AS does, " +
  `${describedTableSQL("confrelid", "c.relname", "n.nspname")} AS target ` +
  "FROM pg_constraint JOIN pg_class c ON c.oid = confrelid JOIN pg_namespace n ON n.oid = c.relnamespace " +
  "WHERE contype = 'f' AND conrelid = to_regclass($1) ORDER BY conname";

function readColumn(row: NamedRow): FoundExistingColumn {
  const { name, storage, nullable, filled, generated, words, by_code_point: byCodePoint, is_loose, checks } = row;
  const length = /^character(?: varying)?\((\d+)\)$/.exec(String(storage));
  return {
    name: String(name),
    storage: String(storage),
    nullable: nullable === true,
    filled: filled === true,
    generated: generated === true,
    ...(Array.isArray(words) ? { words: words as readonly string[] } : {}),
    ...(typeof byCodePoint === "boolean" ? { byCodePoint } : {}),
    ...(is_loose === true ? { isLoose: true } : {}),
    ...(length === null ? {} : { maxLength: Number(length[1]) }),
    ...(Array.isArray(checks) ? { checks: checks as readonly string[] } : {}),
  };
}
