import { labels, passwordOf, type Ids } from "./channel-world.ts";

export type Caller = "plain" | "boss";
/** The resources whose values an answer shows. */
export type Shown = "thing" | "part" | "user" | "label";

/** A way on which the service shows records. */
export interface Channel {
  /** The endpoint: method and path. */
  readonly of: string;
  readonly name?: string;
  /** The target of the request. Default: the path of the endpoint, with the record in it. */
  readonly target?: (ids: Ids, as: Caller) => string;
  readonly body?: (ids: Ids, as: Caller) => unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The result for a caller with all rights. */
  readonly shows: readonly Shown[];
  /** The result for a caller without rights, apart from the hidden values. Default: the same. */
  readonly showsPlain?: readonly Shown[];
  /** The formats that show it. Default: all that can. */
  readonly in?: readonly string[];
  /** True if its caller is known by a body alone. */
  readonly logsIn?: boolean;
}

let names = 0;

/** A whole body, with every field that the caller may send. */
const whole = (name: string) => (_ids: Ids, as: Caller) => ({
  [name]: "sent",
  ...(as === "plain" ? {} : prefixed(name === "title" ? "" : "old_", sentByBoss())),
});

const prefixed = (prefix: string, body: object): object =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [prefix + name, value as unknown]));

function sentByBoss(): object {
  const { both_one, blind_one, both_many, blind_many } = labels;
  const lists = { both_many: [both_many], blind_many: [blind_many] };
  return { both_one, blind_one, ...lists, both_unique: `mark-thing-both-unique-sent-${++names}` };
}

const jsonPatch = { "content-type": "application/json-patch+json" };

/** The channels of a resource at a path. `title` is its first field. */
function ofResource(path: string, title: string, shown: Shown, first: (ids: Ids) => number): readonly Channel[] {
  const at = ({ thing }: Ids): string => path.replace("{thing_id}", String(thing));
  const one = (ids: Ids): string => `${at(ids)}/${first(ids)}`;
  const shows = [shown];
  const sends = shown === "thing" ? whole(title) : () => ({ [title]: "sent" });
  const key = (): Readonly<Record<string, string>> => ({ "idempotency-key": `channel-${++names}` });
  return [
    { of: `GET ${path}`, target: at, shows },
    { of: `GET ${path}`, name: "a page", target: (ids) => `${at(ids)}?limit=1`, shows },
    { of: `QUERY ${path}`, target: at, body: () => ({ limit: 2 }), shows },
    { of: `POST ${path}`, target: at, body: sends, shows },
    { of: `POST ${path}`, name: "repeatable", target: at, body: sends, headers: key(), shows },
    { of: `GET ${path}/{id}`, target: one, shows },
    { of: `PUT ${path}/{id}`, target: one, body: sends, shows },
    { of: `PATCH ${path}/{id}`, target: one, body: () => ({ [title]: "changed" }), shows },
    {
      of: `PATCH ${path}/{id}`,
      name: "JSON Patch",
      target: one,
      body: () => [{ op: "replace", path: `/${title}`, value: "changed" }],
      headers: jsonPatch,
      shows,
    },
    {
      of: `PATCH ${path}/{id}`,
      name: "refused",
      target: one,
      body: () => ({ [title]: "" }),
      shows: [],
    },
    {
      of: `PATCH ${path}/{id}`,
      name: "too late",
      target: one,
      body: () => ({ [title]: "changed" }),
      headers: { "if-match": '"an-older-tag"' },
      shows: [],
    },
    { of: `DELETE ${path}/{id}`, target: one, shows: [] },
  ];
}

const arraysOf = (path: string, title: string, shown: Shown, first: (ids: Ids) => number): readonly Channel[] => {
  const at = ({ thing }: Ids): string => path.replace("{thing_id}", String(thing));
  const shows = [shown];
  const sends = shown === "thing" ? whole(title) : () => ({ [title]: "sent" });
  return [
    { of: `POST ${path}`, name: "an array", target: at, body: (ids, as) => [sends(ids, as)], shows },
    { of: `PATCH ${path}`, target: at, body: (ids) => [{ id: first(ids), [title]: "changed" }], shows },
  ];
};

