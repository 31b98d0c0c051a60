import assert from "node:assert/strict";
import { test } from "node:test";
import { readLinks } from "../harness/own-service.ts";
import { serve, type Answered } from "../harness/serve.ts";

const collectIds = ({ json }: Answered): number[] => json.map(({ id }: { id: number }) => id);

test("icontains and istarts find each form of a letter by each other form", async (t) => {
  const api = await serve(t);
  const forms = ["ſsS", "µμΜ", "ϐβΒ", "σςΣ", "ϑθΘϴ", "ẛṡṠ", "ᲀвВ", "ﬅﬆ", "ßẞ"];
  for (const letters of forms)
    for (const [at, letter] of [...letters].entries()) {
      const email = `form-${forms.indexOf(letters)}-${at}@example.com`;
      assert.equal((await api.post("/users", { name: `${letter}-form`, email }, api.admin)).status, 201);
    }

  for (const letters of forms)
    for (const letter of letters)
      for (const query of [`istarts]=${encodeURIComponent(letter)}-F`, `icontains]=${encodeURIComponent(letter)}-`]) {
        const found = await api.get(`/users?limit=1000&name[${query}`, api.admin);
        const names = found.json.map(({ name }: { name: string }) => name);
        assert.deepEqual(
          names,
          Array.from(letters, (each) => `${each}-form`),
          `${letter} ${query}`,
        );
      }
});

