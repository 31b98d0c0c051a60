// Rules of fields take nothing else from their callers: a service with rules answers a caller whom they deny something
// like a service without rules, in which these fields are not declared, or are write-only or read-only for everyone.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { consolePages } from "../../src/door/features.ts";
import {
  administrator,
  anyone,
  authenticated,
  Secret,
  decimal,
  defineResource,
  integer,
  json,
  mount,
  reference,
  text,
} from "../../src/door/index.ts";
import { olderShape, type Resource } from "../../src/door/resources.ts";
import { ownService, type Own, type OwnAnswer, type OwnAsk } from "../harness/own-service.ts";

const both = { read: administrator, write: administrator } as const;
const title = text({ maxLength: 40 });
const since = "2026-02-01";

/** Starts a service with rules, or with the same fields as its caller ada knows them. */
async function startWorld(t: TestContext, isRuled: boolean): Promise<Own> {
  const hidden = <V extends object>(values: V): Partial<V> => (isRuled ? values : {});
  const unread = isRuled ? { read: administrator } : { writeOnly: true };
  const unsent = isRuled ? { write: administrator } : { readOnly: true };
  const team = defineResource({
    name: "team",
    fields: { name: title, ...hidden({ motto: text({ optional: true, maxLength: 90, ...both }) }) },
    search: ["name", ...(isRuled ? ["motto" as never] : [])],
  });
  const project = defineResource({
    name: "project",
    fields: {
      title,
      ...hidden({
        budget: integer({ optional: true, deprecated: { since }, ...both }),
        memo: text({ optional: true, maxLength: 90, ...both }),
        lead_id: reference(team, { optional: true, ...both }),
      }),
      team_id: reference(team, { optional: true }),
      cost: decimal({ scale: 2, maximum: "99.99", optional: true, ...unread } as never),
      plan: json({ optional: true, ...unread } as never),
      rank: integer({ default: 5, ...unsent } as never),
      code: text({ optional: true, maxLength: 9, deprecated: { since } }),
    },
    computed: {
      label: { as: text(), from: ({ id }: { id: number }) => `#${String(id)}` },
      ...hidden({ secret: { as: text({ read: administrator }), from: ({ id }: { id: number }) => `${id}` } }),
    },
    filters: {
      title: ["eq", "icontains"],
      rank: ["eq", "lt"],
      code: { operators: ["eq"], deprecated: { since } },
      ...hidden({ budget: { operators: ["eq"], deprecated: { since } }, lead_id: ["eq"], cost: ["eq"] }),
    },
    sorts: ["title", "rank", ...(isRuled ? ["budget" as never] : [])],
    defaultSort: (isRuled ? "-budget,-title" : "-title") as "-title",
    search: ["title", ...(isRuled ? ["memo" as never] : [])],
  } as never) as unknown as Resource;
  const note = defineResource({
    name: "note",
    within: project,
    fields: { line: title, ...hidden({ price: integer({ optional: true, ...both }) }) },
  } as never) as unknown as Resource;
  const notes = mount(note, { permission: anyone });
  const teams = mount(team, { permission: anyone });
  const projects = mount(project, {
    permission: { list: anyone, read: anyone, create: authenticated, replace: anyone, update: anyone, delete: anyone },
    arrays: true,
    expand: { team: "team_id", ...hidden({ lead: "lead_id" }), notes } as never,
    actions: {
      rename: {
        permission: anyone,
        body: { title },
        handle: ({ draft }: { draft: object }) => ({ values: draft }) as never,
      },
    },
  });
  const older = [
    olderShape(teams, { prefix: "/v1", fields: { label: "name", ...hidden({ slogan: "motto" }) } as never }),
    olderShape(projects, {
      prefix: "/v1",
      fields: {
        name: "title",
        club_id: "team_id",
        price: "cost",
        level: "rank",
        mark: "label",
        ...hidden({ funds: "budget", captain: "lead_id", key: "secret" }),
      },
    }),
    olderShape(projects, { prefix: "/v0", fields: { name: "title", ...hidden({ text: "memo" }) } }),
  ];
  return ownService(t, {
    secret: new Secret(Buffer.alloc(32, 7)),
    now: () => Date.UTC(2027, 0, 1),
    mounts: [teams, projects, notes, ...older],
    features: [consolePages({ title: "Projects" })],
  });
}

async function startWorlds(t: TestContext): Promise<readonly [Own, Own]> {
  const worlds = [await startWorld(t, true), await startWorld(t, false)] as const;
  for (const [at, { ask }] of worlds.entries()) {
    const hidden = (values: object): object => (at === 0 ? values : {});
    const add = async (path: string, body: object): Promise<void> => {
      const made = await ask("POST", path, { as: "root", body });
      assert.equal(made.status, 201, `${path} ${made.text}`);
    };
    await add("/teams", { name: "Lions", ...hidden({ motto: "roar" }) });
    await add("/teams", { name: "Bears" });
    for (const [place, name] of ["apple", "banana", "cherry"].entries()) {
      const known = { title: name, team_id: (place % 2) + 1, cost: "1.50", plan: { a: 1 }, code: `c${place}` };
      // The hidden values do not change the order.
      await add("/projects", { ...known, ...hidden({ budget: 7, memo: "zebra", lead_id: 1 }) });
      await add(`/projects/${place + 1}/notes`, { line: `of ${name}`, ...hidden({ price: 3 }) });
    }
  }
  return worlds;
}

