import { quote } from "../sql/language/names.ts";
import { ask, statement, type Script } from "../sql/language/script.ts";
import { triggerPrefix } from "../sql/word-index.ts";
import type { Collection } from "../store.ts";

/** The number of characters that remain of a name that is too long for PostgreSQL. */
const nameCharacters = 50;

/**
 * Lists the objects that depend on the columns of a table. `column` is the column, `what` the kind of object, `called`
 * its name or null.
 */
const boundSQL = `
  SELECT a.attname::text AS column,
    CASE WHEN r.oid IS NULL THEN pg_describe_object(d.classid, d.objid, d.objsubid) ELSE pg_describe_object('pg_class'::regclass, r.ev_class, 0) END AS what,
    coalesce(c.relname, k.conname, t.tgname)::text AS called
  FROM pg_attribute a
  JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum
  LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid AND d.objid <> a.attrelid
  LEFT JOIN pg_constraint k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid
  LEFT JOIN pg_trigger t ON d.classid = 'pg_trigger'::regclass AND t.oid = d.objid
  LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
  LEFT JOIN pg_attrdef f ON d.classid = 'pg_attrdef'::regclass AND f.oid = d.objid
  WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
    AND f.adnum IS DISTINCT FROM a.attnum AND k.contype IS DISTINCT FROM 'n'
  UNION
  SELECT attname::text, 'a grant on this column', NULL FROM pg_attribute
  WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped AND attacl IS NOT NULL
  ORDER BY 1, 2`;

/**
 * Finds the objects of other programs that depend on columns that will be replaced or dropped. Such an object blocks
 * the change, or PostgreSQL drops it together with the column.
 */
export function* findBound({ name }: Collection, going: ReadonlySet<string>): Script<readonly string[]> {
  if (going.size === 0) return [];
  const ours = [
    `${name}(`,
    `unique ${name}(`,
    `reference ${name}(`,
    `present ${name}(`,
    triggerPrefix,
    `_${name}_moved`,
  ].map((beginning) => beginning.slice(0, nameCharacters));
  const bound = yield* ask(statement(boundSQL, [quote(name)]));
  return bound
    .map(({ column, what, called }) => ({ column: String(column), what: String(what), called: String(called ?? "") }))
    .filter(({ column, called }) => going.has(column) && !ours.some((start) => called.startsWith(start)))
    .map(
      ({ column, what }) =>
        `${name}.${column} is replaced or removed, but ${what} depends on it. Latchkey did not create this object. Remove the object, and create it again after the migration.`,
    );
}
