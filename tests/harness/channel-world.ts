import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import { hasRole } from "../../src/door/auth.ts";
import type { Endpoint, Format } from "../../src/door/http.ts";
import {
  accepted,
  administrator,
  anyOf,
  authenticated,
  caller,
  defineEndpoint,
  defineFeature,
  defineResource,
  json,
  mount,
  reference,
  rejected,
  self,
  text,
  type Identity,
  type Scheme,
} from "../../src/door/index.ts";
import {
  array,
  olderShape,
  readRecord,
  references,
  updateRecord,
  type Field,
  type Mount,
  type ServedMount,
} from "../../src/door/resources.ts";
import { withBuiltIn } from "../../src/http/formats/negotiate.ts";
import { serve, withMail, type API } from "./serve.ts";

/*
 * A service whose resources have a field for each kind of rule and each kind of field. Each hidden value is a text that
 * is nowhere else, so an answer that contains it shows it.
 */

const boss = anyOf(hasRole("boss"), administrator);
const chief = anyOf(hasRole("boss"), hasRole("chief"), administrator);

/** The kinds of rules, with what they leave to a caller without a right. */
const rules = {
  /** Nothing: one permission for both. */
  both: { read: boss, write: boss },
  /** Nothing: a permission for each. */
  each: { read: boss, write: chief },
  /** Sending alone. */
  blind: { read: boss },
  /** Reading alone. */
  open: { write: boss },
} as const;

type Rule = keyof typeof rules;

export const isHidden = (field: string): boolean => !field.startsWith("open_");

const label = defineResource({
  name: "label",
  id: "uuid",
  fields: { word: text({ maxLength: 40 }) },
  filters: { word: ["eq"] },
});

/**
 * The fields with a stored value, by kind. `mark` is the value that is looked for. It is the default of a function,
 * because forms and documents show constant defaults.
 */
const kinds: Readonly<Record<"text" | "list" | "json", (mark: string, rule: object) => Field>> = {
  text: (mark, rule) => text({ default: () => mark, maxLength: 60, ...rule }),
  list: (mark, rule) => array(text({ maxLength: 60 }), { default: () => [mark], ...rule }),
  json: (mark, rule) => json({ default: () => ({ it: mark }), ...rule }),
};

function fieldsOf(of: string): Record<`${Rule}_${keyof typeof kinds}`, Field> {
  return Object.fromEntries(
    (Object.keys(rules) as Rule[]).flatMap((rule) =>
      Object.entries(kinds).map(([kind, make]) => [`${rule}_${kind}`, make(`mark-${of}-${rule}-${kind}`, rules[rule])]),
    ),
  ) as Record<`${Rule}_${keyof typeof kinds}`, Field>;
}

function marksOf(of: string): Record<string, string> {
  const names = Object.keys(rules).flatMap((rule) => Object.keys(kinds).map((kind) => [rule, kind] as const));
  return Object.fromEntries(names.map(([rule, kind]) => [`${rule}_${kind}`, `mark-${of}-${rule}-${kind}`]));
}

const uuid = (n: number): string => `01890000-0000-7000-8000-${String(n).padStart(12, "0")}`;
export const labels = { both_one: uuid(1), blind_one: uuid(2), both_many: uuid(3), blind_many: uuid(4) } as const;

const thing = defineResource({
  name: "thing",
  fields: {
    title: text({ maxLength: 60 }),
    owner_id: reference("users", { default: caller }),
    ...fieldsOf("thing"),
    both_unique: text({ unique: true, optional: true, maxLength: 60, ...rules.both }),
    both_one: reference(label, { optional: true, ...rules.both }),
    blind_one: reference(label, { optional: true, ...rules.blind }),
    both_many: references(label, { default: [], ...rules.both } as never),
    blind_many: references(label, { default: [], ...rules.blind } as never),
  },
  computed: {
    blind_made: { as: text({ read: boss }), from: () => "mark-thing-blind-made" },
    blind_sql: { as: text({ read: boss }), sql: `"title" || ' mark-thing-blind-sql'` },
    open_made: { as: text(), from: () => "mark-thing-open-made" },
  },
  filters: {
    title: ["eq"],
    both_text: ["eq"],
    each_text: ["starts"],
    blind_text: ["eq"],
    open_text: ["eq"],
    both_unique: ["eq"],
    both_one: ["eq"],
    blind_many: ["eq"],
  },
  sorts: ["title", "both_text", "each_text", "blind_text", "both_unique", "open_text"],
  defaultSort: "-both_text",
  search: ["title", "both_text", "blind_text"],
});
const part = defineResource({
  name: "part",
  within: thing,
  fields: { line: text({ maxLength: 60 }), ...fieldsOf("part") },
});

/** The values that are looked for, by resource and field. */
export const marks: Readonly<Record<"thing" | "part" | "user" | "label", Readonly<Record<string, string>>>> = {
  thing: {
    ...marksOf("thing"),
    ...labels,
    both_unique: "mark-thing-both-unique",
    blind_made: "mark-thing-blind-made",
    blind_sql: "mark-thing-blind-sql",
    open_made: "mark-thing-open-made",
  },
  part: marksOf("part"),
  user: marksOf("user"),
  label: { open_word: "label-1" },
};

