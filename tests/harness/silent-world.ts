import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import { hasRole } from "../../src/door/auth.ts";
import {
  accepted,
  administrator,
  anyOf,
  anyone,
  authenticated,
  boolean,
  caller,
  dateTime,
  decimal,
  defineResource,
  enumeration,
  integer,
  json,
  mount,
  owner,
  reference,
  rejected,
  self,
  text,
  type Identity,
  type Scheme,
} from "../../src/door/index.ts";
import { array, olderShape, references, type Mount } from "../../src/door/resources.ts";
import type { ConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { serve, type Answered } from "./serve.ts";

/*
 * A world in which some callers may not see some rows and some fields. Two such worlds that differ in nothing else have
 * to be the same to these callers.
 */

const finance = anyOf(hasRole("finance"), administrator);
const hidden = { optional: true, read: finance, write: finance } as const;

/** Allows the rows whose column has this value to everyone. */
const rowsWith = <const C extends string>(column: C, value: string | boolean) => ({
  name: `${column} is ${String(value)}`,
  narrows: ["list", "read", "replace", "update", "delete", "call"] as const,
  columns: [column],
  decide: () => ({ only: { column, operator: "eq", value } }) as const,
});

/** Allows a clerk the users of the clerk's branch. */
const clerk = {
  name: "clerk",
  roles: ["clerk"],
  narrows: ["list", "read", "replace", "update", "delete", "call"] as const,
  columns: ["branch"] as const,
  identity: ["branch"],
  decide({ identity }: { readonly identity: Identity | null }) {
    const { branch } = identity?.fields ?? {};
    return identity?.role !== "clerk" || branch === undefined || branch === null
      ? "deny"
      : ({ only: { column: "branch", operator: "eq", value: branch } } as const);
  },
};
const staff = anyOf<string, string>(administrator, clerk, self());

const users = {
  roles: ["user", "clerk", "finance", "admin"],
  fields: {
    branch: enumeration(["main", "other"], { default: "main" }),
    card: text({ optional: true, maxLength: 20, read: hasRole("clerk"), write: hasRole("clerk") }),
    fines: integer({ default: 0, read: finance, write: administrator }),
    salary: integer({ ...hidden }),
  },
  filters: { branch: ["eq"], fines: ["eq", "lt"], salary: ["eq"] },
  sorts: ["fines"],
  administered: ["branch"],
  identity: ["branch"],
  permissions: { list: staff, read: staff, update: staff },
  rules: { email: { read: administrator } },
} satisfies ConfigFile["users"];

const team = defineResource({ name: "team", fields: { name: text({ maxLength: 40 }) }, search: ["name"] });
const label = defineResource({
  name: "label",
  id: "uuid",
  fields: {
    word: text({ maxLength: 40 }),
    owner_id: reference("users", { default: caller }),
    is_public: boolean({ default: false }),
  },
  filters: { word: ["eq", "starts"] },
  sorts: ["word"],
  search: ["word"],
});
const project = defineResource({
  name: "project",
  fields: {
    title: text({ maxLength: 80 }),
    owner_id: reference("users", { default: caller }),
    state: enumeration(["draft", "published"], { default: "draft" }),
    team_id: reference(team, { optional: true }),
    labels: references(label),
    slot: integer({ optional: true }),
    budget: decimal({ scale: 2, maximum: "999999.99", ...hidden }),
    memo: text({ maxLength: 100, ...hidden }),
    code: text({ unique: true, maxLength: 40, ...hidden }),
    kinds: array(text({ maxLength: 20 }), { ...hidden }),
    sponsor_id: reference(team, { ...hidden }),
    stamp: dateTime({ generated: ({ now }) => new Date(now).toISOString(), regenerated: true, read: finance }),
    cost: decimal({ scale: 2, maximum: "999999.99", optional: true, read: finance }),
    plan: json({ optional: true, read: finance }),
    rank: integer({ default: 5, write: finance }),
  },
  computed: {
    label: { as: text(), from: ({ title, id }) => `${String(title)} #${String(id)}` },
    rest: { as: decimal({ scale: 2, maximum: "99999999.99", optional: true, read: finance }), sql: '"budget" * 2' },
    hint: { as: text({ optional: true, read: finance }), from: ({ memo }) => memo },
  },
  unique: [["owner_id", "slot"]],
  filters: {
    title: ["eq", "icontains"],
    state: ["eq"],
    owner_id: ["eq"],
    labels: ["eq"],
    rank: ["eq", "lt"],
    cost: ["eq", "lt", "gt", "null"],
    budget: ["eq", "lt", "null"],
    memo: ["contains"],
    sponsor_id: ["eq"],
  },
  sorts: ["title", "rank", "cost", "budget"],
  defaultSort: "-budget",
  search: ["title", "memo"],
});
const comment = defineResource({
  name: "comment",
  within: project,
  fields: {
    line: text({ maxLength: 80 }),
    owner_id: reference("users", { default: caller }),
    approved: boolean({ default: false, write: administrator }),
    price: integer({ optional: true, read: finance }),
    secret: text({ maxLength: 40, ...hidden }),
  },
  filters: { line: ["eq"], price: ["eq"], secret: ["eq"] },
  sorts: ["line", "price"],
  defaultSort: "price",
  search: ["line", "secret"],
});

const mine = anyOf(owner("owner_id"), administrator);

function buildMounts(): readonly Mount[] {
  const teams = mount(team, { permission: { list: anyone, read: anyone, create: administrator } });
  const ownOrPublic = anyOf(mine, rowsWith("is_public", true));
  const labels = mount(label, {
    permission: {
      list: ownOrPublic,
      read: ownOrPublic,
      create: mine,
      replace: mine,
      update: mine,
      delete: mine,
    },
    arrays: true,
    maximum: { per: "owner_id", records: 12 },
  });
  const ownOrApproved = anyOf(mine, rowsWith("approved", true));
  const comments = mount(comment, {
    permission: { list: ownOrApproved, read: ownOrApproved, create: mine, update: mine, delete: mine },
    writers: "readers",
    arrays: true,
    expand: { project: "project_id", author: "owner_id" },
  });
  const ownOrPublished = anyOf(mine, rowsWith("state", "published"));
  const projects = mount(project, {
    permission: {
      list: ownOrPublished,
      read: ownOrPublished,
      create: mine,
      replace: mine,
      update: mine,
      delete: mine,
    },
    arrays: true,
    expand: { team: "team_id", sponsor: "sponsor_id", labels_of: "labels", owner: "owner_id", comments },
    actions: {
      rename: {
        permission: mine,
        body: { title: text({ maxLength: 80 }), cost: integer({ optional: true }) },
        handle: ({ draft }) => ({ values: { title: draft.title } }),
      },
      close: { permission: mine, answer: "nothing", handle: () => ({ values: { state: "draft" } }) },
      look: {
        permission: ownOrPublished,
        method: "GET",
        answer: { length: integer() },
        handle: ({ record }) => ({ answer: { length: record.title.length } }),
      },
      nudge: { on: "collection", permission: authenticated, handle: () => ({}) },
    },
  });
  const old = olderShape(projects, {
    prefix: "/v1",
    defaults: { labels: [] },
    fields: {
      name: "title",
      owner: "owner_id",
      funds: "budget",
      price: "cost",
      level: { from: "rank", as: text(), show: (rank) => `level ${String(rank)}` },
      caption: "label",
      clue: "hint",
    },
  });
  return [teams, labels, projects, comments, old] as readonly Mount[];
}

/** The callers of the world, by the value of `x-visitor`. `ada`, `lea` and `reader` may not see everything. */
const callers: Readonly<Record<string, Identity>> = {
  root: identity(1, "admin", "main"),
  ada: identity(2, "user", "main"),
  ben: identity(3, "user", "other"),
  lea: identity(4, "clerk", "main"),
  reader: { ...identity(2, "user", "main"), scopes: ["read"] },
};

function identity(id: number, role: string, branch: string): Identity {
  const fields = { branch };
  return { id, username: `user ${id}`, role, scheme: "visitor", scopes: null, expiresAt: null, fields };
}

const visitor: Scheme = {
  name: "visitor",
  carriers: [{ in: "header", name: "X-Visitor" }],
  challenge: () => "Visitor",
  authenticate: (name) => (callers[name] === undefined ? rejected("unknown") : accepted(callers[name])),
};

export const adaLogin = { username: "ada@example.com", password: "the password of ada" };

/** One of the services. */
export interface World {
  ask(method: string, target: string, options?: WorldAsk): Promise<Answered>;
  turn(seconds: number): void;
}

interface WorldAsk {
  /** One of the callers, or `password of root` for the administrator with a password. Default: unknown. */
  readonly as?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Starts a service with hidden rows and hidden fields: the whole service, with additional resources. */
export async function silentWorld(t: TestContext): Promise<World> {
  let made = 0;
  const { ask, clock, admin } = await serve(t, {
    settings: {
      LATCHKEY_SECRET: "a secret that both worlds of the test have",
      LATCHKEY_PUBLIC_URL: "http://127.0.0.1:8000",
      LATCHKEY_IDENTITY_PROVIDERS: declareProvider(t),
    },
    config: { mounts: buildMounts(), schemes: [visitor], users },
    makeUUID: () => uuidOf(++made),
  });
  return {
    ask(method, target, { as, body, headers = {} } = {}) {
      const caller = as === undefined ? {} : as === "password of root" ? admin : { "x-visitor": as };
      return untilFree(() => ask(method, target, { body, headers: { ...caller, ...headers } }));
    },
    turn: clock.turn,
  };
}

/** Sends a request again if the database of a busy machine was too slow for it (503). */
async function untilFree(ask: () => Promise<Answered>): Promise<Answered> {
  for (let left = 10; left > 0; left--) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
  }
  return ask();
}

/** Returns the id of the nth record with a UUID. Records of one world alone have ids from a million on. */
export function uuidOf(n: number): string {
  return `01890000-0000-7000-8000-${String(n).padStart(12, "0")}`;
}

function declareProvider(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-silent-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "providers.json");
  const provider = { id: "company", title: "Company", issuer: "http://127.0.0.1:9", client_id: "silent" };
  writeFileSync(path.join(folder, "secret"), "a secret of the client", { mode: 0o600 });
  writeFileSync(file, JSON.stringify([{ ...provider, client_secret_file: "secret" }]));
  return file;
}
