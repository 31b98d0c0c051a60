import type { Permission } from "../../access/permission/contract.ts";
import type { Reply } from "../../core/call/call.ts";
import type { Mistake, ThereIsNo } from "../../core/checking/members.ts";
import { made } from "../../core/copy.ts";
import type { Deprecation } from "../../core/deprecation.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { AnyProblem } from "../../core/problem/definition.ts";
import type { Offering } from "../core.ts";
import type { Context } from "../exchange.ts";
import type { ServedAction } from "../mount/actions/action.ts";
import type { MountInPlace } from "../mount/mount.ts";
import type { BodySchema, OutputOf } from "./body.ts";
import type { MountedFacts, ReceivedBody } from "./facts.ts";
import type { Shape } from "./shape.ts";

export type { Shape } from "./shape.ts";

/** One method at one path, as the pipeline serves it: of a mounted resource, or one's own. */
export interface ServedEndpoint extends MountedFacts {
  /** `/orders/{order_id}/items`: a name in braces is an id (1 to 2^53-1), `{name:text}` is one segment of text, `{id:uuid}` a UUID in lower case. */
  readonly path: string;
  /** The mounted resource that it belongs to. */
  readonly mounted?: MountInPlace;
  /** The resource's own action that it is. */
  readonly own?: ServedAction;
  /** For the API's documentation. */
  readonly documentation?: EndpointDocumentation;
  /**
   * Ends the request before its format, its type and its body are looked at, by throwing a problem: where a call from another site must not even
   * begin. At once: a promise is a fault (500).
   */
  guard?(context: Context): void;
  /** Ends the request where what its path names is not there. It is asked only where preconditions are weighed, which come after that. */
  target?(context: Context): Eventually<unknown>;
  handle(context: Context): Eventually<Reply>;
}

/** One method at one path. Resources are mounted as endpoints; whatever is no resource is written as one. */
export interface Endpoint extends Omit<
  ServedEndpoint,
  "access" | "rows" | "mounted" | "own" | "deprecations" | "reading"
> {
  /**
   * Who may. `open`: credentials are not even looked at, so that a stale one cannot lock anyone out. A permission that needs columns has
   * rows to narrow, and nothing here would apply them.
   */
  readonly access: Permission | "open";
  /** It will go: every answer says so in its headers. */
  readonly deprecated?: Deprecation;
  /** The features that its handler uses (`context.use`), by value: where one is not in the service, that does not start. */
  readonly needs?: readonly Offering<unknown>[];
  /**
   * The schema of its body: a Standard Schema (zod, valibot, arktype) or a JSON Schema. A body that does not fit is 400 `invalid` with a pointer
   * for each mistake. `context.body.value` has the schema's type. Also sets `consumes` to `["application/json"]`, unless that is declared.
   */
  readonly body?: BodySchema;
}

/** What the API's documentation says about an endpoint. */
export interface EndpointDocumentation {
  readonly summary: string;
  readonly tag?: string;
  readonly request?: Shape;
  readonly responses?: Readonly<Record<string, ResponseDocumentation>>;
  readonly parameters?: readonly Readonly<Record<string, unknown>>[];
  /** What its handler may throw, besides what every endpoint of its kind can end in. */
  readonly problems?: readonly AnyProblem[];
}

/** What the API's documentation says about one answer. */
export interface ResponseDocumentation {
  readonly description: string;
  /** Of the body; there is none where it is left out. */
  readonly schema?: Shape;
  /** What its header fields mean, by name. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An endpoint, as its author writes it: its functions know the parameters of its path. */
export interface EndpointDeclaration<
  Path extends string,
  Schema extends BodySchema | undefined = BodySchema | undefined,
  IsOptional extends boolean = boolean,
> extends Omit<Endpoint, "path" | "body" | "bodyOptional" | "guard" | "target" | "handle"> {
  /** `/orders/{order_id}/items`: a name in braces is an id (1 to 2^53-1), `{name:text}` is one segment of text, `{id:uuid}` a UUID in lower case. */
  readonly path: Path & KnownParameters<Path>;
  /**
   * The schema of its body: a Standard Schema (zod, valibot, arktype) or a JSON Schema. A body that does not fit is 400 `invalid` with a pointer
   * for each mistake. `context.body.value` has the schema's type. Also sets `consumes` to `["application/json"]`, unless that is declared.
   */
  readonly body?: Schema;
  /** A body may be left out. `context.body` is null then. */
  readonly bodyOptional?: IsOptional;
  /**
   * Ends the request before its format, its type and its body are looked at, by throwing a problem: where a call from another site must not even
   * begin. At once: a promise is a fault (500).
   */
  guard?(context: Context<ParamsOf<Path>>): void;
  /** Ends the request where what its path names is not there. It is asked only where preconditions are weighed, which come after that. */
  target?(context: Context<ParamsOf<Path>, BodyOf<Schema, IsOptional>>): Eventually<unknown>;
  handle(context: Context<ParamsOf<Path>, BodyOf<Schema, IsOptional>>): Eventually<Reply>;
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

/** What stands in braces; whatever may stand there, where the path is not known. */
type Written<Path extends string> = string extends Path
  ? string
  : Path extends `${string}{${infer Name}}${infer Rest}`
    ? Name | Written<Rest>
    : never;

/** A path whose parameters are all of a type that there is. */
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
 *   handle: ({ params }) => ({ status: 200, body: { kind: "data", value: { hello: params.name }, element: "greeting" } }),
 * });
 * ```
 */
export function defineEndpoint<
  const Path extends string,
  const Schema extends BodySchema | undefined = undefined,
  const IsOptional extends boolean = false,
>(endpoint: EndpointDeclaration<Path, Schema, IsOptional>): Endpoint;
export function defineEndpoint(endpoint: Endpoint): Endpoint {
  return Object.freeze(made(endpoint));
}
