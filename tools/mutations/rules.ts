/**
 * Changes each condition of the rules of fields, of users for roles, of unique sets, of default orders and of labels
 * (see `selected.ts` and `conditions.ts`), one at a time, in a copy of the sources, and runs the tests that reach it.
 * Lists the changes that no test notices, except those that have no effect (`equivalent.ts`). Run by hand or at night:
 *
 * npm run verify -- rule-mutations [--kind NAME] [--only PATTERN] [--tests PATTERN] [--list]
 *
 * With `--tests`, only the matching test files run, so that a first look is quick.
 */
import { rmSync, writeSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { startPostgres } from "../../tests/harness/postgres.ts";
import { collectConditions, type Condition } from "./conditions.ts";
import { equivalent } from "./equivalent.ts";
import { copySources } from "./running.ts";
import { selected, type Selected } from "./selected.ts";
import { tryChanges, type Tried } from "./trying.ts";

const { values } = parseArgs({
  options: {
    kind: { type: "string" },
    only: { type: "string" },
    tests: { type: "string", default: "" },
    list: { type: "boolean", default: false },
  },
});
const root = path.join(import.meta.dirname, "../..");
const pattern = new RegExp(values.only ?? "");

const nameOf = ({ file, change }: Condition): string => `${file} ${change}`;
const describe = ({ file, line, change }: Condition): string => `${file}:${line} ${change}`;

const kinds = Object.entries(selected).map(([name, kind]) => ({
  ...kind,
  name,
  changes: Object.entries(kind.files).flatMap(([file, selection]) => collectConditions(root, file, selection)),
}));
// Without this check, the list would keep reasons for deleted code.
const names = new Set(kinds.flatMap(({ changes }) => changes.map(nameOf)));
const gone = Object.keys(equivalent).filter((name) => !names.has(name));
if (gone.length > 0) throw new Error(`These changes do not exist; take them out of equivalent.ts: ${gone.join("; ")}`);

const chosen = kinds
  .filter(({ name }) => name === (values.kind ?? name))
  .map((kind) => ({
    ...kind,
    tests: kind.tests.filter((file) => new RegExp(values.tests).test(file)),
    changes: kind.changes.filter(
      (change) => pattern.test(describe(change)) && !Object.hasOwn(equivalent, nameOf(change)),
    ),
  }))
  .filter(({ changes }) => changes.length > 0);
const count = chosen.reduce((sum, { changes }) => sum + changes.length, 0);
if (values.list) {
  for (const change of chosen.flatMap(({ changes }) => changes)) writeSync(1, `${describe(change)}\n`);
  process.exit();
}

const tried: Tried[] = [];

async function tryKind(kind: (typeof chosen)[number], env: Readonly<Record<string, string>>): Promise<void> {
  const folder = copySources(root);
  try {
    for await (const each of tryChanges(folder, kind, env)) {
      tried.push(each);
      const { failure, change } = each;
      process.stdout.write(
        `${tried.length}/${count} ${failure === null ? "SURVIVED" : "noticed "} ${describe(change)}\n`,
      );
      process.stdout.write(`  by ${failure ?? `none of ${each.tests} tests`}\n`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tryOnPostgres(kind: (typeof chosen)[number]): Promise<void> {
  const server = await startPostgres(["-c", "max_connections=800"]);
  try {
    const database = await server.makeDatabase();
    await tryKind(kind, { LATCHKEY_TEST_STORE: "postgres", LATCHKEY_TEST_DATABASE: database });
  } finally {
    await server.stop();
  }
}

for (const kind of chosen) await ((kind as Selected).onPostgres === true ? tryOnPostgres(kind) : tryKind(kind, {}));
const survivors = tried.filter(({ failure }) => failure === null);
for (const { change } of survivors) writeSync(1, `Survived: ${describe(change)}\n`);
const equal = Object.keys(equivalent).length;
writeSync(
  1,
  `The tests notice ${tried.length - survivors.length} of ${tried.length} changes. ${equal} more have no effect.\n`,
);
// The package of the server installs an exit hook that replaces the exit code by 0.
process.exit(survivors.length === 0 ? 0 : 1);
