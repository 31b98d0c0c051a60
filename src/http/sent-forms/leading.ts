import type { Reply } from "../../core/call/call.ts";
import { isObject } from "../../core/checking/members.ts";
import { findOwnPath, linkTo } from "../../core/html/link.ts";
import { belowBasePath } from "../base-path.ts";
import type { ServedEndpoint } from "../declarations/endpoint.ts";
import type { Exchange } from "../request/exchange.ts";
import type { Offer } from "../request/view.ts";

/** Returns what the caller may do at a path of the service, without its base path. */
type Offers = (path: string) => Promise<readonly Offer[]>;

/**
 * Returns the reply to a form: it leads to the next page (303), so that loading that page again sends nothing. A reply
 * with values that no other page shows is the page itself: a key, or the answer of an action.
 */
export async function leadOn(
  { call, service }: Exchange,
  endpoint: ServedEndpoint,
  reply: Reply,
  offers: Offers,
): Promise<Reply> {
  if (reply.status < 200 || reply.status >= 300 || showsOnlyHere(endpoint, reply)) return reply;
  const headers = (reply.headers ?? []).filter(([name]) => name !== "Location");
  const created = reply.headers?.find(([name]) => name === "Location")?.[1];
  const location = await findNext({ call, service, endpoint, created, offers });
  return { status: 303, headers: [...headers, ["Location", location]] };
}

function showsOnlyHere({ mounted, own }: ServedEndpoint, { body, cache }: Reply): boolean {
  if (body === undefined || (body.kind === "data" && isEmpty(body.value))) return false;
  return cache === "no-store" || (mounted?.once ?? null) !== null || typeof own?.answer === "object";
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

/** A form that had its effect. */
interface DoneForm extends Pick<Exchange, "call" | "service"> {
  readonly endpoint: ServedEndpoint;
  /** The address of the created record. Undefined if there is none. */
  readonly created: string | undefined;
  readonly offers: Offers;
}

/**
 * Returns the next page: the new record; the page that the form was on, unless it was only the form; or the record. The
 * list follows a deleted record, and the start page follows if the caller may open neither.
 */
async function findNext({ call, service, endpoint, created, offers }: DoneForm): Promise<string> {
  const { basePath } = service;
  const path = (belowBasePath(created ?? call.path, basePath) ?? "/").replace(/(?<=.)\/$/, "");
  const isGone = endpoint.method === "DELETE";
  const from = created === undefined ? findOwnPath(call.header("referer"), call.client.origin) : null;
  if (from !== null && isOtherPage(from, isGone ? basePath + path : null)) return linkTo(from);
  const record = endpoint.own === undefined ? path : parentOf(path);
  for (const next of isGone ? [parentOf(path)] : [record, parentOf(record)])
    if ((await offers(next)).some(({ method }) => method === "GET")) return linkTo(basePath + next);
  return `${basePath}/`;
}

/** Returns true if a page is not that of a form, and not of the deleted record. */
function isOtherPage(target: string, gone: string | null): boolean {
  const [path = "", query = ""] = target.split("?", 2);
  if (new URLSearchParams(query).has("form")) return false;
  return gone === null || (path !== gone && !path.startsWith(`${gone}/`));
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0)) || "/";
}