test("lists users", async (t) => {
  const api = await serve(t);
  const { admin } = api;
  const ann = await api.user("Ann");
  for (const [name, email] of [
    ["ann", "Ann.Lower@example.com"],
    ["Änn", "aenn@example.com"],
    ["An%n_", "percent@example.com"],
    ["Zoe, the first", "zoe@EXAMPLE.com"],
    ["😀", "smile@example.com"],
    ["\uFFFDodd", "odd@example.com"],
  ]) {
    assert.equal((await api.post("/users", { name, email }, admin)).status, 201);
  }

  await t.test("returns the requested records", async () => {
    const rows: readonly (readonly [query: string, ids: readonly number[]])[] = [
      ["", [1, 2, 3, 4, 5, 6, 7, 8]],
      ["?limit=3", [1, 2, 3]],
      ["?limit=1000&sort=-id", [8, 7, 6, 5, 4, 3, 2, 1]],
      ["?id=2", [2]],
      ["?id[eq]=2", [2]],
      ["?id[in]=2,3,3,99", [2, 3]],
      ["?id[gt]=2&id[lte]=4", [3, 4]],
      ["?id[lt]=3&id[gte]=2", [2]],
      ["?id=2&id=3", [2, 3]],
      ["?id=2&id[in]=2,4", [2]],
      ["?id[in]=2,3&id[in]=4", [2, 3, 4]],
      ["?id=2&id=2", [2]],
      ["?name[starts]=An&name[starts]=an", [2, 3, 5]],
      ["?name[starts]=An&name[contains]=%25", [5]],
      ["?name=Ann&name=ann&id[gt]=2", [3]],
      ["?name[istarts]=AN", [2, 3, 5]],
      ["?name[istarts]=%C3%A4", [4]],
      ["?name[icontains]=NN", [2, 3, 4]],
      ["?name[icontains]=A%CC%88N", [4]],
      ["?name[icontains]=", [1, 2, 3, 4, 5, 6, 7, 8]],
      ["?name[icontains]=%25N_", [5]],
      ["?name[istarts]=%F0%9F%98%80&sort=-name", [7]],
      ["?id=0", []],
      ["?id=-7", []],
      ["?name=Ann", [2]],
      ["?name=ANN", []],
      ["?name[starts]=An", [2, 5]],
      ["?name[starts]=an", [3]],
      ["?name[starts]=An%25", [5]],
      ["?name[starts]=%C3%84", [4]],
      ["?name[starts]=%F0%9F%98%80", [7]],
      ["?name[starts]=", [1, 2, 3, 4, 5, 6, 7, 8]],
      ["?name[contains]=nn", [2, 3, 4]],
      ["?name[contains]=n_", [5]],
      ["?name[contains]=*", []],
      ["?name=Zoe,%20the+first", [6]],
      ["?name%5Bcontains%5D=%2C", [6]],
      ["?email=ANN@example.COM", [2]],
      ["?email=zoe@example.com", [6]],
      ["?email[starts]=ann", [2]],
      ["?email[starts]=Ann", [3]],
      ["?sort=name", [1, 5, 2, 6, 3, 4, 8, 7]],
      ["?sort=-name,id&limit=2", [7, 8]],
      ["?sort=email&limit=2", [3, 1]],
      [`?${"id[gt]=6&".repeat(20)}`, [7, 8]],
      ["?&", [1, 2, 3, 4, 5, 6, 7, 8]],
    ];
    for (const [query, ids] of rows) {
      for (const path of ["/users", "/users/"]) {
        const answered = await api.get(path + query, admin);
        assert.equal(answered.status, 200, path + query + answered.text);
        assert.deepEqual(collectIds(answered), ids, path + query);
      }
    }
  });

  await t.test("refuses unknown and invalid parameters, and names them", async () => {
    const rows: readonly (readonly [query: string, pointer: string, code: string])[] = [
      ["limit=0", "limit", "invalid"],
      ["limit=1001", "limit", "invalid"],
      ["limit=-1", "limit", "invalid"],
      ["limit=", "limit", "invalid"],
      ["limit=1e2", "limit", "invalid"],
      ["limit=010", "limit", "invalid"],
      ["limit=2.0", "limit", "invalid"],
      ["limit=+2", "limit", "invalid"],
      ["limit=99999999999999999999", "limit", "invalid"],
      ["limit=2&limit=2", "limit", "repeated"],
      ["sort=id&sort=name", "sort", "repeated"],
      ["fields=id&fields=name", "fields", "repeated"],
      ["sort=", "sort", "invalid"],
      ["sort=password", "sort", "invalid"],
      ["sort=--id", "sort", "invalid"],
      ["sort=name,", "sort", "invalid"],
      ["sort=name,-name", "sort", "invalid"],
      ["sort=Name", "sort", "invalid"],
      ["fields=", "fields", "invalid"],
      ["fields=id,", "fields", "invalid"],
      ["fields=name,email,name", "fields", "invalid"],
      ["fields=username", "fields", "invalid"],
      ["fields=password", "fields", "invalid"],
      ["id=abc", "id", "invalid"],
      ["id=1.5", "id", "invalid"],
      ["id=9007199254740992", "id", "invalid"],
      ["id[in]=", "id[in]", "invalid"],
      ["id[in]=1,", "id[in]", "invalid"],
      [`id[in]=${"1,".repeat(1000)}1`, "id[in]", "too_many"],
      ["id[ne]=1", "id[ne]", "unknown_parameter"],
      ["name[gt]=A", "name[gt]", "unknown_parameter"],
      ["name[null]=true", "name[null]", "unknown_parameter"],
      ["email[contains]=a", "email[contains]", "unknown_parameter"],
      ["name[like]=A", "name[like]", "unknown_parameter"],
      ["name[]=A", "name[]", "unknown_parameter"],
      ["name[eq=A", "name[eq", "unknown_parameter"],
      ["NAME=A", "NAME", "unknown_parameter"],
      ["username=admin", "username", "unknown_parameter"],
      ["password[starts]=a", "password[starts]", "unknown_parameter"],
      ["page=2", "page", "unknown_parameter"],
      ["__proto__=1", "__proto__", "unknown_parameter"],
      ["toString=1", "toString", "unknown_parameter"],
      ["x", "x", "unknown_parameter"],
      ["=1", "", "unknown_parameter"],
      ["id[gt]=0&".repeat(21), "id", "too_many"],
      ["name=%zz", "name", "malformed"],
      ["name=%", "name", "malformed"],
      ["name=%ff", "name", "malformed"],
      ["name=%ED%A0%80", "name", "malformed"],
      ["%ff=1", "", "malformed"],
      ["name[contains]=%00", "name[contains]", "invalid"],
    ];
    for (const [query, name, code] of rows) {
      const { status, json } = await api.get(`/users?${query}`, admin);
      assert.equal(status, 400, query);
      assert.equal(json.code, "invalid_query", query);
      assert.deepEqual([json.errors[0].pointer, json.errors[0].code], [`?${name}`, code], query);
      assert.equal(typeof json.errors[0].detail, "string");
    }
    const { json } = await api.get("/users?limit=0&sort=x&page=1&id=z", admin);
    assert.deepEqual(json.errors.map(({ pointer }: { pointer: string }) => pointer).toSorted(), [
      "?id",
      "?limit",
      "?page",
      "?sort",
    ]);
    assert.equal((await api.get(`/users?name=${"x".repeat(8200)}`, admin)).status, 414);
  });

  await t.test("shows only the requested fields, in their declared order", async () => {
    assert.equal((await api.get("/users?fields=name,id&id=2", admin)).text, '[{"id":2,"name":"Ann"}]');
    assert.equal((await api.get("/users?fields=email&id=2&sort=-name", admin)).text, '[{"email":"ann@example.com"}]');
    assert.equal((await api.get("/users/2?fields=email,id", admin)).text, '{"id":2,"email":"ann@example.com"}');
    assert.equal((await api.get("/users/2?fields=nothing", admin)).status, 400);
    assert.equal((await api.get("/users/2?limit=2", admin)).json.errors[0].code, "unknown_parameter");
  });

  await t.test("counts the records on request", async () => {
    const rows: readonly (readonly [path: string, prefer: string, total: string | null])[] = [
      ["/users?limit=2", "count=exact", "8"],
      ["/users?limit=2&id[gt]=2", 'respond-async, Count="exact"; foo', "6"],
      ["/users?id=77", "count=exact", "0"],
      ["/users", "count=none", null],
      ["/users/2", "count=exact", null],
    ];
    for (const [path, prefer, total] of rows) {
      const { headers } = await api.get(path, { ...admin, prefer });
      assert.equal(headers.get("x-total-count"), total, path);
      assert.equal(headers.get("preference-applied"), total === null ? null : "count=exact");
    }
    const next = readLinks(await api.get("/users?limit=2", admin))["next"]!;
    assert.equal((await api.get(next, { ...admin, prefer: "count=exact" })).headers.get("x-total-count"), "8");
  });

  await t.test("names Prefer in Vary (RFC 7240 §2)", async () => {
    const varies = async (path: string): Promise<string[]> =>
      (await api.get(path, admin)).headers.get("vary")!.split(", ");

    assert.ok((await varies("/users")).includes("Prefer"));
    assert.ok(!(await varies("/users/2")).includes("Prefer"));
  });

  await t.test("lists only the user's own record for a normal user, with any filters", async () => {
    const { headers } = ann;
    for (const query of ["", "?sort=-name", "?id[in]=1,2,3", "?name[contains]=n", "?limit=1"]) {
      const answered = await api.get(`/users${query}`, { ...headers, prefer: "count=exact" });
      assert.deepEqual(collectIds(answered), [ann.id], query);
      assert.equal(answered.headers.get("x-total-count"), "1");
      assert.deepEqual(Object.keys(readLinks(answered)), ["first"]);
    }
    assert.equal((await api.get("/users?id=1", headers)).text, "[]");
    assert.equal((await api.get("/users")).status, 401);
    assert.equal((await api.get("/users?page=1")).status, 401);
  });

  await t.test("supports XML, validators and HEAD", async () => {
    const xml = { ...admin, accept: "application/xml" };

    const one = await api.get("/users?id=2", xml);
    assert.equal(
      one.text,
      '<?xml version="1.0" encoding="UTF-8"?>\n<users><user><id>2</id><name>Ann</name><email>ann@example.com</email></user></users>',
    );
    assert.match((await api.get("/users?id=77", xml)).text, /<users\/>$/);
    const json = await api.get("/users?limit=2", admin);
    assert.notEqual(json.headers.get("etag"), (await api.get("/users?limit=2", xml)).headers.get("etag"));
    const unchanged = await api.get("/users?limit=2", { ...admin, "if-none-match": json.headers.get("etag")! });
    assert.equal(unchanged.status, 304);
    assert.equal(unchanged.headers.get("link"), json.headers.get("link"));
    const head = await api.ask("HEAD", "/users?limit=2", { headers: admin });
    assert.equal(head.text, "");
    assert.deepEqual(
      ["content-length", "etag", "link", "vary", "cache-control"].map((name) => head.headers.get(name)),
      ["content-length", "etag", "link", "vary", "cache-control"].map((name) => json.headers.get(name)),
    );
    assert.equal(json.headers.get("cache-control"), "private, no-cache");
  });
});

