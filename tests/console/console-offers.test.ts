import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { defineUsers, sameAs, type Permission } from "../../src/door/auth.ts";
import { consolePages } from "../../src/door/features.ts";
import {
  accepted,
  accounts,
  administrator,
  allOf,
  anyOf,
  anyone,
  authenticated,
  caller,
  defineResource,
  integer,
  mount,
  nobody,
  owner,
  reference,
  rejected,
  text,
  type Scheme,
} from "../../src/door/index.ts";
import { references } from "../../src/door/resources.ts";
import { ownService, people, type OwnAnswer } from "../harness/own-service.ts";
import { formsOf } from "../harness/page-forms.ts";
import { strangeIn, splitWords, wordsOfOurs } from "../harness/said-by-pages.ts";

// Nightly on PostgreSQL: these pages show what the API answers, whose tests run on both databases.

const users = defineUsers({ fields: { team: integer({ default: 1 }) }, identity: ["team"] });
const teams: Readonly<Record<string, number>> = { root: 1, ada: 1, ben: 2 };
const visitor: Scheme = {
  name: "visitor",
  carriers: [{ in: "header", name: "X-Visitor" }],
  challenge: () => "Visitor",
  authenticate: (name) =>
    people[name] === undefined
      ? rejected("unknown")
      : accepted({ ...people[name], fields: { team: teams[name] ?? 9 } }),
};

const common = { team: integer(), owner_id: integer({ default: caller }) };
const keepers = defineResource({ name: "keeper", fields: { ...common, name: text() } });
const tags = defineResource({ name: "tag", fields: { ...common, title: text() }, search: ["title"] });
const notes = defineResource({
  name: "note",
  fields: {
    ...common,
    line: text({ maxLength: 200 }),
    keeper_id: reference(keepers),
    tags: references(tags, { default: [] }),
  },
  sorts: ["line"],
});

const ours = wordsOfOurs(
  [keepers, tags, notes, people],
  "Library POST PUT PATCH DELETE http visitor lend application json merge patch HTTP team",
);

const same = sameAs(users, "team");
const one: fc.Arbitrary<Permission<"owner_id" | "team", "owner_id">> = fc.constantFrom(
  anyone,
  nobody,
  authenticated,
  administrator,
  anyOf(administrator, owner("owner_id")),
  owner("owner_id"),
  same,
  allOf(same, owner("owner_id")),
  anyOf(administrator, same),
);
const some = fc.record(
  { list: one, create: one, read: one, replace: one, update: one, delete: one },
  { requiredKeys: ["read"] },
);

/** A word that occurs nowhere else. */
const word = fc.string({ unit: fc.constantFrom(..."qxzkvwj"), minLength: 12, maxLength: 20 });
const whose = { team: fc.constantFrom(1, 2), owner_id: fc.constantFrom(2, 3) };
const named = fc.array(fc.record({ ...whose, name: word }), { minLength: 3, maxLength: 3 });

/** Returns the requests that a page offers: `DELETE /notes/1`. */
function offeredOn({ text: page }: OwnAnswer): ReadonlySet<string> {
  const links = page.matchAll(/href="([^"?]*)\?form=(new|edit)"/g);
  return new Set([
    ...formsOf(page).map(({ method, action }) => `${method} ${action}`),
    ...[...links].map(([, path, form]) => `${form} ${path}`),
  ]);
}

const RUNS = Number(process.env["CONSOLE_RUNS"] ?? 12);

