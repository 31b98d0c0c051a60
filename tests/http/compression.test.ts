import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { anyone, defineEndpoint, defineResource, mount, text } from "../../src/door/index.ts";
import type { ConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { adminPassword, serve, type API } from "../harness/serve.ts";

const sheets = defineResource({ name: "sheet", fields: { body: text({ maxLength: 5000 }) } });
const long = "What is long enough shrinks. ".repeat(60).trim();
const config: ConfigFile = { mounts: [mount(sheets, { permission: anyone })] };

interface Asked {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

/** Sends a request. Returns the bytes of the response without decoding them. */
async function ask({ service }: API, method: string, path: string, headers: Record<string, string>): Promise<Asked> {
  const request = new Request(`http://127.0.0.1:8000${path}`, { method, headers });
  const response = await service.fetch(request, { peer: "127.0.0.1" });
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

function decoded({ headers, bytes }: Asked): string {
  const coding = headers.get("content-encoding");
  return (coding === "br" ? brotliDecompressSync(bytes) : coding === "gzip" ? gunzipSync(bytes) : bytes).toString();
}

async function withSheets(t: TestContext): Promise<API> {
  const api = await serve(t, { config });
  for (let count = 0; count < 3; count++) await api.post("/sheets", { body: long });
  return api;
}

const everything = ["/sheets/1", "/sheets", "/openapi.json", "/docs", "/problems"];

test("sends the same representation in every coding, with a different strong tag in each", async (t) => {
  const api = await withSheets(t);

  for (const path of everything) {
    for (const accept of path.startsWith("/sheets") ? ["application/json", "application/xml"] : ["*/*"]) {
      const plain = await ask(api, "GET", path, { accept });
      const tags = [plain.headers.get("etag")];
      for (const coding of ["gzip", "br"]) {
        const headers = { accept, "accept-encoding": coding };
        const got = await ask(api, "GET", path, headers);
        const head = await ask(api, "HEAD", path, headers);

        assert.equal(got.headers.get("content-encoding"), coding, path);
        assert.equal(decoded(got), plain.bytes.toString(), path);
        assert.equal(got.headers.get("content-length"), String(got.bytes.length));
        assert.ok(got.bytes.length < plain.bytes.length / 2);
        assert.deepEqual([head.status, head.bytes.length], [200, 0]);
        for (const name of ["etag", "vary", "content-encoding", "content-length", "content-type"])
          assert.equal(head.headers.get(name), got.headers.get(name), `${path} ${name}`);
        assert.equal(got.headers.get("vary"), plain.headers.get("vary"));
        assert.match(got.headers.get("vary")!, /\bAccept-Encoding\b/);
        assert.match(got.headers.get("etag")!, /^"/);
        tags.push(got.headers.get("etag"));
      }
      assert.equal(new Set(tags).size, 3);
    }
  }
});

test("answers 304 to the current tag of each coding, in a request for any coding", async (t) => {
  const api = await withSheets(t);

  for (const path of everything) {
    for (const cachedCoding of ["gzip", "br", "identity"]) {
      const tag = (await ask(api, "GET", path, { "accept-encoding": cachedCoding })).headers.get("etag")!;
      for (const coding of ["gzip", "br", "identity"]) {
        for (const sent of [tag, `W/${tag}`, `"x", ${tag}`]) {
          for (const method of ["GET", "HEAD"]) {
            const headers = { "accept-encoding": coding, "if-none-match": sent };
            const answer = await ask(api, method, path, headers);
            assert.deepEqual([answer.status, answer.headers.get("etag")], [304, tag], `${path} ${coding} ${sent}`);
            assert.equal(answer.headers.get("content-encoding"), null);
            assert.match(answer.headers.get("vary")!, /\bAccept-Encoding\b/);
          }
        }
      }
    }
    const any = await ask(api, "GET", path, { "accept-encoding": "gzip", "if-none-match": "*" });
    assert.equal(any.status, 304);
    assert.match(any.headers.get("etag")!, /-gzip"$/);
  }
  assert.equal((await ask(api, "GET", "/sheets/1", { "if-none-match": '"1-xml-gzip"' })).status, 200);
});

test("accepts any of a record's strong tags for a write, and never a weak tag", async (t) => {
  const api = await withSheets(t);

  for (const accept of ["application/json", "application/xml"]) {
    for (const coding of ["gzip", "br", "identity"]) {
      const read = async (): Promise<string> =>
        (await ask(api, "GET", "/sheets/1", { accept, "accept-encoding": coding })).headers.get("etag")!;
      const tag = await read();
      const write = (headers: Record<string, string>): Promise<{ status: number }> =>
        api.patch("/sheets/1", { body: `${long} ${accept} ${coding}` }, headers);

      assert.equal((await write({ "if-match": `W/${tag}` })).status, 412);
      assert.equal((await write({ "if-none-match": tag })).status, 412);
      assert.equal((await write({ "if-match": tag })).status, 200);
      assert.equal((await write({ "if-match": tag })).status, 412);
      assert.equal((await write({ "if-match": await read(), "accept-encoding": coding })).status, 200);
    }
  }
});

test("compresses the response to a write, and accepts the tag of that response in If-Match", async (t) => {
  const api = await serve(t, { config });
  const headers = { "accept-encoding": "gzip", "content-type": "application/json" };
  const made = await api.service.fetch(
    new Request("http://127.0.0.1:8000/sheets", { method: "POST", headers, body: JSON.stringify({ body: long }) }),
    { peer: "127.0.0.1" },
  );

  assert.equal(made.headers.get("content-encoding"), "gzip");
  assert.match(made.headers.get("etag")!, /-gzip"$/);
  assert.equal((await api.delete("/sheets/1", { "if-match": made.headers.get("etag")! })).status, 204);
});

test("sends short, secret or non-text bodies uncompressed", async (t) => {
  const raw = (type: string) => ({ kind: "raw", type, content: "x".repeat(5000) }) as const;
  const endpoints = [
    defineEndpoint({
      method: "GET",
      path: "/picture",
      access: "open",
      handle: () => ({ status: 200, body: raw("image/png") }),
    }),
    defineEndpoint({
      method: "GET",
      path: "/secret",
      access: "open",
      handle: () => ({ status: 200, cache: "no-store", body: raw("text/plain") }),
    }),
  ];
  const api = await serve(t, { config: { endpoints } });
  for (let count = 0; count < 10; count++) await api.post("/users/1/keys", { name: `key ${count}` }, api.admin);

  for (const path of ["/users/1", "/users", "/livez", "/users/1/keys", "/picture", "/secret", "/nothing"]) {
    const answer = await ask(api, "GET", path, { ...api.admin, "accept-encoding": "gzip, br" });
    assert.equal(answer.headers.get("content-encoding"), null, path);
    assert.doesNotMatch(answer.headers.get("vary") ?? "", /Accept-Encoding/, path);
  }
});

test("compresses no response to a request that another site sent with the user's cookie", async (t) => {
  const api = await serve(t, { config, settings: { LATCHKEY_ALLOWED_ORIGINS: "https://app.example" } });
  await api.post("/orders", {}, api.admin);
  for (let count = 0; count < 20; count++) await api.post("/orders", {}, api.admin);
  const login = await api.post("/api/session/", { username: "admin", password: adminPassword });
  const cookie = login.headers.getSetCookie()[0]!.split(";")[0]!;
  const browser = { "accept-encoding": "gzip", cookie };

  for (const [headers, isCompressed] of [
    [{}, true],
    [{ "sec-fetch-site": "same-origin" }, true],
    [{ "sec-fetch-site": "none" }, true],
    [{ "sec-fetch-site": "same-site", origin: "https://app.example" }, true],
    [{ "sec-fetch-site": "same-site" }, false],
    [{ "sec-fetch-site": "cross-site" }, false],
    [{ origin: "https://evil.example" }, false],
    [{ origin: "null" }, false],
  ] as const) {
    const answer = await ask(api, "GET", "/orders", { ...browser, ...headers });
    assert.equal(answer.headers.get("content-encoding") === "gzip", isCompressed, JSON.stringify(headers));
  }
  // A response that is the same for all callers reveals nothing about the user.
  const open = await ask(api, "GET", "/openapi.json", { ...browser, "sec-fetch-site": "cross-site" });
  assert.equal(open.headers.get("content-encoding"), "gzip");
});

test("sends everything uncompressed with LATCHKEY_COMPRESSION=off, and still accepts the tags of compressed responses", async (t) => {
  const api = await serve(t, { config, settings: { LATCHKEY_COMPRESSION: "off" } });
  await api.post("/sheets", { body: long });

  const answer = await ask(api, "GET", "/sheets/1", { "accept-encoding": "gzip, br" });

  assert.equal(answer.headers.get("content-encoding"), null);
  assert.doesNotMatch(answer.headers.get("vary") ?? "", /Accept-Encoding/);
  const tag = answer.headers.get("etag")!;
  assert.equal((await api.patch("/sheets/1", {}, { "if-match": `${tag.slice(0, -1)}-gzip"` })).status, 200);
});

test("responds synchronously without a coding, and asynchronously if it compresses", async (t) => {
  const api = await withSheets(t);
  const arrival = (...rawHeaders: string[]) => ({
    method: "GET",
    target: "/openapi.json",
    rawHeaders: ["Host", "127.0.0.1", ...rawHeaders],
    peer: "127.0.0.1",
    encrypted: false,
    readBody: async () => new Uint8Array(),
  });
  await api.get("/openapi.json");
  const sheet = { ...arrival(), target: "/sheets/1" };

  assert.ok(!(api.service.respond(sheet) instanceof Promise) || process.env["LATCHKEY_TEST_STORE"] === "postgres");
  const compressed = api.service.respond({ ...arrival("Accept-Encoding", "br"), target: "/sheets/1" });
  assert.ok(compressed instanceof Promise);
  assert.equal(api.service.inFlight(), 1);
  await compressed;
  assert.equal(api.service.inFlight(), 0);
});

test("accepts the tag of a compressed response from a client that decodes automatically", async (t) => {
  const api = await serve(t, { config, binding: "node" });
  await api.post("/sheets", { body: long });

  const answer = await api.get("/sheets/1");

  assert.match(answer.headers.get("content-encoding")!, /^(gzip|br)$/);
  assert.equal(answer.json.body, long);
  assert.equal((await api.delete("/sheets/1", { "if-match": answer.headers.get("etag")! })).status, 204);
});

test("answers 300 concurrent requests correctly, even if it compresses only some of the responses", async (t) => {
  const api = await withSheets(t);
  const plain = (await ask(api, "GET", "/sheets", {})).bytes.toString();

  const answers = await Promise.all(
    Array.from({ length: 300 }, () => ask(api, "GET", "/sheets", { "accept-encoding": "gzip" })),
  );

  for (const answer of answers) {
    assert.equal(decoded(answer), plain);
    const isCompressed = answer.headers.get("content-encoding") === "gzip";
    assert.equal(answer.headers.get("etag")!.endsWith('-gzip"'), isCompressed);
  }
  assert.ok(answers.some(({ headers }) => headers.get("content-encoding") === "gzip"));
  assert.equal((await ask(api, "GET", "/sheets", { "accept-encoding": "br" })).headers.get("content-encoding"), "br");
});
