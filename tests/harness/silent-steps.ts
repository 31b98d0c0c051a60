import type { Draw } from "./draw.ts";
import {
  commentFields,
  labelFields,
  oldFields,
  orderFields,
  projectFields,
  required,
  sendable,
  userFields,
  words,
  type Names,
} from "./silent-fields.ts";
import { adaLogin, uuidOf } from "./silent-world.ts";

/** The way on which a drawn request could show what its caller may not see. */
export type Channel = (typeof channels)[number];

export const channels = [
  "record",
  "list",
  "search",
  "expand",
  "count",
  "query",
  "head",
  "options",
  "create",
  "array",
  "replace",
  "merge patch",
  "JSON patch",
  "array of changes",
  "delete",
  "action",
  "repeat",
  "precondition",
  "nested",
  "older shape",
  "users",
  "logins",
  "orders",
  "pages",
  "documents",
] as const;

/** A drawn request. */
export interface Step {
  readonly channel: Channel;
  readonly method: string;
  readonly path: string;
  readonly as?: string | undefined;
  readonly body?: unknown;
  readonly headers: Readonly<Record<string, string>>;
  /** A header field that has another value in each world, because the worlds gave it: a tag or a credential. */
  readonly given?: readonly [name: string, values: readonly [string, string]];
}

/** The facts from earlier answers. */
export interface Memory {
  /** The tags of the answers, by path. */
  readonly tags: Map<string, readonly [string, string]>;
  /** The credentials of logins, as header fields. */
  readonly credentials: (readonly [name: string, values: readonly [string, string]])[];
  /** The ids that callers have met, and those of hidden rows, by the path of their list. */
  idsAt(path: string): readonly (number | string)[];
  /** The steps with an idempotency key. */
  readonly repeatable: Step[];
}

const operators = ["eq", "lt", "gt", "null", "contains", "icontains", "starts", "in"];
const types = ["json", "json", "json", "xml", "html"].map((name) =>
  name === "html" ? "text/html" : `application/${name}`,
);
const relations = ["team", "sponsor", "labels_of", "owner", "comments", "team,comments", "comments.author", "sponsr"];

interface Place {
  readonly key: string;
  readonly path: string;
  readonly fields: Names;
  readonly one: string;
  /** The path of a project, for requests of other kinds. */
  readonly project: string;
}

const LIST = /^(?:\/v1)?\/(?:projects|labels|users|orders)(?:\/\d+\/(?:comments|items))?(?:\?|$)/;

/** Draws a request. `at` is its number. */
export function drawStep(draw: Draw, memory: Memory, at: number): Step {
  const { below, pick } = draw;
  if (memory.repeatable.length > 0 && below(14) === 0) return { ...pick(memory.repeatable), channel: "repeat" };
  const caller = drawCaller(draw, memory);
  const headers: Record<string, string> = { accept: pick(types) };
  if (below(12) === 0)
    headers["prefer"] = pick(["count=exact", "count=estimated", "return=minimal", "return=representation"]);
  const step = pick([drawRead, drawRead, drawWrite, drawWrite, drawOther])(draw, drawPlace(draw, memory), headers);
  const whole = { ...step, ...caller, headers: { ...(step.headers ?? headers) } };
  // CSV can show lists alone.
  if (LIST.test(whole.path) && (whole.method === "GET" || whole.method === "QUERY") && below(4) === 0)
    whole.headers["accept"] = "text/csv";
  const isWrite = whole.method === "POST" || whole.method === "PATCH";
  if (isWrite && below(6) === 0) {
    const keyed = { ...whole, headers: { ...whole.headers, "idempotency-key": `silent-${at}` } };
    memory.repeatable.push(keyed);
    if (memory.repeatable.length > 20) memory.repeatable.shift();
    return keyed;
  }
  const tags = memory.tags.get(whole.path);
  if (whole.given !== undefined || tags === undefined || below(3) > 0) return whole;
  const name = whole.method === "GET" || whole.method === "HEAD" ? "if-none-match" : "if-match";
  return { ...whole, channel: "precondition", given: [name, tags] };
}

function drawCaller({ below, pick }: Draw, { credentials }: Memory): Pick<Step, "as" | "given"> {
  if (credentials.length > 0 && below(12) === 0) return { given: pick(credentials) };
  return { as: pick(["ada", "ada", "ada", "ada", "lea", "reader", undefined]) };
}

