import assert from "node:assert/strict";
import { test } from "node:test";
import { documentation } from "../../src/door/features.ts";
import type { ProblemDefinition } from "../../src/door/http.ts";
import {
  anyone,
  createService,
  defineEndpoint,
  defineFeature,
  defineProblem,
  defineResource,
  integer,
  mount,
  problem,
} from "../../src/door/index.ts";
import { DeclarationError } from "../../src/door/resources.ts";
import { emptyStore } from "../harness/test-store.ts";

// Nightly on PostgreSQL: problems are written in the same way over every store.

const outOfStock = defineProblem({
  code: "out_of_stock",
  status: 409,
  title: "Out of stock",
  detail: "There are fewer of it than were asked for.",
  why: "Somebody else was quicker, or <nobody> has delivered.",
  cure: "Ask for fewer, or later.",
});

const shelves = defineResource({ name: "shelf", plural: "shelves", fields: { books: integer() } });

test("answers with a custom problem, which has a page and is in the OpenAPI document", async (t) => {
  const service = await createService({
    store: await emptyStore(),
    features: [documentation({ title: "Shop", version: "1" })],
    mounts: [
      mount(shelves, {
        permission: anyone,
        problems: { create: [outOfStock] },
        beforeWrite: () => {
          throw problem(outOfStock, { detail: "There are 2 left." });
        },
      }),
    ],
    observe: null,
  });
  t.after(() => service.close());
  const ask = (path: string, init?: RequestInit): Promise<Response> =>
    service.fetch(new Request(`http://localhost${path}`, init), { peer: null });

  const refused = await ask("/shelves", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ books: 3 }),
  });
  const body = (await refused.json()) as Record<string, unknown>;
  const page = await (await ask("/problems/out_of_stock")).text();
  const index = await (await ask("/problems")).text();
  // oxlint-disable-next-line typescript/no-explicit-any -- a document that the test looks into
  const document: any = await (await ask("/openapi.json")).json();

  assert.equal(refused.status, 409);
  assert.deepEqual(
    { ...body, request_id: "" },
    {
      type: "/problems/out_of_stock",
      title: "Out of stock",
      status: 409,
      detail: "There are 2 left.",
      code: "out_of_stock",
      request_id: "",
    },
  );
  assert.match(page, /Somebody else was quicker, or &lt;nobody&gt; has delivered\./);
  assert.match(index, /href="\/problems\/out_of_stock"/);
  const { $ref } = document.paths["/shelves"].post.responses["409"];
  const answer = document.components.responses[$ref.split("/").at(-1)];
  assert.match(answer.description, /Out of stock \(`out_of_stock`\)/);
  const { examples } = answer.content["application/problem+json"];
  assert.equal(examples.out_of_stock.value.title, "Out of stock");
});

test("lets several features name one problem, and refuses to start with two problems of the same code", async () => {
  const twin = defineProblem({ ...outOfStock, title: "Sold out" });
  const naming = (name: string, each: ProblemDefinition) =>
    defineFeature({
      name,
      setUp: () => ({
        offer: null,
        endpoints: [
          defineEndpoint({
            method: "GET",
            path: `/${name}`,
            access: "open",
            documentation: { summary: name, problems: [each] },
            handle: () => ({ status: 204 }),
          }),
        ],
      }),
    });
  const start = async (...features: readonly ReturnType<typeof naming>[]) =>
    createService({ store: await emptyStore(), features });

  await (await start(naming("one", outOfStock), naming("other", outOfStock))).close();
  await assert.rejects(start(naming("one", outOfStock), naming("other", twin)), (error: unknown) => {
    assert.ok(error instanceof DeclarationError);
    assert.deepEqual(error.mistakes, [
      "the problem out_of_stock is defined twice: in the feature one and in the feature other; define it once and give it to both",
    ]);
    return true;
  });
});

test("refuses to define an invalid problem", () => {
  const rows: readonly (readonly [change: Partial<ProblemDefinition>, said: RegExp])[] = [
    [{ code: "Out of stock" }, /lower-case words/],
    [{ code: "not_found" }, /the catalogue has this code/],
    [{ status: 200 }, /from 400 to 599/],
    [{ status: 404.5 }, /from 400 to 599/],
    [{ title: "" }, /title is missing/],
  ];

  for (const [change, said] of rows) assert.throws(() => defineProblem({ ...outOfStock, ...change }), said);
});
