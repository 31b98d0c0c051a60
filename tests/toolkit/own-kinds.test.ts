import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { documentation, consolePages } from "../../src/door/features.ts";
import { csv } from "../../src/door/http.ts";
import { anyone, defineResource, mount, text } from "../../src/door/index.ts";
import { array } from "../../src/door/resources.ts";
import { factory } from "../../src/testing/testing.ts";
import { color } from "../harness/color.ts";
import { ownService } from "../harness/own-service.ts";

// Nothing but tests/harness/color.ts knows this kind of field.
const paints = defineResource({
  name: "paint",
  fields: {
    name: text({ maxLength: 40 }),
    shade: color({ unique: true }),
    under: color({ optional: true }),
    mix: array(color({})),
  },
  filters: { shade: ["eq", "in", "starts"] },
  sorts: ["shade"],
  search: ["shade"],
});

const html = { headers: { accept: "text/html" } };

async function shop(t: TestContext) {
  const { ask, get } = await ownService(t, {
    mounts: [mount(paints, { permission: anyone })],
    features: [documentation({ title: "Paints", version: "1" }), consolePages({ title: "Paints" })],
    formats: [csv({ formulas: "exact" })],
  });
  const add = async (name: string, shade: unknown, more: object = {}) =>
    ask("POST", "/paints", { body: { name, shade, mix: [], ...more } });
  return { ask, get, add };
}

test("reads, filters, sorts and searches a kind of field that is one file of a project", async (t) => {
  const { add, get } = await shop(t);
  assert.equal((await add("sky", "#0088FF", { mix: ["#FFFFFF", "#0000ff"] })).status, 201);
  assert.equal((await add("fire", "#ff0000", { under: "#FFAA00" })).status, 201);

  const found = async (query: string) => (await get(`/paints?${query}`)).json.map(({ id }: { id: number }) => id);

  assert.deepEqual((await get("/paints/1")).json, {
    id: 1,
    name: "sky",
    shade: "#0088ff",
    under: null,
    mix: ["#ffffff", "#0000ff"],
  });
  assert.deepEqual(await found("shade=%230088FF"), [1]);
  assert.deepEqual(await found("shade[in]=%230088ff,%23FF0000&sort=-shade"), [2, 1]);
  assert.deepEqual(await found("shade[starts]=%23ff"), [2]);
  assert.deepEqual(await found("search=0088"), [1]);
  assert.deepEqual((await get("/paints?shade=red")).json.errors, [
    { pointer: "?shade", code: "invalid", detail: "A color is required, like #ff8800." },
  ]);
  assert.equal((await add("again", "#0088fF")).status, 409);
  assert.equal((await add("wrong", "red")).json.errors[0].pointer, "/shade");
  assert.equal((await add("wrong", "#aaaaaa", { mix: ["#fffffF", "red"] })).json.errors[0].pointer, "/mix/1");
});

test("reads and writes it in XML and CSV", async (t) => {
  const { ask, add, get } = await shop(t);
  await add("sky", "#0088FF");
  const body = '<paint><name>fire</name><shade>#FF0000</shade><mix>["#FFFFFF"]</mix></paint>';

  const made = await ask("POST", "/paints", {
    body,
    headers: { "content-type": "application/xml", accept: "application/xml" },
  });

  assert.match(made.text, /<shade>#ff0000<\/shade>/);
  assert.match(
    (await get("/paints", { headers: { accept: "text/csv" } })).text,
    /^1,sky,#0088ff,.*\r\n2,fire,#ff0000,/m,
  );
});

test("describes it in OpenAPI with its schema, its example and its filters", async (t) => {
  const { get } = await shop(t);

  const { paths, components } = (await get("/openapi.json")).json;

  const described = {
    type: "string",
    pattern: "^#[0-9A-Fa-f]{6}$",
    maxLength: 7,
    description: "A color, like #ff8800.",
  };
  const { Paint } = components.schemas;
  assert.deepEqual(Paint.properties.shade, described);
  assert.deepEqual(Paint.properties.mix.items, described);
  assert.deepEqual(Paint.properties.under, { ...described, type: ["string", "null"] });
  const { parameters, responses } = paths["/paints"].get;
  const schemaOf = (name: string) => parameters.find((each: { name: string }) => each.name === name).schema;
  assert.deepEqual(schemaOf("shade"), described);
  assert.deepEqual(schemaOf("shade[in]").items, described);
  assert.deepEqual(schemaOf("shade[starts]"), { type: "string" });
  assert.equal(responses["200"].content["application/json"].example[0].shade, "#ff8800");
});

test("shows it on pages, with its rule, its label and an input", async (t) => {
  const { add, get } = await shop(t);
  await add("fire", "#FF0000");
  await add("sky", "#0088FF");

  const list = await get("/paints", html);

  assert.match(list.text, /<span class="tag bad">#ff0000<\/span>/);
  assert.match(list.text, /<span class="tag">#0088ff<\/span>/);
  const form = await get("/paints?form=new", html);
  assert.match(form.text, /name="shade"/);
  assert.match(form.text, /A color, like #ff8800/);
});

test("generates random records with it, which the service accepts", async (t) => {
  const { ask } = await shop(t);
  const drafts = factory(paints, { seed: "colors" }).drafts(20);

  for (const body of drafts) assert.equal((await ask("POST", "/paints", { body })).status, 201, JSON.stringify(body));

  assert.ok(drafts.every(({ shade }) => /^#[0-9a-f]{6}$/.test(shade)));
  assert.ok(new Set(drafts.map(({ shade }) => shade)).size === 20);
});

test("checks its stored values when a declaration becomes stricter, because it has a rule", () => {
  const column = mount(paints, { permission: anyone }).collection.columns.find(({ name }) => name === "shade")!;

  assert.deepEqual(column.rule, {
    kind: "color",
    type: "string",
    pattern: "^#[0-9A-Fa-f]{6}$",
    maxLength: 7,
    description: "A color, like #ff8800.",
  });
  assert.deepEqual(
    ["#0088ff", "#0088FF", "red"].map((value) => column.fits?.(value)),
    [true, false, false],
  );
});