function drawPlace({ below, pick }: Draw, { idsAt }: Memory): Place {
  const project = pick([...idsAt("/projects"), 1 + below(9)]);
  const of = (key: string, path: string, fields: Names, other: number | string): Place => ({
    key,
    path,
    fields,
    project: `/projects/${project}`,
    one: `${path}/${below(6) === 0 ? other : pick([...idsAt(path), other])}`,
  });
  return pick([
    () => of("/projects", "/projects", projectFields, 1 + below(9)),
    () => of("/projects", "/projects", projectFields, 1 + below(9)),
    () => of("/v1/projects", "/v1/projects", oldFields, project),
    () => of("comments", `/projects/${project}/comments`, commentFields, 1 + below(14)),
    () => of("/labels", "/labels", labelFields, uuidOf(pick([1, 2, 3, 4, 5, 6, 1_000_001]))),
    () => of("/users", "/users", userFields, 2 + below(6)),
    () => of("/orders", pick(["/orders", "/orders", "/orders/1/items", "/orders/2/items"]), orderFields, 1 + below(5)),
  ])();
}

type Drawn = Pick<Step, "channel" | "method" | "path"> & {
  readonly body?: unknown;
  readonly headers?: Step["headers"];
};

/** Returns the channel of a request: that of its place, unless the place is the usual one. */
function channelAt({ key }: Place, usual: Channel): Channel {
  if (key === "/v1/projects") return "older shape";
  if (key === "comments") return "nested";
  if (key === "/users") return "users";
  return key === "/orders" ? "orders" : usual;
}

function drawRead(draw: Draw, place: Place, headers: Readonly<Record<string, string>>): Drawn {
  const { below, pick } = draw;
  const { path, one, fields, project } = place;
  const name = pick(Object.keys(fields));
  const value = pick(fields[name]!);
  return pick<() => Drawn>([
    () => ({ channel: channelAt(place, "record"), method: "GET", path: one }),
    () => ({ channel: channelAt(place, "record"), method: "GET", path: `${one}?fields=${name}` }),
    () => ({ channel: channelAt(place, "list"), method: "GET", path: path + drawQuery(draw, fields) }),
    () => ({ channel: channelAt(place, "list"), method: "GET", path: path + drawQuery(draw, fields) }),
    () => ({ channel: channelAt(place, "list"), method: "GET", path: `${path}?limit=${1 + below(3)}` }),
    () => ({ channel: "search", method: "GET", path: `${path}?search=${encodeURIComponent(pick(words))}` }),
    () => ({ channel: "expand", method: "GET", path: `${pick([path, one])}?expand=${pick(relations)}` }),
    () => ({
      channel: "expand",
      method: "GET",
      path: `${pick(["/orders", "/orders/1", "/orders/2"])}?expand=${pick(["user", "items", "user,items"])}`,
    }),
    () => ({
      channel: "expand",
      method: "GET",
      path: `${project}/comments?expand=${pick(["project", "author", "project.sponsor"])}`,
    }),
    () => ({
      channel: "count",
      method: "GET",
      path: `${path}?limit=1`,
      headers: { ...headers, prefer: pick(["count=exact", "count=estimated"]) },
    }),
    () => ({ channel: "head", method: "HEAD", path: pick([path, one]) }),
    () => ({ channel: "options", method: "OPTIONS", path: pick([path, one]) }),
    () => ({ channel: "query", method: "QUERY", path, body: { where: { [name]: { [pick(operators)]: value } } } }),
    () => ({ channel: "query", method: "QUERY", path, body: { where: { any: [{ [name]: { eq: value } }, {}] } } }),
    () => ({ channel: "query", method: "QUERY", path, body: { where: { not: { [name]: { eq: value } } } } }),
    () => ({ channel: "query", method: "QUERY", path, body: { sort: `-${name}`, fields: "id", limit: 2 } }),
    () => ({ channel: "query", method: "QUERY", path, body: { expand: pick(relations), fields: `id,${name}` } }),
    () => ({ channel: "query", method: "QUERY", path, body: { search: pick(words) } }),
  ])();
}

function drawQuery({ below, pick }: Draw, fields: Names): string {
  const names = Object.keys(fields);
  const parts: string[] = [];
  for (let count = 1 + below(2); count > 0; count--) {
    const name = pick(names);
    const value = encodeURIComponent(String(pick(fields[name]!)));
    parts.push(
      pick([
        `${name}=${value}`,
        `${name}[${pick(operators)}]=${value}`,
        `sort=${pick(["", "-"])}${name}`,
        `fields=${name},${pick(names)}`,
        `limit=${1 + below(4)}`,
        `expand=${pick(relations)}`,
      ]),
    );
  }
  return `?${parts.join("&")}`;
}

