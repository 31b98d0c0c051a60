import assert from "node:assert/strict";
import { test } from "node:test";
import { readLinks } from "../harness/own-service.ts";
import { serve, type API } from "../harness/serve.ts";

const item = { product: "Brass key", quantity: 2, unit_price: "12.5" };
const shownItem = { product: "Brass key", quantity: 2, unit_price: "12.50" };

test("shows related records with each record of a list and with a single record", async (t) => {
  const { api, ann, user } = await shop(t);
  const order = { user_id: user.id, status: "open", created_at: "2026-01-31T09:30:00.000Z" };
  const items = [1, 3].map((id) => ({ id, ...shownItem }));

  const list = await api.get("/orders?expand=items,user", ann);
  const one = await api.get("/orders/1?expand=user,items", ann);
  const alone = await api.get("/orders/2?expand=user", ann);

  assert.equal(list.status, 200, list.text);
  assert.deepEqual(list.json, [
    { id: 1, ...order, user, items },
    { id: 2, ...order, user, items: [] },
  ]);
  assert.deepEqual(one.json, { id: 1, ...order, user, items });
  assert.match(one.text, /^\{"id":1,"user_id":2,"user":\{.*\},"status":"open","created_at":"[^"]*","items":\[.*\]\}$/);
  assert.deepEqual(alone.json, { id: 2, ...order, user });
});

test("applies `fields` only to the fields of the record, and shows expanded records too", async (t) => {
  const { api, ann, user } = await shop(t);

  const list = await api.get("/orders?fields=status&expand=user&limit=1", ann);
  const one = await api.get("/orders/2?expand=items&fields=id", ann);

  assert.deepEqual(list.json, [{ status: "open", user }]);
  assert.equal(one.text, '{"id":2,"items":[]}');
});

test("keeps the expansion in the links to other pages", async (t) => {
  const { api, ann, user } = await shop(t);

  const first = await api.get("/orders?expand=user&sort=-id&limit=1&fields=id", ann);
  const next = await api.get(linkTo(first, "next"), ann);
  const back = await api.get(linkTo(next, "prev"), ann);

  assert.deepEqual([first.json, next.json], [[{ id: 2, user }], [{ id: 1, user }]]);
  assert.equal(back.text, first.text);
});

test("leads an owner and an administrator through all pages of an expanded list", async (t) => {
  const { api, ann } = await shop(t);
  for (let count = 0; count < 5; count++) await api.post("/orders", {}, ann);

  const ofOwner = await idsOfAllPages(api, "/orders?expand=items&limit=2", ann);
  const ofAdministrator = await idsOfAllPages(api, "/orders?expand=items,user&limit=2", api.admin);

  assert.deepEqual(ofOwner, [1, 2, 4, 5, 6, 7, 8]);
  assert.deepEqual(ofAdministrator, [1, 2, 3, 4, 5, 6, 7, 8]);
});

test("shows the first hundred records of a nested collection, with a link to the others", async (t) => {
  const { api, ann } = await shop(t);
  for (let count = 0; count < 99; count++) await api.post("/orders/1/items", item, ann);

  const whole = await api.get("/orders/1?expand=items", ann);
  const whose = await api.get(whole.json.items_next, ann);
  const others = await api.get(whole.json.items_next, api.admin);

  assert.equal(whole.json.items.length, 100);
  assert.match(whole.json.items_next, /^\/orders\/1\/items\?cursor=[\w-]+$/);
  assert.deepEqual(
    whose.json.map(({ id }: { id: number }) => id),
    [102],
  );
  assert.equal(others.status, 400);
  assert.equal("items_next" in (await api.get("/orders/2?expand=items", ann)).json, false);
});

test("shows a nested collection of exactly a hundred records without a link to more", async (t) => {
  const { api, ann } = await shop(t);
  const add = async (count: number): Promise<void> => {
    const made = await api.post("/orders/1/items", Array(count).fill(item), ann);
    assert.equal(made.status, 201, made.text);
  };
  await add(97);

  for (const [added, shown, isMore] of [
    [0, 99, false],
    [1, 100, false],
    [1, 100, true],
  ] as const) {
    if (added > 0) await add(added);
    const [listed] = (await api.get("/orders?expand=items", ann)).json;
    for (const order of [listed, (await api.get("/orders/1?expand=items", ann)).json])
      assert.deepEqual([order.items.length, "items_next" in order], [shown, isMore]);
  }
});

test("refuses names in `expand` that are empty, unknown, too deep or duplicate", async (t) => {
  const { api, ann } = await shop(t);
  const queries = [
    "",
    "itmes",
    "user_id",
    "items.product",
    "items.order.user",
    "items,",
    "user,user",
    " user",
    "__proto__",
  ];

  for (const path of ["/orders", "/orders/1"]) {
    for (const name of queries) {
      const answer = await api.get(`${path}?expand=${encodeURIComponent(name)}`, ann);
      assert.deepEqual(
        [answer.status, answer.json.code, collectPointers(answer)],
        [400, "invalid_query", ["?expand"]],
        name,
      );
    }
    const twice = await api.get(`${path}?expand=user&expand=items`, ann);
    assert.deepEqual([twice.status, twice.json.errors[0].code], [400, "repeated"]);
  }
  for (const path of ["/users", "/users/2", "/orders/1/items"])
    assert.equal((await api.get(`${path}?expand=user`, ann)).status, 400, path);
});

test("changes the ETag with each shown record, and accepts only the ETag without `expand` in If-Match", async (t) => {
  const { api, ann } = await shop(t);
  const paths = ["/orders/1?expand=user,items", "/orders?expand=user,items"];
  const tags = async (): Promise<(string | null)[]> =>
    Promise.all(paths.map(async (path) => (await api.get(path, ann)).headers.get("etag")));
  const steps: readonly (readonly [method: string, path: string, body?: object])[] = [
    ["POST", "/orders/1/items", item],
    ["PATCH", "/orders/1/items/1", { quantity: 3 }],
    ["DELETE", "/orders/1/items/3"],
    ["PATCH", "/users/2", { name: "Anna" }],
    ["PATCH", "/orders/1", { status: "paid" }],
  ];

  let before = await tags();
  for (const [method, path, body] of steps) {
    for (const [at, each] of paths.entries()) {
      const same = await api.get(each, { ...ann, "if-none-match": before[at]! });
      assert.deepEqual([same.status, same.text, same.headers.get("etag")], [304, "", before[at]]);
    }
    assert.ok((await api.ask(method, path, { body, headers: ann })).status < 300, path);
    const now = await tags();
    for (const [at, tag] of now.entries()) assert.notEqual(tag, before[at], `${method} ${path}`);
    before = now;
  }
  const own = (await api.get("/orders/1", ann)).headers.get("etag")!;
  const shown = await api.patch("/orders/1", { status: "open" }, { ...ann, "if-match": before[0]! });
  assert.equal(shown.status, 412);
  assert.equal((await api.patch("/orders/1", { status: "open" }, { ...ann, "if-match": own })).status, 200);
});

test("writes related records in XML too, with a separate tag", async (t) => {
  const { api, ann } = await shop(t);

  const json = await api.get("/orders/1?expand=user,items&fields=id", ann);
  const xml = await api.get("/orders/1?expand=user,items&fields=id", { ...ann, accept: "application/xml" });
  const list = await api.get("/orders?expand=user,items&fields=id&limit=1", { ...ann, accept: "application/xml" });

  const order =
    "<order><id>1</id><user><id>2</id><name>Ann</name><email>ann@example.com</email></user><items>" +
    [1, 3]
      .map(
        (id) =>
          `<item><id>${id}</id><product>Brass key</product><quantity>2</quantity><unit_price>12.50</unit_price></item>`,
      )
      .join("") +
    "</items></order>";
  assert.equal(xml.text.split("\n")[1], order);
  assert.equal(list.text.split("\n")[1], `<orders>${order}</orders>`);
  assert.equal(xml.headers.get("etag"), json.headers.get("etag")!.replace(/"$/, '-xml"'));
});

test("hides records of other users in expansions", async (t) => {
  const { api, ann } = await shop(t);
  // The administrator creates an order for Bob, whom Ann may not see.
  const newOrder = await api.post("/orders", { user_id: 3 }, api.admin);

  assert.equal((await api.get(`/orders/${newOrder.json.id}?expand=user,items`, ann)).status, 404);
  assert.equal((await api.get(`/orders?expand=user`, ann)).json.length, 2);
  const all = await api.get("/orders?expand=user", api.admin);
  assert.deepEqual(
    all.json.map(({ user }: { user: { id: number } }) => user.id),
    [2, 2, 3, 3],
  );
  assert.equal(all.text.includes("password"), false);
  assert.equal((await api.get("/orders?expand=user")).status, 401);
});

async function shop(t: Parameters<typeof serve>[0]): Promise<{
  readonly api: API;
  readonly ann: Readonly<Record<string, string>>;
  readonly user: { readonly id: number; readonly name: string; readonly email: string };
}> {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const bob = await api.user("Bob");
  for (const { headers } of [ann, ann, bob]) await api.post("/orders", {}, headers);
  await api.post("/orders/1/items", item, ann.headers);
  await api.post("/orders/3/items", item, bob.headers);
  await api.post("/orders/1/items", item, ann.headers);
  return { api, ann: ann.headers, user: { id: ann.id, name: "Ann", email: ann.email } };
}

/** Follows the `next` links to the last page. Returns the ids of all records. */
async function idsOfAllPages(api: API, path: string, headers: Readonly<Record<string, string>>): Promise<number[]> {
  const ids: number[] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const page = await api.get(next, headers);
    assert.equal(page.status, 200, page.text);
    for (const { id } of page.json as { readonly id: number }[]) ids.push(id);
    next = readLinks(page)["next"];
  }
  return ids;
}

function linkTo({ headers }: { readonly headers: Headers }, rel: string): string {
  return new RegExp(`<([^>]*)>; rel="${rel}"`).exec(headers.get("link") ?? "")![1]!;
}

// oxlint-disable-next-line typescript/no-explicit-any -- a problem is looked at as it comes
function collectPointers({ json }: { readonly json: any }): string[] {
  return json.errors.map(({ pointer }: { pointer: string }) => pointer);
}
