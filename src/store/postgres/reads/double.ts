/*
 * PostgreSQL and JavaScript write the same double in different ways: `1.5e-07` and `1.5e-7`, `-9.007199254740991e+15`
 * and `-9007199254740991`, `-0` and `0`. JavaScript (ECMAScript, Number::toString) formats the numbers of a single
 * record, and all numbers of SQLite. A list that PostgreSQL formats must have the same text.
 */

/** The first whole number above which a double cannot hold every whole number. */
const inexact = 2 ** 53;

/** Returns the SQL for a double as JSON, in the notation of JavaScript. */
export function doubleAsJSON(x: string): string {
  return (
    // PostgreSQL and JavaScript write most numbers in the same way.
    `CASE WHEN abs(${x}) >= 1e-4 AND abs(${x}) < 1e15 THEN to_json(${x}) ELSE (` +
    `CASE WHEN ${x} = 0 THEN '0' WHEN abs(${x}) < 1e-6 THEN replace(${x}::text, 'e-0', 'e-') ` +
    `WHEN abs(${x}) < ${inexact} THEN ${x}::text::numeric::text ELSE ${large(x)} END)::json END`
  );
}

/**
 * Returns the same SQL for a large double. JavaScript writes the shortest text that is parsed as the double. A number
 * exactly between two doubles is parsed as the one whose last bit is even, but PostgreSQL never writes such a number.
 * So the query also tries the two nearest numbers with one digit less.
 */
function large(x: string): string {
  const most = "1.7976931348623157e308";
  const isSame = (candidate: string): string =>
    `CASE WHEN abs(${candidate}) <= ${most} THEN ${candidate}::text::double precision = ${x} END`;
  const shortest = `CASE WHEN ${isSame("below")} THEN below WHEN ${isSame("above")} THEN above ELSE n END`;
  const digits = "rtrim(abs(shortest)::text, '0')";
  const exponent = "length(abs(shortest)::text) - 1";
  const scientific = `CASE WHEN shortest < 0 THEN '-' ELSE '' END || left(${digits}, 1) || CASE WHEN length(${digits}) > 1 THEN '.' ELSE '' END || substr(${digits}, 2) || 'e+' || ${exponent}`;
  return (
    `(SELECT CASE WHEN abs(shortest) < 1e21 THEN shortest::text ELSE ${scientific} END FROM (SELECT ${shortest} AS shortest FROM (` +
    `SELECT n, trunc(n, -unit) AS below, trunc(n, -unit) + sign(n) * trunc(10::numeric ^ unit) AS above FROM (` +
    `SELECT n, length(abs(n)::text) - length(rtrim(abs(n)::text, '0')) + 1 AS unit FROM (` +
    `SELECT ${x}::text::numeric AS n) AS a) AS b) AS c) AS d)`
  );
}
