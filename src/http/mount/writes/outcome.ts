import { catalogue, ownAmong, type ProblemCode, type AnyProblem } from "../../../core/problem/catalogue.ts";
import { problem, type Problem } from "../../../core/problem/problem.ts";
import type { Outcome } from "../../../store/store.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import type { Maximum } from "../../declarations/records.ts";
import type { Exchange } from "../../request/exchange.ts";
import { convertProblem } from "../older/translating.ts";
import { findMount, referenced, notifyOperator } from "./referring.ts";

/** The outcome of a transaction that wrote nothing. */
export type Unwritten = Exclude<Outcome, { readonly kind: "written" } | { readonly kind: "replayed" }>;

/** Returns the problem for a transaction that wrote nothing, with the field names of the requested shape. */
export function refusal(outcome: Unwritten, mount: ServedMount, exchange: Exchange): Error {
  return convertProblem(mount, refusalIn(outcome, mount, exchange));
}

function refusalIn(outcome: Unwritten, mount: ServedMount, exchange: Exchange): Error {
  switch (outcome.kind) {
    case "mismatch":
      return problem("idempotency_mismatch");
    case "missing":
      return problem(outcome.change === 0 ? "not_found" : "conflict");
    case "stale":
      return problem("precondition_failed");
    case "taken":
      return takenIn(outcome, mount);
    case "dangling":
      if (outcome.column === mount.resource.parentColumn) return problem("not_found");
      if (isConcealed(mount, outcome.column)) return problem("conflict");
      return problem("invalid", {
        issues: [{ pointer: `/${outcome.column}`, code: "invalid", detail: "There is no record with this id." }],
      });
    case "unfit":
      if (isConcealed(mount, outcome.column)) return problem("conflict");
      if (outcome.column === "id") return idNeeded(mount);
      return problem("invalid", {
        issues: [
          {
            pointer: outcome.column === null ? "" : `/${outcome.column}`,
            code: "invalid",
            detail: "The database does not take this value.",
          },
        ],
      });
    case "referenced": {
      const by = findMount(mount.referrers, outcome.collection);
      if (by === null) notifyOperator(outcome.collection, mount, exchange);
      return referenced(by, exchange, by?.resource.plural ?? "");
    }
    case "refused":
      if (outcome.name === "too_many" && mount.maximum !== null) return tooManyRecords(mount, mount.maximum);
      return problem(refusedAs(outcome.name, mount), { issues: outcome.issues ?? [] });
  }
}

/** Returns true if the caller may not know the field of a column. Then a hook or a default has set its value. */
function isConcealed({ resource, newer }: ServedMount, column: string | null): boolean {
  const { concealed } = (newer ?? { resource }).resource;
  return column !== null && concealed !== undefined && Object.hasOwn(concealed, column.split("/", 1)[0]!);
}

/**
 * Returns the problem for values that another record already has. The column of the parent is no field of a record: the
 * path contains it.
 */
function takenIn({ column, columns = [] }: Extract<Outcome, { readonly kind: "taken" }>, mount: ServedMount): Problem {
  const fields = column === null ? columns.filter((name) => name !== mount.resource.parentColumn) : [column];
  if (fields.some((name) => isConcealed(mount, name))) return problem("conflict");
  return takenAt(...fields.map((name) => `/${name}`));
}

/** Returns the problem for a value that another record already has, or for several values that it has together. */
export function takenAt(...pointers: readonly string[]): Problem {
  const detail = pointers.length > 1 ? "These values together are already taken." : "This value is already taken.";
  return problem("taken", { issues: pointers.map((pointer) => ({ pointer, code: "taken", detail })) });
}

function tooManyRecords(mount: ServedMount, { per, records }: Maximum): Problem {
  const limit = isConcealed(mount, per) ? "are allowed" : `may have the same ${per}`;
  return problem("too_many", { detail: `At most ${records} ${mount.resource.plural} ${limit}. Delete one first.` });
}

/**
 * Returns the problem for a new record without an id, in an existing table that does not generate ids. The client must
 * choose the id. If no caller may choose one, returns a fault.
 */
function idNeeded({ resource: { name, path, id }, permissions }: ServedMount): Error {
  if (permissions.replace === undefined)
    return new TypeError(
      `The table of ${name} generates no ids, and no caller may choose one: give the mount a permission for replace, or remove "create" from writes`,
    );
  const what = id === "integer" ? "a whole number from 1" : id === "uuid" ? "a UUID" : "a text";
  const detail = `The table does not generate the id of this record. Choose an id, ${what}, and create the record with PUT ${path}/{id}.`;
  return problem("invalid", { issues: [{ pointer: "/id", code: "required", detail }] });
}

/**
 * Returns the problem for a failed `require` with this name: a code of the catalogue, a problem of the mount, or
 * `conflict` for any other name.
 */
function refusedAs(name: string, mount: ServedMount): AnyProblem {
  if (isCode(name)) return name;
  return ownAmong(problemsNamedBy(mount)).find(({ code }) => code === name) ?? "conflict";
}

/** Returns the problems that a mount and its actions declare. */
export function problemsNamedBy({
  problems,
  actions,
}: Pick<ServedMount, "problems" | "actions">): readonly AnyProblem[] {
  return [...Object.values(problems).flat(), ...actions.flatMap((action) => action.problems)];
}

function isCode(name: string): name is ProblemCode {
  return Object.hasOwn(catalogue, name);
}
