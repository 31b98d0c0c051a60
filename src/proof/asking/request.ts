import type { ServedMount } from "../../http/declarations/mount.ts";
import type { StoredRecord } from "../../store/store.ts";
import { actorHeaders, type Actor } from "../content/actors.ts";

/** One request that an actor sends. */
export interface ProveRequest {
  readonly actor: Actor;
  readonly method: string;
  /** The path with the query, without the base path of the service. */
  readonly path: string;
  /** The declared path of the endpoint: `/books/{id}`. */
  readonly route: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A body in JSON. */
  readonly body?: unknown;
  /** The mount whose rows a list shows, if it shows no others. */
  readonly lists?: ServedMount;
  /** The mount whose fields the answer shows, and the row. Null: the rows of the collection. Undefined: only a part. */
  readonly whole?: { readonly mount: ServedMount; readonly row: StoredRecord | null };
  /** The relation that the answer shows in every record of `whole`. */
  readonly expands?: ServedMount["relations"][number];
  /** A relation that does not exist for the caller, because its field is hidden. The answer must not show it. */
  readonly hides?: { readonly mount: ServedMount; readonly relation: ServedMount["relations"][number] };
  /** True if the request names only filters and sorts that the declarations let the caller use. */
  readonly isAllowed?: boolean;
  /** The fields that the code of the endpoint shows on purpose: `people.salary`. */
  readonly reveals?: readonly string[];
  /** The rows that the path to an endpoint of the project may name. */
  readonly named?: readonly { readonly mount: ServedMount; readonly row: StoredRecord }[];
  /** True if it has names that no declaration has, so that code may throw. */
  readonly isGuessed?: boolean;
  /** True if a key needs only the scope to write, and code of the project makes the answer. */
  readonly isWrittenByCode?: boolean;
  /** True if the answer must stay the same if only values change that the actor may not see. */
  readonly isCompared?: boolean;
}

/** The service's answer. */
export interface ProveAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/** Returns the header fields of a request, with the credential of the actor. */
export function headersOf({ actor, headers, body }: ProveRequest): Readonly<Record<string, string>> {
  return {
    ...(actor.credential === "none" ? {} : { [actorHeaders[actor.credential]]: actor.name }),
    ...(body === undefined || headers?.["Content-Type"] !== undefined ? {} : { "Content-Type": "application/json" }),
    ...headers,
  };
}

/** Returns the command that sends a request: `curl …`. */
export function formatCurl(request: ProveRequest, origin: string): string {
  const { method, path, body } = request;
  const parts = [
    "curl -s",
    ...(method === "GET" ? [] : [`-X ${method}`]),
    ...Object.entries(headersOf(request)).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data ${quote(JSON.stringify(body))}`]),
    quote(`${origin}${path}`),
  ];
  return parts.join(" ");
}

/** Quotes a text for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