type Step = readonly [method: string, path: string, options?: OwnAsk];

const masked = new Set(["date", "x-request-id", "etag", "content-length"]);
const ofAnswers = /cursor=[\w.-]+|"request_id":"[\w-]+"|Request <code>[\w-]+|&quot;[\w.-]{15,}&quot;/g;

function shown({ status, headers, text: body }: OwnAnswer): string {
  const kept = [...headers].filter(([name]) => !masked.has(name)).map(([name, value]) => `${name}: ${value}`);
  return [status, ...kept.toSorted(), body].join("\n").replaceAll(ofAnswers, "");
}

async function alike(worlds: readonly [Own, Own], [method, path, options = {}]: Step): Promise<number> {
  const [ruled, plain] = await Promise.all(worlds.map(async ({ ask }) => ask(method, path, { as: "ada", ...options })));
  assert.equal(shown(ruled!), shown(plain!), `${method} ${path} ${JSON.stringify(options)}`);
  return plain!.status;
}

const page: OwnAsk = { headers: { accept: "text/html" } };
const one = "/projects/1";

const reads: readonly Step[] = [
  ["GET", "/projects"],
  ["GET", "/projects?sort=rank,-title&limit=2"],
  ["GET", "/projects?rank=5&title[icontains]=AN"],
  ["GET", "/projects?code=c1"],
  ["GET", "/projects?fields=title,code,label"],
  ["GET", "/projects?fields=id"],
  ["GET", "/projects?search=app"],
  ["GET", "/projects?expand=team,notes"],
  ["GET", "/projects/2?expand=team,notes"],
  ["GET", `${one}?fields=team_id&expand=team`],
  ["GET", one, { headers: { accept: "application/xml" } }],
  ["QUERY", "/projects", { body: { where: { rank: { lt: 9 } }, sort: "title" } }],
  ["GET", "/teams?search=li"],
  ["GET", "/projects/1/notes"],
  ["GET", "/v1/projects"],
  ["GET", "/v1/projects?sort=-name&level=5"],
  ["GET", "/v1/projects?expand=team"],
  ["GET", "/v1/projects/2?fields=name,mark"],
  ["GET", "/v1/teams"],
  ["GET", "/v1/teams?search=li"],
  ["GET", "/v1/teams/1"],
  ["GET", "/v0/projects?search=che"],
  ["GET", "/v0/projects/3"],
];

const pages: readonly Step[] = [
  ["GET", "/teams", page],
  ["GET", "/teams/1", page],
  ["GET", "/projects/1/notes", page],
  ["GET", "/projects/1/notes/1", page],
  ["GET", "/projects?expand=team", page],
  ["GET", one, page],
];

const refused: readonly Step[] = [
  ["GET", "/projects?budget=7"],
  ["GET", "/projects?sort=budget"],
  ["GET", "/projects?fields=secret"],
  ["GET", "/projects?expand=lead"],
  ["GET", "/v1/projects?expand=lead"],
  ["GET", "/v1/projects?funds=7"],
  ["GET", "/v1/teams?fields=slogan"],
  ["POST", "/projects", { body: { title: "x", budget: 1 } }],
  ["POST", "/projects", { body: { title: "x", rank: 1 } }],
  ["PATCH", one, { body: { lead_id: 2 } }],
  ["PUT", "/v1/projects/2", { body: { name: "b", funds: 1 } }],
  ["PATCH", "/v1/projects/2", { body: { captain: 1 } }],
];

const writes: readonly Step[] = [
  ["POST", "/projects", { body: { title: "date", cost: "3.00", team_id: 2, code: "c9" } }],
  ["POST", "/projects", { body: [{ title: "elder" }, { title: "fig", plan: [1] }] }],
  ["PATCH", one, { body: { title: "apple 2" } }],
  ["PATCH", one, { body: { cost: "4.00", plan: null } }],
  ["PUT", one, { body: { title: "apple 3", code: "c3", cost: "5.00" } }],
  ["PATCH", "/projects", { body: [{ id: 1, title: "apple 4" }] }],
  ["POST", "/projects/2/rename", { body: { title: "blueberry" } }],
  ["POST", "/projects/2/notes", { body: { line: "more" } }],
  ["POST", "/v1/projects", { body: { name: "grape", price: "2.00", club_id: 1 } }],
  ["PATCH", "/v1/projects/2", { body: { name: "banana 2" } }],
  ["PUT", "/v0/projects/3", { body: { name: "cherry 2" } }],
  ["POST", "/teams", { body: { name: "Wolves" } }],
  ["POST", "/v1/teams", { body: { label: "Foxes" } }],
  ["DELETE", "/projects/3"],
];

test("takes no other field, filter, order, relation or page from a caller whom rules deny something", async (t) => {
  const worlds = await startWorlds(t);
  for (const step of reads) assert.equal(await alike(worlds, step), 200, JSON.stringify(step));
  for (const step of refused) assert.equal(await alike(worlds, step), 400, JSON.stringify(step));
});

test("takes no other part of a page from a caller whom rules deny something", async (t) => {
  const worlds = await startWorlds(t);
  for (const step of pages) assert.equal(await alike(worlds, step), 200, JSON.stringify(step));
});

test("takes no other write from a caller whom rules deny something", async (t) => {
  const worlds = await startWorlds(t);
  for (const step of writes) assert.ok((await alike(worlds, step)) < 300, JSON.stringify(step));
  for (const step of reads) await alike(worlds, step);
});
