import type { Permission } from "../../access/permission/contract.ts";
import type { Reply } from "../../core/call/call.ts";
import type { Mistake, ThereIsNo } from "../../core/checking/members.ts";
import { made } from "../../core/copy.ts";
import type { Deprecation } from "../../core/deprecation.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { AnyProblem } from "../../core/problem/catalogue.ts";
import type { BodyShape } from "../request/body-shape.ts";
import type { Offering } from "../request/core.ts";
import type { Context } from "../request/exchange.ts";
import type { MountedFacts, ReceivedBody } from "../request/facts.ts";
import type { ServedAction } from "./action.ts";
import type { BodySchema, OutputOf } from "./body.ts";
import type { ServedMount } from "./mount.ts";
import type { ReplyTo, Responses } from "./response.ts";
import type { RevealedField } from "./reveals.ts";

export type { BodyShape } from "../request/body-shape.ts";

/**
 * One method at one path, in the form that the pipeline serves. It is an endpoint of a mounted resource or a custom
 * endpoint.
 */
export interface ServedEndpoint extends MountedFacts {
  /**
   * `/orders/{order_id}/items`: a name in braces is an id (1 to 2^53-1), `{name:text}` is one segment of text,
   * `{id:uuid}` a UUID in lower case.
   */
  readonly path: string;
  /** The mounted resource that it belongs to. */
  readonly mounted?: ServedMount;
  /** The custom action of the resource that it serves. */
  readonly own?: ServedAction;
  /**
   * The fields that its code shows on purpose, although a permission hides them from some callers: `["people.salary"]`.
   * `latchkey prove` reports all others.
   */
  readonly reveals?: readonly RevealedField[];
  /** True if the toolkit declares it itself. */
  readonly isBuiltIn?: boolean;
  /** For the API's documentation. */
  readonly documentation?: EndpointDocumentation;
  /**
   * The responses by status, with their bodies (`defineResponse`). The API's documentation has their schemas, and the
   * compiler checks the replies of the handler. Null for a response without a body. Responses are not checked at run
   * time.
   */
  readonly responses?: Responses;
  /**
   * Called before the format, the media type and the body of a request are checked. Throws a problem to end the
   * request, for example if a page of another site sent it. Synchronous: a promise is a fault (500).
   */
  guard?(context: Context): void;
  /**
   * Throws a problem if the path names something that does not exist. Called before `If-Match` or `If-None-Match` is
   * checked, and only if the service checks one of them.
   */
  target?(context: Context): Eventually<unknown>;
  handle(context: Context): Eventually<Reply>;
}

/** One method at one path that you declare yourself. A mounted resource creates its endpoints itself. */
export interface Endpoint extends Omit<
  ServedEndpoint,
  "access" | "rows" | "mounted" | "own" | "deprecations" | "reading" | "form" | "isBuiltIn"
> {
  /**
   * The callers that may use it. `open`: credentials are not read, so an expired credential cannot lock a caller out. A
   * permission with `columns` is not allowed, because a custom endpoint has no rows that the permission could narrow.
   */
  readonly access: Permission | "open";
  /** The deprecation. Every response announces it in its headers. */
  readonly deprecated?: Deprecation;
  /**
   * The features that its handler gets with `context.use`, as objects. If the service lacks one of them, it does not
   * start.
   */
  readonly needs?: readonly Offering<unknown>[];
  /**
   * The schema of its body: a Standard Schema (zod, valibot, arktype) or a JSON Schema. A body that does not fit is 400
   * `invalid` with a pointer for each mistake. `context.body.value` has the schema's type. Also sets `consumes` to
   * `["application/json"]`, unless that is declared.
   */
  readonly body?: BodySchema;
}

/** The documentation of an endpoint in the API description. */
export interface EndpointDocumentation {
  readonly summary: string;
  readonly tag?: string;
  readonly request?: BodyShape;
  readonly responses?: Readonly<Record<string, ResponseDocumentation>>;
  readonly parameters?: readonly Readonly<Record<string, unknown>>[];
  /** The problems that its handler may throw, in addition to those of every endpoint of its kind. */
  readonly problems?: readonly AnyProblem[];
}