function buildMounts(): readonly Mount[] {
  const permission = authenticated;
  const mountedLabels = mount(label, { permission: { list: boss, read: boss, create: boss, replace: boss } });
  const parts = mount(part, { permission, arrays: true, expand: { thing: "thing_id" } });
  const things = mount(thing as unknown as typeof part, {
    permission,
    arrays: true,
    expand: {
      parts,
      owner: "owner_id",
      both_label: "both_one",
      blind_label: "blind_one",
      labels: "both_many",
    } as never,
    actions: {
      touch: { permission, handle: () => ({}) },
      close: { permission, answer: "nothing", handle: () => ({}) },
      look: { permission, method: "GET", answer: { here: text() }, handle: () => ({ answer: { here: "yes" } }) },
      tidy: { on: "collection", permission, handle: () => ({}) },
    },
  });
  const fields = Object.fromEntries(Object.keys(marks.thing).map((name) => [`old_${name}`, name]));
  const old = olderShape(things as unknown as Mount, {
    prefix: "/v1",
    fields: { name: "title", ...fields },
  });
  return [mountedLabels, things, parts, old];
}

/** Endpoints of the service's own code that read and change a record of a mount. */
function endpointsOf(mounts: readonly Mount[]): readonly Endpoint[] {
  const found = mounts.find(({ resource }) => resource.path === "/things")!;
  const things = { ...found, parent: null, newer: null, relations: [], listedBy: [], referrers: [] } as ServedMount;
  const common = { path: "/own-things/{id}", access: authenticated } as const;
  return [
    defineEndpoint({ ...common, method: "GET", action: "read", handle: (context) => readRecord(things, context) }),
    defineEndpoint({
      ...common,
      method: "PATCH",
      action: "update",
      preconditions: "handler",
      consumes: ["application/json"],
      handle: (context) => updateRecord(things, context),
    }),
  ];
}

const people: Readonly<Record<string, Identity>> = {
  root: identity(1, "admin"),
  plain: identity(2, "user"),
  boss: identity(3, "boss"),
};

function identity(id: number, role: string): Identity {
  return { id, username: `user ${id}`, role, scheme: "visitor", scopes: null, expiresAt: null };
}

const visitor: Scheme = {
  name: "visitor",
  carriers: [{ in: "header", name: "X-Visitor" }],
  challenge: () => "Visitor",
  authenticate: (name) => (people[name] === undefined ? rejected("unknown") : accepted(people[name])),
};

export const passwordOf = (who: string): { readonly username: string; readonly password: string } => ({
  username: `${who}@example.com`,
  password: `the password of ${who}`,
});

/** The ids of a thing and of its part. */
export interface Ids {
  readonly thing: number;
  readonly part: number;
}

export interface ChannelWorld {
  readonly api: API;
  /** All formats of the service, the built-in ones too. */
  readonly formats: readonly Format[];
  /** Creates a thing with all values, and a part of it. */
  makeThing(): Promise<Ids>;
}

/** Starts the whole service, with every optional endpoint. The user plain (2) has no right, and boss (3) has all. */
export async function channelWorld(t: TestContext): Promise<ChannelWorld> {
  let formats: readonly Format[] = [];
  const mounts = buildMounts();
  const custom = defineFeature({
    name: "channels",
    setUp: ({ service }) => ({
      offer: null,
      start: () => void (formats = withBuiltIn(service().formats, service().xml)),
    }),
  });
  const api = await serve(t, {
    settings: {
      ...withMail,
      LATCHKEY_SECRET: "a secret of the service of this test",
      LATCHKEY_PUBLIC_URL: "http://localhost:8000",
      LATCHKEY_IDENTITY_PROVIDERS: declareProvider(t),
    },
    config: {
      mounts,
      endpoints: endpointsOf(mounts),
      schemes: [visitor],
      features: [custom],
      users: {
        roles: ["user", "boss", "chief", "admin"],
        fields: fieldsOf("user"),
        permissions: { list: anyOf(boss, self()), read: anyOf(boss, self()) },
      },
    },
  });
  let made = 0;
  const post = async (target: string, body: object): Promise<number> => {
    const { status, json: record, text: answer } = await api.post(target, body, { "x-visitor": "root" });
    if (status !== 201) throw new Error(`${target}: ${answer}`);
    return record.id as number;
  };
  for (const who of ["plain", "boss"])
    await post("/users", { name: who, email: `${who}@example.com`, password: passwordOf(who).password });
  for (const [at, id] of Object.values(labels).entries())
    await api.put(`/labels/${id}`, { word: `label-${at + 1}` }, { "x-visitor": "root" });
  await api.patch("/users/3/account", { role: "boss" }, api.admin);
  for (const who of ["plain", "boss"]) await api.post("/orders", {}, { "x-visitor": who });
  return {
    api,
    formats,
    async makeThing() {
      const { both_one, blind_one, both_many, blind_many } = labels;
      const own = {
        both_one,
        blind_one,
        both_many: [both_many],
        blind_many: [blind_many],
        both_unique: `mark-thing-both-unique-${++made}`,
      };
      const thing = await post("/things", { title: `thing ${made}`, ...own });
      return { thing, part: await post(`/things/${thing}/parts`, { line: "first" }) };
    },
  };
}

function declareProvider(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-channels-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "providers.json");
  const provider = { id: "company", title: "Company", issuer: "http://127.0.0.1:9", client_id: "channels" };
  writeFileSync(path.join(folder, "secret"), "a secret of the client", { mode: 0o600 });
  writeFileSync(file, JSON.stringify([{ ...provider, client_secret_file: "secret" }]));
  return file;
}