/** Draws a body: half of them have only fields that the caller may send. */
function drawBody({ below, pick }: Draw, { key, fields }: Place): Record<string, unknown> {
  const names = below(2) === 0 ? Object.keys(fields) : sendable[key]!.filter((name) => fields[name] !== undefined);
  const body: Record<string, unknown> = {};
  for (let count = 1 + below(2); count > 0 && names.length > 0; count--) {
    const name = pick(names);
    body[name] = pick(fields[name]!);
  }
  return body;
}

function drawWrite(draw: Draw, place: Place, headers: Readonly<Record<string, string>>): Drawn {
  const { pick } = draw;
  const { key, path, one, fields } = place;
  const whole = (): object => ({ ...required[key], ...drawBody(draw, place) });
  const id = key === "/labels" ? pick([uuidOf(2), uuidOf(3)]) : Number(one.split("/").at(-1));
  const name = pick(Object.keys(fields));
  return pick<() => Drawn>([
    () => ({ channel: channelAt(place, "create"), method: "POST", path, body: whole() }),
    () => ({ channel: "array", method: "POST", path, body: [whole(), whole()] }),
    () => ({ channel: channelAt(place, "replace"), method: "PUT", path: one, body: whole() }),
    () => ({ channel: channelAt(place, "merge patch"), method: "PATCH", path: one, body: drawBody(draw, place) }),
    () => ({ channel: channelAt(place, "merge patch"), method: "PATCH", path: one, body: drawBody(draw, place) }),
    () => ({ channel: "array of changes", method: "PATCH", path, body: [{ id, ...drawBody(draw, place) }] }),
    () => {
      const op = pick(["test", "test", "add", "replace", "remove", "copy", "move"]);
      const body = [{ op, path: `/${name}`, from: `/${pick(Object.keys(fields))}`, value: pick(fields[name]!) }];
      return {
        channel: "JSON patch",
        method: "PATCH",
        path: one,
        body,
        headers: { ...headers, "content-type": "application/json-patch+json" },
      };
    },
    () => ({
      channel: channelAt(place, "delete"),
      method: "DELETE",
      path: key === "/users" ? `${path}/${pick([3, 5, 6])}` : one,
    }),
  ])();
}

function drawOther(
  { below, pick }: Draw,
  { path, one, project }: Place,
  headers: Readonly<Record<string, string>>,
): Drawn {
  const user = `/users/${pick([2, 2, 3, 4])}`;
  const page = { ...headers, accept: "text/html" };
  return pick<() => Drawn>([
    () => ({
      channel: "action",
      method: "POST",
      path: `${pick(["", "/v1"])}${project}/rename`,
      body: { title: pick(words), ...(below(4) === 0 ? { cost: 1 } : {}) },
    }),
    () => ({ channel: "action", method: "POST", path: `${project}/close` }),
    () => ({ channel: "action", method: "GET", path: `${project}/look` }),
    () => ({ channel: "action", method: "POST", path: "/projects/nudge" }),
    () => ({
      channel: "pages",
      method: "GET",
      path: pick([path, one, project, `${project}?expand=${pick(relations)}`]),
      headers: page,
    }),
    () => ({
      channel: "pages",
      method: "GET",
      path: pick(["/", "/api/session/", `${user}/account`, `/console/why?of=${pick([path, one, "/projects"])}`]),
      headers: page,
    }),
    () => ({
      channel: "pages",
      method: "POST",
      path: pick(["/projects", "/labels"]),
      body: pick([{}, { title: "x", memo: "y" }, { word: "" }]),
      headers: page,
    }),
    () => ({
      channel: "logins",
      method: "GET",
      path: `${user}/${pick(["account", "sessions", "keys", "token", "identities", "factors"])}`,
    }),
    () => ({ channel: "logins", method: "GET", path: pick(["/", "/protected/", "/api/session/"]) }),
    () =>
      below(30) === 0
        ? {
            channel: "logins",
            method: "POST",
            path: pick(["/api/session/", "/api/token/", "/api-token-auth/"]),
            body: adaLogin,
          }
        : { channel: "logins", method: "GET", path: "/api/session/" },
    () => ({
      channel: "documents",
      method: "GET",
      path: pick(["/openapi.json", "/docs", "/problems", "/livez", "/outbox"]),
    }),
  ])();
}
