import { aPermission } from "../../access/permission/checking.ts";
import type { Permission } from "../../access/permission/contract.ts";
import {
  isObject,
  membersMistakes,
  buildChoiceCheck,
  optional,
  shown,
  text,
  type ValueCheck,
} from "../../core/checking/members.ts";
import { aDeprecation, readDeprecation, type Deprecated, type Deprecation } from "../../core/deprecation.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { AnyProblem } from "../../core/problem/catalogue.ts";
import {
  DeclarationError,
  defineResource,
  type Fields,
  type MadeValuesOf,
  type RecordOf,
  type StoredOf,
  type Resource,
  type TransientOf,
} from "../../resource/resource.ts";
import type { Collection } from "../../store/store.ts";
import type { Context } from "../request/exchange.ts";
import { aProblemList } from "./checking.ts";
import type { ActionResult } from "./given.ts";
import type { PermissionFor } from "./permissions.ts";
import { someReveals, type RevealedField } from "./reveals.ts";

/** The valid fields that a caller sent to an action. Empty if the action declares no fields. */
export type ActionDraft<B> = B extends Fields
  ? MadeValuesOf<ShapeOf<B>> & TransientOf<ShapeOf<B>> extends infer Sent
    ? { readonly [K in keyof Sent]: Sent[K] } // written as one object, so that editors show the members
    : never
  : Readonly<Record<never, never>>;
interface ShapeOf<B extends Fields> {
  readonly fields: B;
  readonly parentColumn: null;
}

/** One call of an action on a record. */
export interface RecordCall<R extends Resource = Resource, B = Fields> {
  /** The record as callers see it. Hidden fields can be read from `context.store`. */
  readonly record: RecordOf<R>;
  /**
   * The revision of the loaded record. The result is written only if the record still has it. Otherwise the action runs
   * again.
   */
  readonly revision: number;
  readonly draft: ActionDraft<B>;
  /** The table of the resource, for queries and for changes of other rows. */
  readonly collection: Collection<StoredOf<R>>;
  readonly context: Context;
}

/** One call of an action on the collection. */
export type CollectionCall<B = Fields> = Omit<RecordCall<Resource, B>, "record" | "revision">;

interface ActionFacts<R extends Resource, B> {
  /** The permission. If it narrows the rows, a request for any other record is answered with 404. */
  readonly permission: PermissionFor<R>;
  /**
   * The method. Default: `POST`. An action that changes nothing can use `GET`. A `GET` action has no body and declares
   * the fields of its answer.
   */
  readonly method?: "POST" | "GET";
  /** The fields of the body. Default: none. */
  readonly body?: B & Fields;
  /**
   * The answer: the `record` in its new state, `nothing`, or declared fields. Default: `record`, or `nothing` for the
   * collection.
   */
  readonly answer?: "record" | "nothing" | Fields;
  /**
   * The fields that its code shows on purpose, although a permission hides them from some callers: `["people.salary"]`.
   * `latchkey prove` reports all others.
   */
  readonly reveals?: readonly RevealedField[];
  /** A sentence for the API's documentation. */
  readonly description?: string;
  /** Marks the action as deprecated. Every response says so in its header fields. */
  readonly deprecated?: Deprecation;
  /** The additional problems of this action, for the API's documentation. */
  readonly problems?: readonly AnyProblem[];
}

/** An action on a record: `POST /orders/{id}/cancel`. */
export interface RecordAction<R extends Resource = Resource, B = Fields> extends ActionFacts<R, B> {
  readonly on?: "record";
  /**
   * Runs the action. Throws a problem to refuse it. The service calls it again if the record has changed in the
   * meantime, so effects outside of the store may happen twice.
   */
  handle(call: RecordCall<R, B>): Eventually<ActionResult<R> | void>;
}

/** An action on the collection: `POST /orders/close-all`. */
export interface CollectionAction<R extends Resource = Resource, B = Fields> extends ActionFacts<R, B> {
  readonly on: "collection";
  handle(call: CollectionCall<B>): Eventually<Omit<ActionResult<R>, "values"> | void>;
}

/** The additional actions of a resource, by the last part of their path. */
export type Actions<R extends Resource, B> = {
  readonly [K in keyof B]: RecordAction<R, B[K]> | CollectionAction<R, B[K]>;
};

/** An action ready to serve. */
export interface ServedAction {
  /** The last part of its path. */
  readonly name: string;
  readonly on: "record" | "collection";
  readonly method: "POST" | "GET";
  readonly permission: Permission<string>;
  /** The fields of the body. */
  readonly body: Resource;
  readonly answer: "record" | "nothing" | Resource;
  /** The fields that its code shows on purpose. */
  readonly reveals: readonly RevealedField[];
  readonly description: string | null;
  readonly deprecations: readonly Deprecated[];
  readonly problems: readonly AnyProblem[];
  readonly handle: Handle;
}

/**
 * The type of a method, because TypeScript checks the parameters of methods less strictly. So it accepts a handler for
 * one record type. The handler gets only records of that type.
 */
type Handle = { handle(call: RecordCall): unknown }["handle"];

