import type { TestContext } from "node:test";
import { Secret } from "../../src/core/crypto/secret.ts";
import { hasRole } from "../../src/door/auth.ts";
import { consolePages, documentation } from "../../src/door/features.ts";
import { csv } from "../../src/door/http.ts";
import {
  administrator,
  anyOf,
  anyone,
  dateTime,
  decimal,
  defineResource,
  integer,
  json,
  mount,
  reference,
  text,
} from "../../src/door/index.ts";
import { olderShape, type Resource } from "../../src/door/resources.ts";
import { ownService, type Own } from "./own-service.ts";

/** The values that only finance and administrators may read. */
export interface HiddenValues {
  readonly budget: string;
  readonly cost: string;
  readonly memo: string;
  readonly plan: unknown;
  readonly lead_id: number;
}

/** Two sets of hidden values. Answers to other callers may not depend on them. */
export const hiddenValues: readonly [HiddenValues, HiddenValues] = [
  { budget: "1000.00", cost: "3.50", memo: "zebra plan", plan: { a: 1, b: [1, 2] }, lead_id: 1 },
  { budget: "7.25", cost: "99.00", memo: "quagga", plan: { c: "x" }, lead_id: 2 },
];

/**
 * Starts a service with rules of fields. Callers without the role `finance` may not know `budget`, `memo`, `stamp` and
 * others, may send `cost` and `plan` without reading them, and may read `rank` without sending it. With `isUndeclared`, the
 * fields that they may not know do not exist.
 */
export async function ruledWorld(t: TestContext, { isUndeclared = false } = {}): Promise<Own> {
  const finance = anyOf(hasRole("finance"), administrator);
  const team = defineResource({ name: "team", fields: { name: text({ maxLength: 40 }) }, search: ["name"] });
  const concealed = isUndeclared
    ? {}
    : {
        budget: decimal({ scale: 2, maximum: "999999.99", optional: true, read: finance, write: finance }),
        memo: text({ optional: true, maxLength: 100, read: finance, write: finance }),
        code: text({ optional: true, unique: true, maxLength: 20, read: finance, write: finance }),
        stamp: dateTime({ generated: ({ now }) => new Date(now).toISOString(), regenerated: true, read: finance }),
        lead_id: reference(team, { optional: true, read: finance, write: finance }),
        pin: text({ optional: true, writeOnly: true, write: finance }),
        proof: text({ optional: true, writeOnly: true, transient: true, write: finance }),
      };
  const project = defineResource({
    name: "project",
    fields: {
      title: text({ maxLength: 80 }),
      team_id: reference(team, { optional: true }),
      ...concealed,
      cost: decimal({ scale: 2, maximum: "999999.99", optional: true, read: finance }),
      plan: json({ optional: true, read: finance }),
      rank: integer({ default: 5, write: finance }),
    },
    computed: {
      label: { as: text(), from: ({ title, id }) => `${String(title)} #${String(id)}` },
    },
    filters: {
      title: ["eq", "icontains"],
      rank: ["eq", "lt"],
      cost: ["eq", "lt", "gt", "null"],
      ...(isUndeclared
        ? {}
        : { budget: ["eq", "lt", "null"] as const, memo: ["contains"] as const, lead_id: ["eq"] as const }),
    },
    sorts: ["title", "rank", "cost", ...(isUndeclared ? [] : (["budget"] as never[]))],
  });
  const note = defineResource({
    name: "note",
    within: project,
    fields: { line: text({ maxLength: 80 }), price: integer({ optional: true, read: finance }) },
    filters: { price: ["eq"] },
    sorts: ["price"],
  });
  const notes = mount(note, { permission: anyone });
  const projects = mount(project as unknown as Resource, {
    permission: anyone,
    arrays: true,
    expand: { team: "team_id", ...(isUndeclared ? {} : { lead: "lead_id" }), notes } as never,
    actions: {
      rename: {
        permission: anyone,
        body: { title: text({ maxLength: 80 }) },
        handle: ({ draft }: { readonly draft: object }) => ({ values: { ...draft } }) as never,
      },
      describe: {
        permission: anyone,
        body: { title: text({ maxLength: 80 }), memo: text({ maxLength: 80 }) },
        handle: ({ draft: { title, memo } }: { readonly draft: { title: string; memo: string } }) =>
          ({ values: isUndeclared ? { title } : { title, memo } }) as never,
      },
    },
  });
  const teams = mount(team, { permission: anyone });
  const old = olderShape(projects, {
    prefix: "/v1",
    fields: {
      name: "title",
      price: "cost",
      level: { from: "rank", as: text(), show: (rank) => `level ${String(rank)}` },
      ...(isUndeclared ? {} : { funds: "budget", captain: "lead_id" }),
    },
  });
  const oldest = olderShape(projects, { prefix: "/v0", fields: { name: "title" } });
  return ownService(t, {
    secret: new Secret(Buffer.alloc(32, 7)),
    now: () => Date.UTC(2027, 0, 1),
    mounts: [teams, projects, notes, old, oldest],
    features: [documentation({ title: "Projects", version: "1" }), consolePages({ title: "Projects" })],
    formats: [csv({ formulas: "exact" })],
  });
}

/** Fills a world as the administrator, with the same ids and visible values in each world. */
export async function fillRuled({ ask }: Own, hidden: HiddenValues | null): Promise<void> {
  const add = async (path: string, body: object): Promise<void> => {
    const { status, text: answer } = await ask("POST", path, { as: "root", body });
    if (status !== 201) throw new Error(`${path}: ${status} ${answer}`);
  };
  await add("/teams", { name: "Lions" });
  await add("/teams", { name: "Bears" });
  for (const [at, title] of ["apple", "banana", "cherry"].entries()) {
    const { cost = "1.00", plan = null, ...concealed } = hidden ?? {};
    const own = hidden === null ? {} : { ...concealed, code: `${at}${hidden.memo}`, pin: hidden.memo };
    await add("/projects", { title, team_id: (at % 2) + 1, rank: at, cost, plan, ...own });
    await add(`/projects/${at + 1}/notes`, {
      line: `of ${title}`,
      price: hidden === null ? 1 : hidden.memo.length + at,
    });
  }
}
