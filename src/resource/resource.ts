import type { Fields, Operator, Resource, ResourceDeclaration } from "./declaration.ts";
import { isShown, type Field } from "./field.ts";
import { mistakesOf } from "./mistakes.ts";

export type { Fields, Operator, Resource, ResourceDeclaration };

type OptionsOf<F> = F extends Field<infer _, infer O> ? O : never;
type ValueOf<F> = F extends Field<infer T, infer _> ? T : never;
type IsTrue<O, K extends string> = O extends { readonly [P in K]: true } ? true : false;
type HasDefault<O> = O extends { readonly default: {} | null } ? true : false;
type IsGiven<O> = O extends { readonly generated: (...context: never[]) => unknown }
  ? false
  : IsTrue<O, "readOnly"> extends true
    ? false
    : true;
type IsLeftOut<O> = IsTrue<O, "optional"> extends true ? true : HasDefault<O>;
type Shown<T, O> = IsTrue<O, "optional"> extends true ? (HasDefault<O> extends true ? T : T | null) : T;
type Sent<T, O> = IsTrue<O, "optional"> extends true ? (IsTrue<O, "transient"> extends true ? T : T | null) : T;

/** What a caller reads. */
export type RecordOf<R extends Resource> = { readonly id: number } & {
  readonly [K in keyof R["fields"] as IsTrue<OptionsOf<R["fields"][K]>, "writeOnly"> extends true ? never : K]: Shown<
    ValueOf<R["fields"][K]>,
    OptionsOf<R["fields"][K]>
  >;
};

/** What a caller sends to create or replace. */
export type DraftOf<R extends Resource> = {
  readonly [
    K in keyof R["fields"] as IsGiven<OptionsOf<R["fields"][K]>> extends true
      ? IsLeftOut<OptionsOf<R["fields"][K]>> extends true
        ? never
        : K
      : never
  ]: Sent<ValueOf<R["fields"][K]>, OptionsOf<R["fields"][K]>>;
} & {
  readonly [
    K in keyof R["fields"] as IsGiven<OptionsOf<R["fields"][K]>> extends true
      ? IsLeftOut<OptionsOf<R["fields"][K]>> extends true
        ? K
        : never
      : never
  ]?: Sent<ValueOf<R["fields"][K]>, OptionsOf<R["fields"][K]>>;
};

/** A declaration that cannot be served. It names every mistake and its cure. */
export class DeclarationError extends Error {
  /** Each with its place and its cure. */
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(`The declaration cannot be served:\n${mistakes.map((each) => `- ${each}`).join("\n")}`);
    this.name = "DeclarationError";
    this.mistakes = mistakes;
  }
}

/** Declares a resource. Throws `DeclarationError` with everything that is wrong at once. */
export function defineResource<const F extends Fields>(declaration: ResourceDeclaration<F>): Resource<F> {
  const { name, plural = `${name}s`, within = null, fields } = declaration;
  const parentColumn = within === null ? null : `${within.name}_id`;
  const problems = mistakesOf(declaration, parentColumn);
  if (problems.length > 0)
    throw new DeclarationError(problems.map((each) => `resource ${name || "(no name)"}: ${each}`));
  return Object.freeze({
    name,
    plural,
    path: within === null ? `/${plural}` : `${within.path}/{${parentColumn}}/${plural}`,
    within,
    parentColumn,
    fields,
    filters: new Map(Object.entries(declaration.filters ?? {}) as [string, readonly Operator[]][]),
    sorts: ["id", ...(declaration.sorts ?? [])],
    check: declaration.check ?? null,
    description: declaration.description ?? null,
  });
}

/** The names of the fields that stand in representations, `id` first. */
export function shownFields(resource: Resource): readonly string[] {
  return ["id", ...Object.keys(resource.fields).filter((name) => isShown(resource.fields[name]!))];
}
