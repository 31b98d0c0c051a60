import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { anyone, defineResource, json, mount, text } from "../../src/door/index.ts";
import { serve } from "../harness/serve.ts";

const notes = mount(
  defineResource({
    name: "note",
    fields: { title: text({ optional: true }), meta: json({ optional: true }) },
  }),
  { permission: anyone },
);
const asXML = { "content-type": "application/xml", accept: "application/xml" };

test("keeps the value of a json() field unchanged through XML", async (t) => {
  const api = await serve(t, { config: { mounts: [notes] } });
  const made = await api.post("/notes", { meta: null }, api.admin);
  const path = `/notes/${made.json.id}`;
  const value = fc
    .jsonValue({ maxDepth: 4 })
    .filter((each) => !/[\ufffe\uffff]|\\ud[89a-f]/i.test(JSON.stringify(each)))
    .map(withoutHugeNumbers);

  await fc.assert(
    fc.asyncProperty(value, async (meta) => {
      const written = await api.put(path, { meta }, api.admin);
      assert.equal(written.status, 200, written.text);
      const shown = await api.get(path, { ...api.admin, accept: "application/xml" });
      await api.put(path, { meta: "another" }, api.admin);
      const back = await api.put(path, shown.text, { ...api.admin, ...asXML });
      assert.equal(back.status, 200, back.text);
      assert.equal(back.text, shown.text);
      assert.deepEqual((await api.get(path, api.admin)).json.meta, written.json.meta);
    }),
    { numRuns: 50 },
  );
});

/** Replaces whole numbers that are not safe integers by 0, because the service refuses them in JSON and in XML. */
function withoutHugeNumbers(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    Number.isInteger(each) && !Number.isSafeInteger(each) ? 0 : each,
  );
}

test("reads and writes a json() field in XML as JSON text only, in lists too", async (t) => {
  const api = await serve(t, { config: { mounts: [notes] } });
  const put = (content: string): ReturnType<typeof api.put> =>
    api.ask("POST", "/notes", { headers: { ...api.admin, ...asXML }, body: `<note>${content}</note>` });

  const made = await put('<meta>{"a":[1,true,null,"&lt;"]}</meta>');
  const listed = await api.get("/notes", { ...api.admin, accept: "application/xml" });

  assert.equal(made.status, 201, made.text);
  assert.match(made.text, /<meta>\{"a":\[1,true,null,"&lt;"\]\}<\/meta>/);
  assert.match(listed.text, /<notes><note>.*<meta>\{"a":\[1,true,null,"&lt;"\]\}<\/meta><\/note><\/notes>/);
  for (const content of [
    "<meta>hello</meta>",
    "<meta/>",
    "<meta>{</meta>",
    "<meta><a>1</a></meta>",
    "<meta>1 2</meta>",
  ]) {
    const refused = await put(content);
    assert.equal(refused.status, 400, content);
    assert.match(refused.text, /<pointer>\/meta<\/pointer><code>invalid<\/code>/, content);
  }
});

test("refuses a JSON body if one of its texts has a character that XML cannot contain", async (t) => {
  const api = await serve(t, { config: { mounts: [notes] } });

  for (const [body, pointer] of [
    [{ title: "a\ufffe" }, "/title"],
    [{ title: "\uffff" }, "/title"],
    [{ meta: "a\uffff" }, "/meta"],
    [{ meta: [{ a: ["\ufffe"] }] }, "/meta"],
    [{ meta: { "\ufffe": 1 } }, "/meta"],
  ] as const) {
    const refused = await api.post("/notes", body, api.admin);
    assert.equal(refused.status, 400);
    assert.deepEqual(
      refused.json.errors.map((each: { pointer: string }) => each.pointer),
      [pointer],
    );
  }
});

test("never rounds a number to an integer", async (t) => {
  const api = await serve(t);
  const order = await api.post("/orders", {}, api.admin);
  const items = `/orders/${order.json.id}/items`;
  const item = (quantity: string, price = '"1.00"'): string =>
    `{"product":"a","quantity":${quantity},"unit_price":${price}}`;
  const post = async (body: string): Promise<number> => (await api.post(items, body, api.admin)).status;

  for (const quantity of ["1.0000000000000000000001", "1.5", "0.99999999999999999999", "1e-400", "9007199254740993"])
    assert.equal(await post(item(quantity)), 400, quantity);
  for (const quantity of ["1", "1.0", "1.00000000000000000000000", "1e2", "10e-1"])
    assert.equal(await post(item(quantity)), 201, quantity);
  for (const price of ['"1.0000000000000000000001"', '"1.000"', '"1.001"', "1.5"])
    assert.equal(await post(item("1", price)), 400, price);
});

test("refuses a JSON Patch that changes or removes read-only members", async (t) => {
  const api = await serve(t);
  const order = await api.post("/orders", {}, api.admin);
  const path = `/orders/${order.json.id}`;
  const patch = async (...operations: object[]): Promise<string> => {
    const headers = { ...api.admin, "content-type": "application/json-patch+json" };
    const { status, json: answer } = await api.ask("PATCH", path, { headers, body: operations });
    return answer.errors === undefined ? `${status}` : `${status} ${answer.errors[0].code} ${answer.errors[0].pointer}`;
  };

  assert.equal(await patch({ op: "remove", path: "/id" }), "400 read_only /id");
  assert.equal(await patch({ op: "remove", path: "/created_at" }), "400 read_only /created_at");
  assert.equal(await patch({ op: "move", from: "/id", path: "/status" }), "400 read_only /id");
  assert.equal(await patch({ op: "replace", path: "/id", value: 99 }), "400 read_only /id");
  assert.equal(await patch({ op: "add", path: "/id", value: 99 }), "400 read_only /id");
  assert.equal(await patch({ op: "add", path: "/id", value: order.json.id }), "200");
  assert.equal(await patch({ op: "remove", path: "/id" }, { op: "add", path: "/id", value: order.json.id }), "200");
  assert.equal(await patch({ op: "remove", path: "/nothing" }), "409");
});
