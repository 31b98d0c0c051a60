import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { consolePages, documentation } from "../../src/door/features.ts";
import type { ExtensionsOf, ProblemDefinition } from "../../src/door/http.ts";
import {
  anyone,
  createService,
  decimal,
  defineEndpoint,
  defineProblem,
  defineResource,
  integer,
  json,
  mount,
  problem,
  text,
  type Context,
} from "../../src/door/index.ts";
import { array, DeclarationError } from "../../src/door/resources.ts";
import { emptyStore } from "../harness/test-store.ts";

// Nightly on PostgreSQL: problems are written in the same way over every store.

const noCredit = defineProblem({
  code: "no_credit",
  status: 403,
  title: "No credit",
  detail: "There is not enough credit.",
  why: "The <account> is empty.",
  cure: "Add credit.",
  extensions: {
    balance: decimal({ scale: 2, minimum: "0", maximum: "1000", description: "What is <left>.", example: "30.00" }),
    accounts: array(text()),
    login: json({ optional: true }),
  },
});

const plain = defineProblem({ ...noCredit, code: "sold_out", status: 409, extensions: {} });

async function serve(t: TestContext, handle: (context: Context) => never) {
  const service = await createService({
    store: await emptyStore(),
    features: [documentation({ title: "Bank", version: "1" }), consolePages({ title: "Bank" })],
    mounts: [
      mount(defineResource({ name: "payment", fields: { amount: integer() } }), {
        permission: anyone,
        problems: { create: [noCredit, plain] },
        beforeWrite: ({ context }) => handle(context),
      }),
    ],
    endpoints: [defineEndpoint({ method: "GET", path: "/credit", access: "open", handle })],
    observe: null,
  });
  t.after(() => service.close());
  return (path: string, accept = "application/json", body?: object) =>
    service.fetch(
      new Request(`http://localhost${path}`, {
        headers: { accept, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      }),
      { peer: null },
    );
}

const refuse = (): never => {
  throw problem(noCredit, {
    extensions: { balance: "30", accounts: ["/a/1", "<b>"], login: { pending: "x", factors: [{ id: 1 }] } },
  });
};

test("writes extension members in JSON, in XML and on the page, formatted by their fields", async (t) => {
  const ask = await serve(t, refuse);

  const reply = await ask("/credit");
  const document = (await reply.json()) as Record<string, unknown>;
  const written = await (await ask("/credit", "application/xml")).text();
  const page = await (await ask("/credit", "text/html")).text();
  const form = await (await ask("/payments", "text/html", { amount: 1 })).text();

  assert.equal(reply.status, 403);
  assert.deepEqual(
    { ...document, request_id: "" },
    {
      type: "/problems/no_credit",
      title: "No credit",
      status: 403,
      detail: "There is not enough credit.",
      code: "no_credit",
      request_id: "",
      balance: "30.00",
      accounts: ["/a/1", "<b>"],
      login: { pending: "x", factors: [{ id: 1 }] },
    },
  );
  assert.ok(
    written.endsWith(
      "<balance>30.00</balance><accounts><i>/a/1</i><i>&lt;b&gt;</i></accounts>" +
        "<login><pending>x</pending><factors><i><id>1</id></i></factors></login></problem>",
    ),
    written,
  );
  for (const shown of [page, form]) {
    assert.match(
      shown,
      /<dt>balance<\/dt>\s*<dd><bdi>30\.00<\/bdi><\/dd>\s*<dd class="rule">What is &lt;left&gt;\.<\/dd>/,
    );
    assert.match(shown, /<dt>accounts<\/dt>\s*<dd><code>\[&quot;\/a\/1&quot;,&quot;&lt;b&gt;&quot;\]<\/code><\/dd>/);
  }
});

test("keeps the extension members of a problem if the problem is about one record of an array", () => {
  const moved = problem(noCredit, {
    extensions: { balance: "1.00", accounts: [] },
    issues: [{ pointer: "/amount", code: "invalid", detail: "Too much." }],
  }).below("/3");

  assert.deepEqual(moved.extensions, { balance: "1.00", accounts: [] });
  assert.equal(moved.issues[0]!.pointer, "/3/amount");
});

test("describes extension members on the page of the problem and in the OpenAPI document", async (t) => {
  const ask = await serve(t, refuse);

  const page = await (await ask("/problems/no_credit", "text/html")).text();
  // oxlint-disable-next-line typescript/no-explicit-any -- a document that the test looks into
  const document: any = await (await ask("/openapi.json")).json();

  assert.match(
    page,
    /<dt>balance<\/dt>\s*<dd>string, like [^<]+<\/dd>\s*<dd class="rule">What is &lt;left&gt;\.<\/dd>/,
  );
  assert.match(page, /<dt>login<\/dt>\s*<dd>any value, may be missing<\/dd>/);
  const { Problem, NoCreditProblem } = document.components.schemas;
  assert.ok(Problem.properties.code.enum.includes("no_credit"));
  const [base, own] = NoCreditProblem.allOf;
  assert.equal(base.$ref, "#/components/schemas/Problem");
  assert.deepEqual(own.properties.code, { type: "string", enum: ["no_credit"] });
  assert.deepEqual(own.required, ["status", "code", "balance", "accounts"]);
  assert.equal(own.properties.accounts.type, "array");
  assert.equal(own.properties.balance.description, "What is <left>.");
  assert.deepEqual(document.components.responses.NoCredit.content["application/problem+json"].schema, {
    $ref: "#/components/schemas/NoCreditProblem",
  });
});

test("refuses extension members that are missing, unknown or of a wrong type, and never shows their values", () => {
  const buildProblem = (extensions: unknown) => () => problem(noCredit as ProblemDefinition, { extensions } as never);

  assert.throws(buildProblem(undefined), /TypeError: problem\(no_credit\): the extension balance is missing; write/);
  assert.throws(buildProblem({ balance: "1.00" }), /the extension accounts is missing/);
  assert.throws(
    buildProblem({ balance: "1.00", accounts: [], acounts: [] }),
    /there is no extension acounts; did you mean accounts\?/,
  );
  assert.throws(buildProblem([]), /extensions is a list; it has to be an object/);
  assert.throws(buildProblem({ balance: "1.00", accounts: [], status: 1 }), /there is no extension status/);
  assert.throws(buildProblem({ balance: "s3cret", accounts: [] }), (error: Error) => {
    assert.match(error.message, /the extension balance is a text that its field does not take: invalid/);
    assert.doesNotMatch(error.message, /s3cret/);
    return true;
  });
  assert.throws(
    () => problem("not_found", { extensions: { login: 1 } } as never),
    /problem\(not_found\): there is no extension login/,
  );
});

test("refuses to declare extension members that a problem cannot have", () => {
  const rows: readonly (readonly [extensions: unknown, said: RegExp])[] = [
    [[], /problem no_credit: extensions is a list; it has to be a plain object/],
    [{ status: integer() }, /extension status: every problem has this member/],
    [{ instance: integer() }, /extension instance: every problem has this member/],
    [{ Balance: integer() }, /extension Balance: the name has to be lower-case words/],
    [{ id: integer() }, /extension id: the name has to be .* of 3 to 80 characters/],
    [{ balance: "text" }, /extension balance: it is 'text' and no field/],
    [{ balance: integer({ minimun: 1 } as never) }, /extension balance: integer: there is no option minimun/],
    [{ balance: integer({ readOnly: true }) }, /extension balance: integer: readOnly has no meaning in a problem/],
    [{ balance: integer({ default: 1 }) }, /extension balance: integer: default has no meaning in a problem/],
    [
      { balance: integer({ example: "a" as never }) },
      /extension balance: its own example is 'a', and that is not valid/,
    ],
  ];

  for (const [extensions, said] of rows)
    assert.throws(
      () => defineProblem({ ...noCredit, extensions } as never),
      (error: unknown) => error instanceof DeclarationError && said.test(error.message),
      String(said),
    );
});

test("infers the types of extension members from the definition of the problem", () => {
  type Given = ExtensionsOf<NonNullable<(typeof noCredit)["extensions"]>>;
  const members: Given = { balance: "1.00", accounts: ["a"] };
  const checked = (): unknown => [
    problem(noCredit, { extensions: members }),
    problem(plain),
    problem(plain, { detail: "None is left." }),
    // @ts-expect-error -- balance and accounts are missing
    problem(noCredit),
    // @ts-expect-error -- accounts is missing
    problem(noCredit, { extensions: { balance: "1.00" } }),
    // @ts-expect-error -- a number is no decimal
    problem(noCredit, { extensions: { balance: 1, accounts: [] } }),
    // @ts-expect-error -- there is no such member
    problem(noCredit, { extensions: { balance: "1.00", accounts: [], acounts: [] } }),
    // @ts-expect-error -- a problem of the catalogue has no extension members
    problem("not_found", { extensions: { login: 1 } }),
    // @ts-expect-error -- this problem has no extension members
    problem(plain, { extensions: { login: 1 } }),
  ];

  assert.equal(typeof checked, "function");
});
