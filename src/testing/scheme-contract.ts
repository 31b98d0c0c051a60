import { test } from "node:test";
import { aFunction, text } from "../core/checking/members.ts";
import { requireArguments } from "../core/checking/options.ts";
import type { SchemeCheck } from "./scheme-contract/bench.ts";
import { discretionChecks } from "./scheme-contract/discretion.ts";
import type { MakeSubject } from "./scheme-contract/subject.ts";
import { verdictChecks } from "./scheme-contract/verdicts.ts";

/** All promises of a scheme. */
export const schemeChecks: readonly SchemeCheck[] = [...verdictChecks, ...discretionChecks];

/** Runs all promises of a scheme as tests of node:test. `make` makes a new scheme for each promise. */
export function certifyScheme(name: string, make: MakeSubject): void {
  requireArguments("certifyScheme", arguments, { name: text, make: aFunction });
  for (const check of schemeChecks) test(`${name}: ${check.name}`, () => check.run(make));
}