const actionsOf = (path: string): readonly Channel[] => [
  { of: `POST ${path}/{id}/touch`, shows: ["thing"] },
  { of: `POST ${path}/{id}/close`, shows: [] },
  { of: `GET ${path}/{id}/look`, shows: [] },
  { of: `POST ${path}/tidy`, shows: [] },
];

const every = (as: Caller): string => (as === "boss" ? "parts,both_label,blind_label,labels" : "parts");
const ofThing = ({ thing }: Ids): number => thing;
const ofPart = ({ part }: Ids): number => part;

/** The channels that show records. */
export const channels: readonly Channel[] = [
  ...ofResource("/things", "title", "thing", ofThing),
  ...arraysOf("/things", "title", "thing", ofThing),
  ...actionsOf("/things"),
  ...ofResource("/v1/things", "name", "thing", ofThing),
  ...arraysOf("/v1/things", "name", "thing", ofThing),
  ...actionsOf("/v1/things"),
  ...ofResource("/things/{thing_id}/parts", "line", "part", ofPart),
  ...arraysOf("/things/{thing_id}/parts", "line", "part", ofPart),
  {
    of: "GET /things/{id}",
    name: "with related records",
    target: ({ thing }, as) => `/things/${thing}?expand=${every(as)}`,
    shows: ["thing", "part", "label"],
    showsPlain: ["thing", "part"],
  },
  {
    of: "GET /things",
    name: "with related records",
    target: (_, as) => `/things?expand=${every(as)}`,
    shows: ["thing", "part", "label"],
    showsPlain: ["thing", "part"],
    in: ["application/json", "application/xml"],
  },
  {
    of: "QUERY /things",
    name: "with related records",
    target: () => "/things",
    body: (_, as) => ({ expand: every(as) }),
    shows: ["thing", "part", "label"],
    showsPlain: ["thing", "part"],
    in: ["application/json", "application/xml"],
  },
  {
    of: "GET /things/{thing_id}/parts/{id}",
    name: "with its parent",
    target: ({ thing, part }) => `/things/${thing}/parts/${part}?expand=thing`,
    shows: ["thing", "part"],
    // The page of a record names the records that it refers to.
    in: ["application/json", "application/xml"],
  },
  {
    of: "GET /v1/things/{id}",
    name: "with related records",
    target: ({ thing }, as) => `/v1/things/${thing}?expand=${every(as)}`,
    shows: ["thing", "part", "label"],
    showsPlain: ["thing", "part"],
    in: ["application/json", "application/xml"],
  },
  { of: "GET /own-things/{id}", shows: ["thing"] },
  { of: "PATCH /own-things/{id}", body: () => ({ title: "changed" }), shows: ["thing"] },
  { of: "GET /users", shows: ["user"] },
  { of: "QUERY /users", body: () => ({}), shows: ["user"] },
  { of: "GET /users/{id}", target: () => "/users/2", shows: ["user"] },
  {
    of: "PATCH /users/{id}",
    target: (_, as) => `/users/${as === "boss" ? 3 : 2}`,
    body: (_, as) => ({ name: as }),
    shows: ["user"],
  },
  {
    of: "PUT /users/{id}",
    target: (_, as) => `/users/${as === "boss" ? 3 : 2}`,
    body: (_, as) => ({ name: as, email: `${as}@example.com` }),
    shows: ["user"],
  },
  { of: "GET /api/session/", shows: ["user"] },
  {
    of: "POST /api/session/",
    body: (_, as) => passwordOf(as),
    logsIn: true,
    shows: ["user"],
    in: ["application/json", "application/xml"],
  },
  { of: "GET /", shows: ["user"], in: ["application/json", "application/xml"] },
  {
    of: "GET /orders/{id}",
    target: (_, as) => `/orders/${as === "plain" ? 1 : 2}?expand=user`,
    shows: ["user"],
    in: ["application/json", "application/xml"],
  },
  {
    of: "GET /orders",
    target: () => "/orders?expand=user",
    shows: ["user"],
    in: ["application/json", "application/xml"],
  },
  { of: "GET /protected/", shows: ["user"] },
  { of: "GET /labels", shows: ["label"], showsPlain: [] },
  { of: "QUERY /labels", body: () => ({}), shows: ["label"], showsPlain: [] },
  { of: "GET /labels/{id}", target: () => `/labels/${labels.both_one}`, shows: ["label"], showsPlain: [] },
];