const NAME = /^[a-z][a-z0-9]*([_-][a-z0-9]+)*$/;

const actionMembers: Readonly<Record<keyof CollectionAction, ValueCheck>> = {
  on: optional(buildChoiceCheck("record", "collection")),
  permission: aPermission,
  method: optional(buildChoiceCheck("POST", "GET")),
  body: optional((value) => (isObject(value) ? null : "it has to be fields, like { reason: text() }")),
  answer: optional((value) =>
    value === "record" || value === "nothing" || isObject(value)
      ? null
      : 'it has to be "record", "nothing" or fields, like { total: decimal({ scale: 2 }) }',
  ),
  reveals: optional(someReveals),
  description: optional(text),
  deprecated: optional(aDeprecation),
  problems: optional(aProblemList),
  handle: (value) => (typeof value === "function" ? null : "it has to be a function"),
};

/** Reads the actions of a resource. Throws `DeclarationError` if they have mistakes. */
export function requireActions(resource: Resource, declared: unknown): readonly ServedAction[] {
  const mistakes: string[] = [];
  const actions = readActions(declared, mistakes);
  if (mistakes.length > 0) throw new DeclarationError(mistakes.map((mistake) => `mount(${resource.path}): ${mistake}`));
  return actions;
}

/** Reads the actions of a resource. Adds their mistakes to `mistakes`, each with its location and fix. */
function readActions(declared: unknown, mistakes: string[]): readonly ServedAction[] {
  if (declared === undefined) return [];
  if (!isObject(declared)) {
    mistakes.push(`actions is ${shown(declared)}; it has to be an object of actions, like { cancel: { … } }`);
    return [];
  }
  return Object.entries(declared).flatMap(([name, action]) => {
    const found: string[] = [];
    const read = readAction(name, action, found);
    mistakes.push(...found.map((mistake) => `action ${name}: ${mistake}`));
    return read === null || found.length > 0 ? [] : [read];
  });
}

function readAction(name: string, declared: unknown, mistakes: string[]): ServedAction | null {
  if (!NAME.test(name)) mistakes.push("the name must be lower-case words joined by hyphens, like close-all");
  if (!isObject(declared)) {
    mistakes.push(`it is ${shown(declared)}, not an action; write { permission: …, handle: … }`);
    return null;
  }
  const wrong = membersMistakes(declared, actionMembers);
  mistakes.push(...wrong);
  if (wrong.length > 0) return null;
  const {
    on = "record",
    method = "POST",
    permission,
    body,
    answer,
    reveals,
    description,
    deprecated,
    problems,
    handle,
  } = declared as unknown as RecordAction | CollectionAction;
  const action: ServedAction = {
    name,
    on,
    method,
    permission,
    body: defineFields(name, "body", body ?? {}, mistakes),
    answer: readAnswer(name, answer ?? (on === "record" && method === "POST" ? "record" : "nothing"), mistakes),
    reveals: reveals ?? [],
    description: description ?? null,
    deprecations: readDeprecation(`action ${name}`, deprecated),
    problems: problems ?? [],
    handle,
  };
  mistakes.push(...contradictions(action));
  return Object.freeze(action);
}

function readAnswer(name: string, answer: "record" | "nothing" | Fields, mistakes: string[]): ServedAction["answer"] {
  return typeof answer === "string" ? answer : defineFields(name, "answer", answer, mistakes);
}

/** Returns a resource with these fields. The body and the answer of an action are parsed and shown like records. */
function defineFields(name: string, member: string, fields: Fields, mistakes: string[]): Resource {
  try {
    return defineResource({ name: NAME.test(name) ? name.replaceAll("-", "_") : "action", fields });
  } catch (error) {
    if (!(error instanceof DeclarationError)) throw error;
    mistakes.push(...error.mistakes.map((mistake) => `${member}: ${mistake.replace(/^resource [^:]*: /, "")}`));
    return defineResource({ name: "action", fields: {} });
  }
}

function* contradictions({ on, method, permission, body, answer }: ServedAction): Generator<string> {
  if (on === "collection" && (permission.narrows ?? []).includes("call"))
    yield `the permission ${permission.name} narrows to rows, but an action on the collection has no rows; use one that says "allow" or "deny"`;
  if (on === "collection" && answer === "record")
    yield 'an action on the collection has no record; answer "nothing" or fields';
  if (method === "GET" && Object.keys(body.fields).length > 0)
    yield "GET has no body; take POST, or leave the body out";
  if (method === "GET" && typeof answer === "string")
    yield "GET changes nothing, so it has to declare the fields of its answer; declare them, or use POST";
  for (const [member, shape] of Object.entries({ body, answer: typeof answer === "string" ? null : answer }))
    for (const [field, { options }] of Object.entries(shape?.fields ?? {}))
      if ((options.read ?? options.write) !== undefined)
        yield `${member}: field ${field}: the permission of the action decides who sends and reads it; leave read and write out`;
  for (const [field, { options }] of Object.entries(body.fields))
    if (options.unique !== undefined && options.unique !== false)
      yield `body: field ${field}: the body of an action is not stored, so it cannot be unique; leave unique out`;
}
