import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { deserialize, serialize } from "node:v8";
import { documentation } from "../../src/door/features.ts";
import type { Format, View } from "../../src/door/http.ts";
import {
  accounts,
  anyone,
  createService,
  defineResource,
  integer,
  json,
  mount,
  problem,
  Secret,
  text,
} from "../../src/door/index.ts";
import { emptyStore } from "../harness/test-store.ts";

/** A binary format that supports every type, like MessagePack or CBOR. */
const packed: Format = {
  mediaType: "application/vnd.packed",
  problemMediaType: "application/vnd.packed-problem",
  tagSuffix: "-packed",
  write: ({ value }) => serialize(value),
  writeProblem: (document) => serialize(document),
  read: (bytes) => ({ value: readValue(bytes), typed: true }),
};

function readValue(bytes: Uint8Array): unknown {
  try {
    return deserialize(bytes);
  } catch {
    throw problem("malformed", { detail: "The body is not packed, at octet 0." });
  }
}

/** A format of text lines in which every value is text, like YAML's plain scalars. */
const lines: Format = {
  mediaType: "text/lines",
  problemMediaType: "text/lines",
  tagSuffix: "-lines",
  charset: "utf-8",
  write: ({ value }) => formatLines(value),
  writeProblem: (document) => formatLines(document),
  read: (bytes) => ({
    value: Object.fromEntries(
      Buffer.from(bytes)
        .toString()
        .split("\n")
        .map((line) => line.split(": ")),
    ) as unknown,
    typed: false,
  }),
};

function formatLines(value: unknown): string {
  return Object.entries(value as object)
    .map(([name, each]) => `${name}: ${String(each)}`)
    .join("\n");
}

const books = mount(
  defineResource({
    name: "book",
    fields: { title: text(), pages: integer({ optional: true }), notes: json({ optional: true }) },
  }),
  {
    permission: anyone,
    arrays: true,
    actions: {
      lend: {
        permission: anyone,
        body: { days: integer() },
        handle: ({ draft }) => ({ values: { pages: draft.days } }),
      },
      sum: { on: "collection", permission: anyone, body: { days: integer() }, handle: () => ({}) },
    },
  },
);