test("shows on the pages of a tenant the same data as JSON, with names, and buttons only for allowed actions", async (t) => {
  const kinds = fc.tuple(some, some, some, one, named, named, named);

  await fc.assert(
    fc.asyncProperty(kinds, fc.constantFrom("root", "ada", "ben", undefined), async (drawn, as) => {
      const [may, mayKeepers, mayTags, mayLend, lines, keeperNames, tagNames] = drawn;
      const mounts = [
        mount(keepers, { permission: mayKeepers }),
        mount(tags, { permission: mayTags }),
        mount(notes, {
          permission: may,
          expand: { keeper: "keeper_id", labels: "tags" },
          actions: { lend: { permission: mayLend, body: { to: text() }, handle: () => undefined } },
        }),
      ];
      const features = [accounts(users), consolePages({ title: "Library" })];
      const { ask, service } = await ownService(t, { schemes: [visitor], mounts, features });
      for (const [at, { name, ...values }] of keeperNames.entries())
        await service.store.write({
          changes: [{ kind: "insert", collection: mounts[0]!.collection, key: at + 1, values: { ...values, name } }],
        });
      for (const [at, { name: title, ...values }] of tagNames.entries())
        await service.store.write({
          changes: [{ kind: "insert", collection: mounts[1]!.collection, key: at + 1, values: { ...values, title } }],
        });
      for (const [at, { name: line, ...values }] of lines.entries())
        await service.store.write({
          changes: [
            {
              kind: "insert",
              collection: mounts[2]!.collection,
              key: at + 1,
              values: { ...values, line, keeper_id: at + 1, tags: [1, 2, 3] },
            },
          ],
        });
      const askOptions = as === undefined ? {} : { as };
      const single = ["/keepers", "/tags", "/notes"].flatMap((path) => [1, 2, 3].map((id) => `${path}/${id}`));
      const readable = await Promise.all(single.map(async (path) => ask("GET", path, askOptions)));
      const seen = readable.flatMap((each) =>
        each.status === 200 ? splitWords(`${each.text} ${each.headers.get("etag")}`) : [],
      );

      for (const [method, at, body] of [
        ["GET", "/notes"],
        ["GET", "/notes?expand=keeper,labels&sort=-line"],
        ["GET", "/notes/1"],
        ["GET", "/notes/2?expand=keeper,labels"],
        ["POST", "/notes", { line: 7, keeper_id: 2, tags: [1, 2, 3] }],
        ["PATCH", "/notes/1", { line: "", keeper_id: 3, tags: [3, 2] }],
        ["PUT", "/notes/3", { line: "" }],
        ["POST", "/notes/1/lend", { to: 7 }],
        ["GET", "/tags"],
        ["GET", "/keepers/1"],
      ] as const) {
        const more = body === undefined ? {} : { body };
        const headers = method === "PATCH" || method === "PUT" ? { "if-match": '"none"' } : {};
        const page = await ask(method, at, { ...askOptions, ...more, headers: { ...headers, accept: "text/html" } });
        const data = await ask(method, at, { ...askOptions, ...more, headers });
        const place = `${method} ${at} as ${as}`;
        assert.equal(page.status, data.status, place);
        const visibleText = `${data.text} ${[...data.headers].flat().join(" ")} ${at} ${JSON.stringify(body ?? {})}`;
        const knownWords = new Set([
          ...ours,
          ...seen,
          ...splitWords(`${visibleText} ${page.headers.get("x-request-id")}`),
        ]);
        assert.deepEqual(strangeIn(page, knownWords), [], place);

        const path = at.replace(/\?.*/, "");
        const { id: _, keeper: __, labels: ___, ...record } = page.status === 200 ? data.json : {};
        const bodies: Readonly<Record<string, object>> = { PUT: record, PATCH: {}, POST: { to: "x" } };
        const isRefused = async (each: string): Promise<boolean> => {
          const [verb = "", to = ""] = each.split(" ");
          // An unknown caller must name the owner.
          const made = to.endsWith("/lend") ? {} : { team: teams[as ?? ""] ?? 1, owner_id: people[as ?? ""]?.id ?? 2 };
          const sent =
            verb === "DELETE" ? {} : { body: verb === "POST" ? { ...bodies["POST"], ...made } : bodies[verb] };
          // No state has this ETag, so the request changes nothing.
          const { status } = await ask(verb, to, { ...askOptions, ...sent, headers: { "if-match": '"none"' } });
          return [401, 403, 404, 405].includes(status);
        };
        const offered = offeredOn(page);
        const isFormRefused = async (each: string): Promise<boolean> => {
          const [form = "", to = ""] = each.split(" ");
          const { status } = await ask("GET", `${to}?form=${form}`, {
            ...askOptions,
            headers: { accept: "text/html" },
          });
          return status !== 200;
        };
        for (const each of offered) {
          const refused = /^(?:new|edit) /.test(each) ? await isFormRefused(each) : await isRefused(each);
          assert.equal(refused, false, `${each} on ${place}`);
        }
        if (method === "GET" && page.status === 200 && path.includes("/", 1)) {
          for (const each of [`DELETE ${path}`, ...(path.startsWith("/notes/") ? [`POST ${path}/lend`] : [])])
            assert.equal(offered.has(each), !(await isRefused(each)), `${each} on ${place}`);
          const own = path.startsWith("/notes/") ? may : path.startsWith("/tags/") ? mayTags : mayKeepers;
          // The form sends a PATCH. It sends a PUT only if there is no PATCH.
          const mayChange = !(await isRefused(`${own.update === undefined ? "PUT" : "PATCH"} ${path}`));
          assert.equal(offered.has(`edit ${path}`), mayChange, `edit on ${place}`);
        }
      }
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
});
