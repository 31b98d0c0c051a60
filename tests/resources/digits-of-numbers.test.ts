import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { anyone, decimal, defineResource, integer, json, mount, text } from "../../src/door/index.ts";
import { array, number, standardSchema } from "../../src/door/resources.ts";
import { onBoth } from "../harness/existing.ts";
import { ownService } from "../harness/own-service.ts";

/** Fractions with digits that a double does not keep, and one as programs write that print 17 digits of each double. */
const many = ["0.10000000000000000001", "-12.500000000000000000000001", "1.2345678901234567890123e-5"];
const all17 = "0.10000000000000001";

const measure = defineResource({
  name: "measure",
  fields: {
    j: json({ optional: true }),
    n: number({ optional: true }),
    list: array(number(), { optional: true }),
    dn: decimal({ scale: 2, minimum: "-99", maximum: "999.99", json: "number", optional: true }),
    i: integer({ optional: true }),
    zod: standardSchema(z.object({ n: z.number() }), { optional: true }),
    any: standardSchema(z.any(), { optional: true }),
  },
  filters: { n: ["eq"], dn: ["eq"], i: ["eq"] },
});

test("keeps every digit of a number in JSON, in every format and patch", async (t) => {
  const { ask, get } = await ownService(t, { mounts: [mount(measure, { permission: anyone, arrays: true })] });

  for (const digits of [...many, all17, `[{"deep":${many[0]!}}]`]) {
    const shown = `"j":${digits}`;
    const made = await ask("POST", "/measures", { body: `{${shown},"any":${digits}}` });
    assert.equal(made.status, 201, made.text);
    const path = made.headers.get("location")!;
    const bodies = [
      ["PUT", (await get(path)).text, "application/json"],
      ["PATCH", `{${shown}}`, "application/merge-patch+json"],
      [
        "PATCH",
        `[{"op":"test","path":"/j","value":${digits}},{"op":"replace","path":"/j","value":${digits}}]`,
        "application/json-patch+json",
      ],
      ["PUT", (await get(path, { headers: { accept: "application/xml" } })).text, "application/xml"],
    ] as const;
    for (const [method, body, type] of bodies) {
      const { status, text: answer } = await ask(method, path, { body, headers: { "content-type": type } });
      assert.equal(status, 200, answer);
      assert.ok(answer.includes(shown) && answer.includes(`"any":${digits}`), `${type}: ${answer}`);
    }
    const array = await ask("POST", "/measures", { body: `[{${shown}}]` });
    assert.ok(array.text.includes(shown), array.text);
  }
});

test("refuses digits that a field does not keep, and never rounds them", async (t) => {
  const { ask } = await ownService(t, { mounts: [mount(measure, { permission: anyone })] });
  const xml = { "content-type": "application/xml" };

  for (const digits of many) {
    for (const [name, value] of [
      ["n", digits],
      ["list", `[1,${digits}]`],
      ["dn", digits],
      ["i", digits],
      ["zod", `{"n":${digits}}`],
    ] as const) {
      const { status, json: answer } = await ask("POST", "/measures", { body: `{"${name}":${value}}` });
      assert.equal(status, 400, `${name} ${digits}`);
      assert.match(answer.errors[0].pointer, new RegExp(`^/${name}`));
    }
    for (const name of ["n", "dn"])
      assert.equal(
        (await ask("POST", "/measures", { body: `<measure><${name}>${digits}</${name}></measure>`, headers: xml }))
          .status,
        400,
        name,
      );
  }
  const whole = await ask("POST", "/measures", { body: '{"j":1.0000000000000000000001}' });
  assert.equal(whole.status, 400, whole.text);
  assert.equal((await ask("POST", "/measures", { body: `{"dn":${all17}}` })).status, 400);
});

test("reads the 17 digits of a double as that double", async (t) => {
  const { ask, get } = await ownService(t, { mounts: [mount(measure, { permission: anyone })] });

  const made = await ask("POST", "/measures", {
    body: `{"n":${all17},"list":[${all17}, 2.0000000000000000000],"zod":{"n":${all17}}}`,
  });

  assert.equal(made.status, 201, made.text);
  assert.deepEqual([made.json.n, made.json.list, made.json.zod], [0.1, [0.1, 2], { n: 0.1 }]);
  const queried = await ask("QUERY", "/measures", { body: `{"where":{"n":{"eq":${all17}}}}` });
  assert.deepEqual(
    queried.json.map(({ id }: { id: number }) => id),
    [1],
    queried.text,
  );
  assert.equal((await get(`/measures?n=${all17}`)).json.length, 1);
  for (const name of ["dn", "i"])
    assert.equal((await ask("QUERY", "/measures", { body: `{"where":{"${name}":{"eq":${many[0]!}}}}` })).status, 400);
});

onBoth(
  "a PUT of the text that was read leaves a JSON value of another program unchanged",
  {
    sqlite: `CREATE TABLE m (id integer PRIMARY KEY, a text, f text); INSERT INTO m VALUES (1, 'x', '{"f":${many[0]!},"g":[${all17}]}')`,
    postgres: `CREATE TABLE m (id serial PRIMARY KEY, a text, f json); INSERT INTO m (a, f) VALUES ('x', '{"f":${many[0]!},"g":[${all17}]}')`,
  },
  async ({ serve, sql }) => {
    const fields = { a: text(), f: json() };
    const { ask, get } = await serve(
      mount(defineResource({ name: "m", table: "m", writes: ["update"], fields }), { permission: anyone }),
    );
    const row = async (): Promise<string> => JSON.stringify(await sql("SELECT CAST(f AS text) AS f FROM m"));
    const before = await row();

    const read = (await get("/ms/1")).text;
    for (const body of [read, read.replace('"x"', '"y"')]) {
      const { status, text: answer } = await ask("PUT", "/ms/1", { body });
      assert.equal(status, 200, answer);
      assert.equal(await row(), before);
    }
    const changed = await ask("PUT", "/ms/1", { body: read.replace('"g"', '"h"') });
    assert.equal(changed.status, 200, changed.text);
    assert.ok((await row()).includes(many[0]!) && (await row()).includes(all17), await row());
  },
);
