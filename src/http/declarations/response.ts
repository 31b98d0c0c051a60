import type { Reply } from "../../core/call/call.ts";
import { DeclarationError } from "../../core/checking/declaration-error.ts";
import {
  anObject,
  isObject,
  membersMistakes,
  optional as leftOut,
  text,
  texts,
  type Checks,
  type ValueCheck,
} from "../../core/checking/members.ts";
import { requireArguments } from "../../core/checking/options.ts";
import { made } from "../../core/copy.ts";
import type { Field } from "../../resource/declaration/field.ts";
import type { ShownBy } from "../../resource/declaration/types.ts";
import { describingMistakes } from "../../resource/define-problem.ts";
import { nullable } from "../../resource/json-schema/nullable.ts";
import type { FromSchema, JSONSchema } from "../../resource/json-schema/types.ts";

/** A member of a response: a field as in resources, the shape of an object or a list, or a JSON Schema. */
export type ResponseMember = Field | ResponseShape | JSONSchema;

/** The value of a member. */
type ValueOf<M> = M extends ResponseShape<infer V> ? V : M extends Field ? ShownBy<M> : FromSchema<M>;

/** The value of a response with these members. It may lack those in `O`. */
export type ResponseValue<F, O extends PropertyKey = never> = {
  readonly [K in Exclude<keyof F, O>]: ValueOf<F[K]>;
} & { readonly [K in keyof F & O]?: ValueOf<F[K]> };

/** The body of a reply with a declared response. */
export interface ResponseBody<V, E extends string> {
  readonly kind: "data";
  readonly value: V;
  readonly element: E;
  readonly items?: string;
  readonly jsonMembers?: readonly string[];
}

/** The shape of the body of a response: the JSON Schema of its value, and its name in XML. */
export interface ResponseShape<V = unknown, E extends string = string> {
  /** The name of its element in XML. */
  readonly element: E;
  /** The name of the element of each item in XML, if the body is a list. */
  readonly items?: string;
  /** The members that contain any JSON value. XML contains them as JSON text. */
  readonly jsonMembers?: readonly string[];
  /** JSON Schema 2020-12. */
  readonly schema: JSONSchema;
  /** Returns a reply with this body. `more` has its other members, for example header fields. */
  reply<const S extends number, const M extends Omit<Reply, "status" | "body"> = {}>(
    status: S,
    value: V,
    more?: M,
  ): M & { readonly status: S; readonly body: ResponseBody<V, E> };
}

/** The responses of an endpoint by status. Null for a response without a body, or with another one. */
export type Responses = Readonly<Record<number, ResponseShape<never> | null>>;

/** The replies of a handler, if its endpoint declares responses. */
export type ReplyTo<R> = [R] extends [Responses]
  ? {
      readonly [S in keyof R]: R[S] extends ResponseShape<infer V, infer E>
        ? Omit<Reply, "status" | "body"> & {
            readonly status: S;
            readonly body: ResponseBody<V, E>;
          }
        : Omit<Reply, "status"> & { readonly status: S };
    }[keyof R]
  : Reply;

/** Declares the body of a response, with fields like those of a resource. */
export interface ResponseDeclaration<N extends string, F, O extends keyof F> {
  /** The name of its element in XML. */
  readonly name: N;
  /**
   * The members of the body. A field has no other options than `optional`, which makes it null, `description` and
   * `example`.
   */
  readonly fields: F;
  /** The members that the body may lack. */
  readonly optional?: readonly O[];
  /** One sentence for the API's documentation. */
  readonly description?: string;
}

/**
 * Declares the body of a response, with fields like those of a resource. An endpoint with it in `responses` has its
 * schema in the API's documentation, and the compiler checks the replies of the handler.
 *
 * @example
 * ```ts
 * import { anyone, dateTime, defineEndpoint } from "latchkey";
 * import { defineResponse } from "latchkey/http";
 *
 * const time = defineResponse({ name: "time", fields: { now: dateTime() } });
 * export const clock = defineEndpoint({
 *   method: "GET",
 *   path: "/clock",
 *   access: anyone,
 *   responses: { 200: time },
 *   handle: ({ call }) => time.reply(200, { now: new Date(call.now).toISOString() }),
 * });
 * ```
 */
