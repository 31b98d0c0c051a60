/**
 * Changes conditions that decide who sees or changes what (`decisions.ts`), one at a time, in a copy of the sources, and
 * proves the service, `examples/shop` and `examples/teams` with each change. The changes are drawn from a seed. Lists
 * those that no proof finds, with the reasons in `unfound.ts`. Exits with 1 if fewer than nine in ten are found. Run by
 * hand or at night:
 *
 * npm run verify -- prove-mutations [--seed NUMBER] [--count NUMBER] [--only PATTERN] [--list]
 */
import { cpSync, rmSync, writeSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { drawFrom } from "../../tests/harness/draw.ts";
import { collectConditions, type Condition } from "./conditions.ts";
import { deciding, decisions, withoutEffect } from "./decisions.ts";
import { equivalent } from "./equivalent.ts";
import { copySources } from "./running.ts";
import { tryChanges, type Tried } from "./trying.ts";
import { unfound } from "./unfound.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    count: { type: "string", default: "40" },
    only: { type: "string" },
    list: { type: "boolean", default: false },
  },
});
const root = path.join(import.meta.dirname, "../..");
const seed = Number(values.seed ?? crypto.getRandomValues(new Uint32Array(1))[0]! % 1_000_000);
const describe = ({ file, line, change }: Condition): string => `${file}:${line} ${change}`;

const all = Object.entries(decisions)
  .flatMap(([file, selection]) => collectConditions(root, file, selection))
  .filter(({ file, change }) => {
    const condition = change.slice(change.indexOf(":"));
    return (
      deciding.test(condition) && !withoutEffect.test(condition) && !Object.hasOwn(equivalent, `${file} ${change}`)
    );
  });

function drawSome(count: number): readonly Condition[] {
  const draw = drawFrom(seed);
  const left = [...all];
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(draw.below(left.length), 1)[0]!);
}

const pattern = new RegExp(values.only ?? "");
const changes =
  values.only === undefined ? drawSome(Number(values.count)) : all.filter((each) => pattern.test(describe(each)));
writeSync(1, `Seed ${seed}: ${changes.length} of ${all.length} conditions.\n`);
if (values.list) {
  for (const change of changes) writeSync(1, `${describe(change)}\n`);
  process.exit();
}

const folder = copySources(root);
cpSync(path.join(root, "examples"), path.join(folder, "examples"), { recursive: true });
const tried: Tried[] = [];
try {
  for await (const each of tryChanges(folder, { changes, tests: ["tests/proof/examples.nightly.test.ts"] }, {})) {
    tried.push(each);
    const { failure, change, tests } = each;
    writeSync(1, `${tried.length}/${changes.length} ${failure === null ? "MISSED" : "found "} ${describe(change)}\n`);
    writeSync(1, `  by ${failure ?? `none of ${tests} proofs`}\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const missed = tried.filter(({ failure }) => failure === null);
for (const { change } of missed) {
  const reason = unfound[`${change.file} ${change.change}`] ?? "No reason is known.";
  writeSync(1, `Missed: ${describe(change)}\n  ${reason}\n`);
}
writeSync(1, `Seed ${seed}: latchkey prove finds ${tried.length - missed.length} of ${tried.length} changes.\n`);
process.exit(missed.length * 10 <= tried.length ? 0 : 1);