test("lists the items of one order only, with the features of any list", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const ben = await api.user("Ben");
  const order = (await api.post("/orders", {}, ann.headers)).json.id;
  const other = (await api.post("/orders", {}, ben.headers)).json.id;
  const items = [
    ["key", 3, "2.50"],
    ["Key", 2, "10"],
    ["lock", 1, "9.99"],
  ];
  for (const path of [order, other])
    for (const [product, quantity, unit_price] of items) {
      assert.equal((await api.post(`/orders/${path}/items`, { product, quantity, unit_price }, api.admin)).status, 201);
    }
  const products = async (query: string, headers = ann.headers): Promise<string[]> =>
    (await api.get(`/orders/${order}/items${query}`, headers)).json.map(({ product }: { product: string }) => product);

  assert.deepEqual(await products(""), ["key", "Key", "lock"]);
  assert.deepEqual(await products("/?sort=product"), ["Key", "key", "lock"]);
  assert.deepEqual(await products("?sort=-unit_price", api.admin), ["Key", "lock", "key"]);
  assert.deepEqual(await products("?quantity[gte]=2&sort=quantity"), ["Key", "key"]);
  assert.deepEqual(await products("?product[contains]=ey&product[starts]=k"), ["key"]);
  const counted = await api.get(`/orders/${order}/items?limit=2`, { ...ann.headers, prefer: "count=exact" });
  assert.equal(counted.headers.get("x-total-count"), "3");
  const { next } = readLinks(counted);
  assert.equal((await api.get(next!, ann.headers)).json[0].product, "lock");
  assert.equal((await api.get(next!.replace(`/${order}/`, `/${other}/`), api.admin)).status, 400);
  assert.match(
    (await api.get(`/orders/${order}/items?limit=1`, { ...ann.headers, accept: "application/xml" })).text,
    /<items><item><id>1<\/id><product>key<\/product><quantity>3<\/quantity><unit_price>2.50<\/unit_price><\/item><\/items>$/,
  );
  for (const path of [`/orders/${order}/items`, "/orders/999/items", "/orders/0/items", "/orders/x/items"]) {
    assert.equal((await api.get(path, ben.headers)).status, 404, path);
  }
  assert.equal((await api.get(`/orders/${order}/items?order_id=1`, ann.headers)).status, 400);
});