/** The documentation of one response in the API description. */
export interface ResponseDocumentation {
  readonly description: string;
  /** The schema of the body. Left out if there is none. */
  readonly schema?: BodyShape;
  /** The meaning of its header fields, by name. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An endpoint in the form that its author writes. Its functions get the parameters of the path with their types. */
export interface EndpointDeclaration<
  Path extends string,
  Schema extends BodySchema | undefined = BodySchema | undefined,
  IsOptional extends boolean = boolean,
  R extends Responses | undefined = Responses | undefined,
> extends Omit<Endpoint, "path" | "body" | "bodyOptional" | "responses" | "guard" | "target" | "handle"> {
  /**
   * `/orders/{order_id}/items`: a name in braces is an id (1 to 2^53-1), `{name:text}` is one segment of text,
   * `{id:uuid}` a UUID in lower case.
   */
  readonly path: Path & KnownParameters<Path>;
  /**
   * The schema of its body: a Standard Schema (zod, valibot, arktype) or a JSON Schema. A body that does not fit is 400
   * `invalid` with a pointer for each mistake. `context.body.value` has the schema's type. Also sets `consumes` to
   * `["application/json"]`, unless that is declared.
   */
  readonly body?: Schema;
  /** True if a request may have no body. Then `context.body` is null. */
  readonly bodyOptional?: IsOptional;
  /**
   * The responses by status, with their bodies (`defineResponse`). The API's documentation has their schemas, and the
   * compiler checks the replies of the handler. Null for a response without a body. Responses are not checked at run
   * time.
   */
  readonly responses?: R;
  /**
   * Called before the format, the media type and the body of a request are checked. Throws a problem to end the
   * request, for example if a page of another site sent it. Synchronous: a promise is a fault (500).
   */
  guard?(context: Context<ParamsOf<Path>>): void;
  /**
   * Throws a problem if the path names something that does not exist. Called before `If-Match` or `If-None-Match` is
   * checked, and only if the service checks one of them.
   */
  target?(context: Context<ParamsOf<Path>, BodyOf<Schema, IsOptional>>): Eventually<unknown>;
  handle(context: Context<ParamsOf<Path>, BodyOf<Schema, IsOptional>>): Eventually<ReplyTo<R>>;
}

/** The body of an endpoint with this schema. */
export type BodyOf<Schema, IsOptional> = undefined extends Schema
  ? ReceivedBody | null
  : ReceivedBody<OutputOf<Schema>> | (IsOptional extends true ? null : never);

/** The parameters of a path: `{id}` is a number, `{name:text}` and `{id:uuid}` are texts. */
export type ParamsOf<Path extends string> = {
  readonly [
    Name in Written<Path> as Name extends `${infer Text}:${"text" | "uuid"}` ? Text : Name
  ]: Name extends `${string}:${"text" | "uuid"}` ? string : number;
};

/** The text in each pair of braces. `string` if the path is not a literal type. */
type Written<Path extends string> = string extends Path
  ? string
  : Path extends `${string}{${infer Name}}${infer Rest}`
    ? Name | Written<Rest>
    : never;

/**
 * Accepts a path whose parameters all have a known type. Any other path is a type error that names the wrong parameter.
 */
type KnownParameters<Path extends string> = [UnknownIn<Path>] extends [never]
  ? unknown
  : Mistake<ThereIsNo<UnknownIn<Path>>>;
type UnknownIn<Path extends string> = string extends Path ? never : Unknown<Written<Path>>;
type Unknown<Name> = Name extends `${string}:${"text" | "uuid"}`
  ? never
  : Name extends `${string}:${string}`
    ? `{${Name}}`
    : never;

/**
 * Declares an endpoint of your own.
 *
 * @example
 * ```ts
 * import { authenticated, defineEndpoint } from "latchkey";
 *
 * export const hello = defineEndpoint({
 *   method: "GET",
 *   path: "/hello/{name:text}",
 *   access: authenticated,
 *   handle: ({ params }) => ({
 *     status: 200,
 *     body: { kind: "data", value: { hello: params.name }, element: "greeting" },
 *   }),
 * });
 * ```
 */
export function defineEndpoint<
  const Path extends string,
  const Schema extends BodySchema | undefined = undefined,
  const IsOptional extends boolean = false,
  const R extends Responses | undefined = undefined,
>(endpoint: EndpointDeclaration<Path, Schema, IsOptional, R>): Endpoint;
export function defineEndpoint(endpoint: object): Endpoint {
  return Object.freeze(made(endpoint as Endpoint));
}

const builtIn = new WeakSet<Endpoint>();

/**
 * Declares an endpoint of the toolkit itself. The compiler checks the replies of its handler, so they are not checked
 * at run time. The package does not export this function, and a copy of its result counts as a custom endpoint.
 */
export function builtInEndpoint<
  const Path extends string,
  const Schema extends BodySchema | undefined = undefined,
  const IsOptional extends boolean = false,
  const R extends Responses | undefined = undefined,
>(endpoint: EndpointDeclaration<Path, Schema, IsOptional, R>): Endpoint {
  const declared = defineEndpoint(endpoint);
  builtIn.add(declared);
  return declared;
}

/** Returns true if `builtInEndpoint` returned this object. */
export function isBuiltIn(endpoint: Endpoint): boolean {
  return builtIn.has(endpoint);
}