async function library(t: TestContext, formats: readonly Format[] = [packed, lines], xml = true) {
  const people = accounts();
  const faults: unknown[] = [];
  const service = await createService({
    store: await emptyStore(),
    secret: new Secret("a secret of 32 characters or more."),
    features: [people, documentation({ title: "Books", version: "1" })],
    mounts: [books],
    formats,
    xml,
    observe: (seen) => void ("error" in seen && faults.push(seen.error)),
  });
  t.after(() => service.close());
  return {
    faults,
    async ask(method: string, path: string, type: string, body?: string | Uint8Array<ArrayBuffer>) {
      const headers = { accept: type, ...(body === undefined ? {} : { "content-type": type }) };
      const request = new Request(`http://127.0.0.1${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      const response = await service.fetch(request, { peer: "127.0.0.1" });
      const content = Buffer.from(await response.arrayBuffer());
      return { status: response.status, headers: response.headers, content, text: content.toString() };
    },
  };
}

const pack = (value: unknown): Uint8Array<ArrayBuffer> => Uint8Array.from(serialize(value));

test("reads and writes records in a binary format in every operation", async (t) => {
  const { ask } = await library(t);
  const packedAsk = async (method: string, path: string, value?: unknown) => {
    const { status, content, headers } = await ask(
      method,
      path,
      packed.mediaType,
      value === undefined ? undefined : pack(value),
    );
    return {
      status,
      type: headers.get("content-type"),
      value: content.length === 0 ? null : (deserialize(content) as unknown),
    };
  };

  const made = await packedAsk("POST", "/books", { title: "Emma", pages: 400, notes: { a: [1, null] } });
  const several = await packedAsk("POST", "/books", [{ title: "Sanditon" }, { title: "Persuasion", pages: 5 }]);
  const replaced = await packedAsk("PUT", "/books/2", { title: "The Watsons", notes: ["x"] });
  const patched = await packedAsk("PATCH", "/books/1", { pages: null });
  const patchedAll = await packedAsk("PATCH", "/books", [{ id: 3, pages: 6 }]);
  const lent = await packedAsk("POST", "/books/1/lend", { days: 7 });
  const summed = await packedAsk("POST", "/books/sum", { days: 7 });

  assert.deepEqual(made, {
    status: 201,
    type: packed.mediaType,
    value: { id: 1, title: "Emma", pages: 400, notes: { a: [1, null] } },
  });
  assert.deepEqual([several.status, replaced.status, patchedAll.status, summed.status], [201, 200, 200, 204]);
  assert.deepEqual(replaced.value, { id: 2, title: "The Watsons", pages: null, notes: ["x"] });
  assert.deepEqual(patched.value, { id: 1, title: "Emma", pages: null, notes: { a: [1, null] } });
  assert.deepEqual((lent.value as { pages: number }).pages, 7);
  assert.deepEqual((await packedAsk("GET", "/books?fields=id,pages")).value, [
    { id: 1, pages: 7 },
    { id: 2, pages: null },
    { id: 3, pages: 6 },
  ]);
});

test("reports mistakes in a binary body as in a JSON body, and answers in the requested format", async (t) => {
  const { ask, faults } = await library(t);
  const provokeProblem = async (body: Uint8Array<ArrayBuffer>) => {
    const { status, content, headers } = await ask("POST", "/books", packed.mediaType, body);
    assert.equal(headers.get("content-type"), "application/vnd.packed-problem");
    return { status, ...(deserialize(content) as { code: string; errors?: readonly { pointer: string }[] }) };
  };

  assert.deepEqual([(await provokeProblem(new Uint8Array([0x7b]))).code], ["malformed"]);
  const wrong = await provokeProblem(pack({ titel: "Emma", pages: "many" }));
  assert.deepEqual([wrong.status, wrong.errors?.map(({ pointer }) => pointer)], [400, ["/title", "/pages", "/titel"]]);
  for (const value of [null, "Emma", 5, undefined, new Map([["title", "Emma"]]), new Date(0), [[]], []])
    assert.match(String((await provokeProblem(pack(value))).status), /^4/);
  assert.deepEqual(faults, []);
});

test("converts texts to the types of the fields if a format reads only texts", async (t) => {
  const { ask } = await library(t);

  const made = await ask("POST", "/books", lines.mediaType, 'title: Emma\npages: 400\nnotes: {"a":1}');
  const wrong = await ask("POST", "/books", lines.mediaType, "title: Emma\npages: many");

  assert.equal(made.text, "id: 1\ntitle: Emma\npages: 400\nnotes: [object Object]");
  assert.equal(made.headers.get("content-type"), "text/lines; charset=utf-8");
  assert.equal(wrong.status, 400);
  assert.match((await ask("GET", "/books/1", "application/json")).text, /"notes":\{"a":1\}/);
});

test("names a format in OPTIONS, 415 and the description only if the service reads bodies in this format", async (t) => {
  const { ask } = await library(t, [packed, { ...lines, read: undefined } as unknown as Format], false);

  const options = await ask("OPTIONS", "/books", "application/json");
  const refused = await ask("POST", "/books", "text/lines", "title: Emma");
  const query = await ask("QUERY", "/books", packed.mediaType, pack({ limit: 1 }));
  const { paths, components } = JSON.parse((await ask("GET", "/openapi.json", "application/json")).text);
  const consumed = (path: string, method: string) => Object.keys(paths[path][method].requestBody.content);

  assert.equal(options.headers.get("accept-post"), "application/json, application/vnd.packed");
  assert.equal(refused.headers.get("accept-post"), "application/json, application/vnd.packed");
  assert.deepEqual([refused.status, query.status], [415, 415]);
  for (const [path, method] of [
    ["/books", "post"],
    ["/books/{id}", "put"],
    ["/books/{id}", "patch"],
    ["/books", "patch"],
    ["/books/{id}/lend", "post"],
  ] as const)
    assert.equal(consumed(path, method).at(-1), packed.mediaType, `${method} ${path}`);
  assert.deepEqual(paths["/books/{id}"].put.requestBody.content[packed.mediaType], {
    schema: paths["/books/{id}"].put.requestBody.content["application/json"].schema,
  });
  // A response in this format has no schema, so only the parameter `format` names the format.
  assert.equal(paths["/books/{id}"].get.responses[200].content[packed.mediaType], undefined);
  assert.ok(components.parameters.format.schema.enum.includes("vnd.packed"));
});

test("reports a fault that names the format if its output is neither a text nor bytes", async (t) => {
  const wrote = (value: unknown): Format => ({
    ...packed,
    write: () => value as string,
    writeProblem: (_, { status }: View) => (status === 500 ? "fault" : (value as string)),
  });
  for (const value of [undefined, null, 5, {}, Promise.resolve(undefined)]) {
    const { ask, faults } = await library(t, [wrote(value)]);

    const answers = [await ask("GET", "/books", packed.mediaType), await ask("GET", "/books/1", packed.mediaType)];

    assert.deepEqual(
      answers.map(({ status }) => status),
      [500, 500],
    );
    assert.match(String(faults[0]), /The format application\/vnd\.packed wrote .*; it has to be a text or bytes/);
  }
});
