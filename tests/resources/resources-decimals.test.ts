import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { anyone, decimal, defineResource, mount } from "../../src/door/index.ts";
import { DeclarationError, array, type Field } from "../../src/door/resources.ts";
import { readLinks } from "../harness/own-service.ts";
import { serve, type API } from "../harness/serve.ts";

const readings = defineResource({
  name: "reading",
  fields: {
    value: decimal({ scale: 2, minimum: "-9999999999999.99", maximum: "9999999999999.99", json: "number" }),
    share: decimal({ scale: 6, maximum: "1", json: "number", default: 0.5 }),
    count: decimal({ scale: 0, maximum: "999999999999999", json: "number", optional: true }),
    exact: decimal({ scale: 2, maximum: "99.99", default: "1.00" }),
  },
  filters: { value: ["eq", "ne", "lt", "gte", "in"] },
  sorts: ["value", "count"],
});

async function start(t: TestContext): Promise<API> {
  return serve(t, { config: { mounts: [mount(readings, { permission: anyone, arrays: true })] } });
}

test("shows a decimal as a JSON number if its field has the option `json`", async (t) => {
  const api = await start(t);

  await t.test("shows the same value of a decimal in every representation", async () => {
    const made = await api.post("/readings", { value: 12.5, count: 7 });
    assert.deepEqual([made.status, made.json], [201, { id: 1, value: 12.5, share: 0.5, count: 7, exact: "1.00" }]);
    assert.equal((await api.get("/readings/1")).text, made.text);
    assert.equal((await api.get("/readings")).text, `[${made.text}]`);
    assert.equal((await api.get("/readings?fields=value")).text, '[{"value":12.5}]');
    const csv = await api.get("/readings?fields=value,share,count", { accept: "text/csv" });
    assert.equal(csv.text, "value,share,count\r\n12.5,0.5,7\r\n");
    const xml = await api.get("/readings/1", { accept: "application/xml" });
    assert.match(xml.text, /<value>12.5<\/value>/);
    const sent = "<reading><value>-0.10</value><share>0.000001</share></reading>";
    const read = await api.post("/readings", sent, { "content-type": "application/xml" });
    assert.deepEqual(read.json, { id: 2, value: -0.1, share: 0.000001, count: null, exact: "1.00" });
    assert.equal((await api.get("/readings/2")).text, read.text);
    assert.equal((await api.get("/readings?value[lt]=0")).text, `[${read.text}]`);
  });

  await t.test("stores any fifteen digits of a decimal exactly", async () => {
    const values = [9999999999999.99, -9999999999999.99, 0.07, 0.28, 1.15, 4503599627370.49, 100, 0, -0, 1e12];
    const made = await api.post(
      "/readings",
      values.map((value) => ({ value })),
    );
    assert.equal(made.status, 201, made.text);
    const shown = values.map((value) => (value === 0 ? 0 : value));
    assert.deepEqual(
      made.json.map(({ value }: { value: number }) => value),
      shown,
    );
    const listed = await api.get("/readings?limit=100");
    assert.deepEqual(
      listed.json.slice(2).map(({ value }: { value: number }) => value),
      shown,
    );
    assert.equal(listed.text.includes(made.text.slice(1, -1)), true);
    for (const [at, value] of shown.entries()) {
      const found = await api.get(`/readings?value=${value}&fields=id`);
      assert.ok(
        found.json.some(({ id }: { id: number }) => id === at + 3),
        String(value),
      );
    }
  });

  await t.test("filters, sorts and pages by a decimal as a number", async () => {
    const answer = await api.ask("QUERY", "/readings", {
      body: { where: { value: { in: [12.5, 0.07] } }, fields: "value" },
    });
    assert.deepEqual(answer.json, [{ value: 12.5 }, { value: 0.07 }]);
    const text = await api.ask("QUERY", "/readings", { body: { where: { value: { eq: "12.5" } } } });
    assert.equal(text.status, 400);
    const seen: number[] = [];
    for (let target: string | undefined = "/readings?sort=-value&limit=5&fields=value"; target !== undefined;) {
      const page = await api.get(target);
      seen.push(...page.json.map(({ value }: { value: number }) => value));
      target = readLinks(page)["next"];
    }
    assert.deepEqual(
      seen,
      seen.toSorted((one, other) => other - one),
    );
    assert.equal(seen.length, 12);
  });

  await t.test("refuses a value that does not fit a decimal, and never rounds it", async () => {
    const rows: readonly (readonly [value: unknown, code: string])[] = [
      ["12.50", "invalid"],
      [0.285, "invalid"],
      [1e-7, "invalid"],
      [10000000000000, "too_large"],
      [-10000000000000, "too_small"],
      [null, "invalid"],
    ];
    for (const [value, code] of rows) {
      const { status, json } = await api.post("/readings", { value });
      assert.deepEqual([status, json.errors[0].pointer, json.errors[0].code], [400, "/value", code], String(value));
    }
    for (const body of ['{"value": 1e999}', '{"value": 1e300}'])
      assert.equal((await api.post("/readings", body)).status, 400, body);
    for (const query of ["value=x", "value=1e3", "value=0.285"])
      assert.equal((await api.get(`/readings?${query}`)).status, 400, query);
  });

  await t.test("describes a decimal in the API's description", async () => {
    const { value } = (await api.get("/openapi.json")).json.components.schemas.ReadingDraft.properties;
    assert.deepEqual(value, { type: "number", minimum: -9999999999999.99, maximum: 9999999999999.99 });
  });
});