export function defineResponse<
  const N extends string,
  const F extends Readonly<Record<string, ResponseMember>>,
  const O extends keyof F & string = never,
>(declaration: ResponseDeclaration<N, F, O>): ResponseShape<ResponseValue<F, O>, N>;
export function defineResponse(
  declaration: ResponseDeclaration<string, Readonly<Record<string, ResponseMember>>, string>,
): ResponseShape {
  const mistakes = responseMistakes(declaration);
  if (mistakes.length > 0) throw new DeclarationError(mistakes.map((mistake) => `response: ${mistake}`));
  const { name, fields, optional = [], description } = declaration;
  const required = Object.keys(fields).filter((each) => !optional.includes(each));
  const properties = Object.fromEntries(Object.entries(fields).map(([each, member]) => [each, schemaOf(member)]));
  const schema = {
    type: "object",
    xml: { name },
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...(description === undefined ? {} : { description }),
  };
  const jsonMembers = Object.keys(fields).filter((each) => holdsAnyJSON(fields[each]!));
  return shape({ element: name, schema, ...(jsonMembers.length === 0 ? {} : { jsonMembers }) });
}

/** Declares the body of a response that is a list. `element` is the name of the list in XML. */
export function listOf<V, const E extends string>(item: ResponseShape<V>, element: E): ResponseShape<readonly V[], E>;
export function listOf(item: ResponseShape, element: string): ResponseShape {
  requireArguments("listOf", arguments, { item: aResponse, element: text });
  const schema = { type: "array", xml: { name: element, wrapped: true }, items: item.schema };
  const { jsonMembers } = item;
  return shape({ element, items: item.element, schema, ...(jsonMembers === undefined ? {} : { jsonMembers }) });
}

const aResponse: ValueCheck = (value) =>
  isObject(value) && typeof value["reply"] === "function" && isObject(value["schema"])
    ? null
    : "it has to be a response of defineResponse or listOf";

function shape({ schema, ...facts }: Omit<ResponseShape, "reply">): ResponseShape {
  const reply: unknown = (status: number, value: unknown, more: object = {}) => ({
    ...more,
    status,
    body: { kind: "data", value, ...facts },
  });
  return Object.freeze(made({ ...facts, schema, reply: reply as ResponseShape["reply"] }));
}

const members: Checks = { name: text, fields: anObject, optional: leftOut(texts), description: leftOut(text) };

function responseMistakes(declaration: unknown): readonly string[] {
  if (!isObject(declaration)) return ['it has to be an object, like { name: "time", fields: { now: dateTime() } }'];
  const mistakes = membersMistakes(declaration, members);
  if (mistakes.length > 0) return mistakes;
  const { fields, optional = [] } = declaration as { fields: Readonly<Record<string, unknown>>; optional?: string[] };
  return [
    ...optional.filter((each) => !Object.hasOwn(fields, each)).map((each) => `optional: there is no field ${each}`),
    ...Object.entries(fields).flatMap(([name, member]) =>
      isField(member)
        ? describingMistakes(member, "response").map((mistake) => `field ${name}: ${mistake}`)
        : isObject(member)
          ? []
          : [`field ${name}: it has to be a field, like text(), a response or a JSON Schema`],
    ),
  ];
}

function isField(member: unknown): member is Field {
  return isObject(member) && "kind" in member && "options" in member;
}

function holdsAnyJSON(member: ResponseMember): boolean {
  return isField(member) && member.kind.schema["type"] === undefined;
}

function schemaOf(member: ResponseMember): JSONSchema {
  if (!isField(member)) return "reply" in member ? (member as ResponseShape).schema : member;
  const { kind, options } = member;
  const schema = withoutLimits(kind.schema);
  return {
    ...(options.optional === true ? nullable(schema) : schema),
    ...(options.description === undefined ? {} : { description: options.description }),
    ...(options.example === undefined ? {} : { examples: [options.example] }),
  };
}

/** The keywords that limit what callers may send. A response promises the type of its values, and no limits. */
const limits: ReadonlySet<string> = new Set(["minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"]);

function withoutLimits(schema: JSONSchema): JSONSchema {
  const remaining = Object.entries(schema).filter(([name]) => !limits.has(name));
  return Object.fromEntries(
    remaining.map(([name, of]) => [name, name === "items" && isObject(of) ? withoutLimits(of) : of]),
  );
}
