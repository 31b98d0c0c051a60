import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { consolePages, documentation, rateLimits } from "../../src/door/features.ts";
import { requestListener } from "../../src/door/http.ts";
import {
  anyone,
  createService,
  defineEndpoint,
  defineProblem,
  defineResource,
  integer,
  mount,
  problem,
  text,
} from "../../src/door/index.ts";
import { date } from "../../src/door/resources.ts";
import { sqliteStore } from "../../src/door/stores.ts";

/** A running service with custom problems. The tests generate clients from its OpenAPI document. */
export interface Library {
  readonly address: string;
  close(): Promise<void>;
}

const loanOverlaps = defineProblem({
  code: "loan_overlaps",
  status: 409,
  title: "Loan overlaps",
  detail: "The copy is lent on that day.",
  why: "Another loan has the copy on that day.",
  cure: "Choose another day.",
  extensions: {
    free_from: date({ description: "The first day without a loan." }),
    waiting: integer({ optional: true }),
  },
});

const tooManyLoans = defineProblem({
  code: "too_many_loans",
  status: 409,
  title: "Too many loans",
  detail: "A member has two loans at most.",
  why: "The member has two loans.",
  cure: "Return one.",
});

const loan = defineResource({
  name: "loan",
  fields: { name: text(), copy: integer(), day: date(), note: text({ optional: true }) },
  filters: { name: ["eq"] },
  sorts: ["day"],
});

const loans = mount(loan, {
  permission: anyone,
  problems: { create: [loanOverlaps, tooManyLoans] },
  async beforeWrite({ kind, draft, collection, context }) {
    if (kind !== "create") return {};
    const { copy, day, name } = draft.values;
    const lent = await context.store.count(collection, {
      all: [
        { column: "copy", operator: "eq", value: copy },
        { column: "day", operator: "eq", value: day },
      ],
    });
    if (lent > 0) throw problem(loanOverlaps, { extensions: { free_from: "2026-02-02" } });
    const where = { column: "name", operator: "eq", value: name } as const;
    const issues = [{ pointer: "/name", code: "too_many", detail: "The member has two loans." }];
    return { changes: [{ kind: "require", collection, where, atMost: 2, name: tooManyLoans.code, issues }] };
  },
});

const remind = defineEndpoint({
  method: "POST",
  path: "/reminders",
  access: anyone,
  body: {
    type: "object",
    properties: { loans: { type: "array", items: { type: "integer", minimum: 1 } }, words: { type: "string" } },
    required: ["loans"],
    additionalProperties: false,
  },
  documentation: {
    summary: "Remind members",
    tag: "loans",
    responses: {
      200: {
        description: "How many reminders were sent.",
        schema: { type: "object", properties: { sent: { type: "integer" } }, required: ["sent"] },
      },
    },
  },
  handle: ({ body }) => ({
    status: 200,
    body: { kind: "data", value: { sent: body.value.loans.length }, element: "reminders" },
  }),
});

export async function startLibrary(): Promise<Library> {
  const limits = [{ name: "all", by: "address", limit: 10_000, windowSeconds: 60 }] as const;
  const service = await createService({
    store: sqliteStore({ path: ":memory:" }),
    features: [
      documentation({ title: "Library", version: "1", license: { name: "MIT", identifier: "MIT" } }),
      consolePages({ title: "Library" }),
      rateLimits({ limits }),
    ],
    mounts: [loans],
    endpoints: [remind],
  });
  const server = createServer(requestListener(service));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await service.close();
    },
  };
}