/** The endpoints that show no record with rules. They are tried too, but no caller sees a hidden value there. */
export const quiet: readonly string[] = [
  "DELETE /api/session/",
  "DELETE /api/token/",
  "DELETE /orders/{id}",
  "DELETE /orders/{order_id}/items/{id}",
  "DELETE /outbox/{id}",
  "DELETE /users/{id}",
  "DELETE /users/{id}/factors/{factor_id}",
  "DELETE /users/{id}/identities/{identity_id}",
  "DELETE /users/{id}/keys/{key_id:text}",
  "DELETE /users/{id}/sessions",
  "DELETE /users/{id}/sessions/{session_id:text}",
  "DELETE /users/{id}/token",
  "GET /.well-known/change-password",
  "GET /.well-known/jwks.json",
  "GET /api/login/",
  "GET /api/login/providers/",
  "GET /api/login/{provider:text}/callback",
  "GET /api/login/{provider:text}/start",
  "GET /console/why",
  "GET /console/{file:text}",
  "GET /docs",
  "GET /docs/{page:text}",
  "GET /forgot",
  "GET /invitation",
  "GET /livez",
  "GET /login",
  "GET /login/factor",
  "GET /metrics",
  "GET /openapi.json",
  "GET /orders/{order_id}/items",
  "GET /orders/{order_id}/items/{id}",
  "GET /outbox",
  "GET /outbox/{id}",
  "GET /problems",
  "GET /problems/{code:text}",
  "GET /readyz",
  "GET /reset",
  "GET /signup",
  "GET /users/{id}/account",
  "GET /users/{id}/factors",
  "GET /users/{id}/identities",
  "GET /users/{id}/keys",
  "GET /users/{id}/keys/{key_id:text}",
  "GET /users/{id}/sessions",
  "GET /users/{id}/token",
  "GET /verify",
  "PATCH /orders",
  "PATCH /orders/{id}",
  "PATCH /orders/{order_id}/items",
  "PATCH /orders/{order_id}/items/{id}",
  "PATCH /users/{id}/account",
  "POST /api-token-auth/",
  "POST /api/email/confirm/",
  "POST /api/login/",
  "POST /api/login/confirm/",
  "POST /api/login/factors/",
  "POST /api/login/passkey/",
  "POST /api/password/reset/",
  "POST /api/password/reset/confirm/",
  "POST /api/session/end/",
  "POST /api/token/",
  "POST /api/token/refresh/",
  "POST /api/token/verify/",
  "POST /labels",
  "POST /orders",
  "POST /orders/{order_id}/items",
  "POST /outbox/{id}/retry",
  "POST /users",
  "POST /users/{id}/act",
  "POST /users/{id}/email",
  "POST /users/{id}/factors",
  "POST /users/{id}/factors/recovery",
  "POST /users/{id}/factors/{factor_id}/confirm",
  "POST /users/{id}/identities",
  "POST /users/{id}/invitation",
  "POST /users/{id}/keys",
  "POST /users/{id}/password",
  "POST /users/{id}/token",
  "PUT /labels/{id}",
  "PUT /orders/{id}",
  "PUT /orders/{order_id}/items/{id}",
  "QUERY /orders",
  "QUERY /orders/{order_id}/items",
  "QUERY /outbox",
];