test("stores, shows and filters minus zero as zero in a decimal without decimal places", async (t) => {
  const counts = defineResource({
    name: "count",
    fields: { whole: decimal({ scale: 0, minimum: "-9", maximum: "9" }) },
    filters: { whole: ["eq", "gte"] },
  });
  const beforeWrite = (): { values: { whole: string } } => ({ values: { whole: "-0" } });
  const api = await serve(t, { config: { mounts: [mount(counts, { permission: anyone, beforeWrite })] } });

  const made = await api.post("/counts", { whole: "5" });
  assert.deepEqual([made.status, made.json], [201, { id: 1, whole: "0" }], made.text);
  for (const query of ["whole=-0", "whole=0", "whole[gte]=-0"])
    assert.equal((await api.get(`/counts?${query}`)).text, `[${made.text}]`, query);
});

test("keeps all digits of a decimal up to the largest maximum, 2^53-1 in units of its last digit", async (t) => {
  const amounts = defineResource({
    name: "amount",
    fields: { value: decimal({ scale: 2, minimum: "-90071992547409.91", maximum: "90071992547409.91" }) },
    filters: { value: ["eq"] },
  });
  const api = await serve(t, { config: { mounts: [mount(amounts, { permission: anyone })] } });

  for (const [at, value] of ["90071992547409.91", "-90071992547409.91", "90071992547409.90"].entries()) {
    const made = await api.post("/amounts", { value });
    assert.deepEqual([made.status, made.json], [201, { id: at + 1, value }], made.text);
    assert.equal((await api.get(`/amounts?value=${value}`)).text, `[${made.text}]`);
  }
  assert.equal((await api.post("/amounts", { value: "90071992547409.92" })).json.errors[0].code, "too_large");
  assert.throws(
    () => defineResource({ name: "a", fields: { b: decimal({ scale: 2, maximum: "90071992547409.92" }) } }),
    /minimum 0, maximum 90071992547409\.92 and scale 2 .* at most 9007199254740991 without the point/,
  );
});

test("refuses to declare a decimal as a JSON number if a double cannot hold all its digits", () => {
  const wrong = (make: () => Field, message: RegExp): void =>
    assert.throws(
      () => defineResource({ name: "a", fields: { b: make() } }),
      (error: unknown) => error instanceof DeclarationError && message.test(error.message),
    );

  wrong(() => decimal({ scale: 2, maximum: "99999999999999.99", json: "number" }), /fifteen digits/);
  wrong(() => decimal({ scale: 0, maximum: "1", minimum: "-1000000000000000", json: "number" }), /fifteen digits/);
  wrong(() => decimal({ scale: 0, maximum: "1", json: "text" as never }), /json is 'text'/);
  wrong(() => decimal({ scale: 1, maximum: "1", json: "number", default: 0.05 }), /field b: its own default/);
  const list = array(decimal({ scale: 1, maximum: "1", json: "number" }));
  assert.deepEqual(list.kind.parse([0.1]), [0.1]);
});
