import type { Eventually } from "../eventually.ts";
import type { Permission } from "../permission/contract.ts";
import type { AnyProblem } from "../problem/definition.ts";
import type { Resource } from "../resource/resource.ts";
import type { Reply } from "./call.ts";
import type { Context } from "./exchange.ts";
import type { MountedFacts } from "./facts.ts";

/** One method at one path, as the pipeline serves it: of a mounted resource, or one's own. */
export interface ServedEndpoint extends MountedFacts {
  /** `/orders/{order_id}/items`: a name in braces is an id (1 to 2^53-1), `{name:text}` is one segment of text. */
  readonly path: string;
  /** For the API's documentation. */
  readonly documentation?: EndpointDocumentation;
  /** Ends the request before its format, its type and its body are looked at: where a call from another site must not even begin. */
  guard?(context: Context): void;
  /** Ends the request where what its path names is not there. It is asked only where preconditions are weighed, which come after that. */
  target?(context: Context): Eventually<unknown>;
  handle(context: Context): Eventually<Reply>;
}

/** One method at one path. Resources are mounted as endpoints; whatever is no resource is written as one. */
export interface Endpoint extends Omit<ServedEndpoint, "access" | "rows"> {
  /**
   * Who may. `open`: credentials are not even looked at, so that a stale one cannot lock anyone out. A permission that needs columns has
   * rows to narrow, and nothing here would apply them.
   */
  readonly access: Permission | "open";
}

/** The shape of a body: a declaration, whose fields say it, or a JSON Schema. */
export type Shape = Resource | Readonly<Record<string, unknown>>;

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
export interface EndpointDeclaration<Path extends string> extends Omit<
  Endpoint,
  "path" | "guard" | "target" | "handle"
> {
  /** `/orders/{order_id}/items`: a name in braces is an id (1 to 2^53-1), `{name:text}` is one segment of text. */
  readonly path: Path;
  /** Ends the request before its format, its type and its body are looked at: where a call from another site must not even begin. */
  guard?(context: Context<ParamsOf<Path>>): void;
  /** Ends the request where what its path names is not there. It is asked only where preconditions are weighed, which come after that. */
  target?(context: Context<ParamsOf<Path>>): Eventually<unknown>;
  handle(context: Context<ParamsOf<Path>>): Eventually<Reply>;
}

/** The parameters of a path: `{id}` is a number, `{name:text}` a text. */
export type ParamsOf<Path extends string> = {
  readonly [Name in Written<Path> as Name extends `${infer Text}:text` ? Text : Name]: Name extends `${string}:text`
    ? string
    : number;
};

/** What stands in braces; whatever may stand there, where the path is not known. */
type Written<Path extends string> = string extends Path
  ? string
  : Path extends `${string}{${infer Name}}${infer Rest}`
    ? Name | Written<Rest>
    : never;

/** Declares an endpoint of your own. */
export function defineEndpoint<const Path extends string>(endpoint: EndpointDeclaration<Path>): Endpoint;
export function defineEndpoint(endpoint: Endpoint): Endpoint {
  return Object.freeze(endpoint);
}
