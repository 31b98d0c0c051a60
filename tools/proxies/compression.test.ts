import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { defineResource, mount, anyone, text } from "../../src/door/index.ts";
import { startNginx, type Nginx } from "./nginx.ts";
import { startUpstream } from "./upstream.ts";

const sheets = defineResource({ name: "sheet", fields: { body: text({ maxLength: 5000 }) } });
const config = { mounts: [mount(sheets, { permission: anyone })] };
const compressing = "gzip on; gzip_proxied any; gzip_types *; gzip_min_length 20;";
const gzip = { "accept-encoding": "gzip" };

/**
 * Turns compression on for all of nginx, in the configuration of the docs. Removes the cache, which sends its own
 * requests.
 */
function withGzipOn(text: string): string {
  return text.replace("access_log off;", `access_log off; ${compressing}`).replace("proxy_cache latchkey;", "");
}

async function write(nginx: Nginx, path: string, tag: string): Promise<number> {
  const headers = { "if-match": tag, "content-type": "application/merge-patch+json", ...gzip };
  return (await nginx.ask(path, { method: "PATCH", body: {}, headers })).status;
}

test("accepts a conditional write behind the documented nginx, even if nginx compresses everything else", async (t) => {
  const service = await startUpstream(t, {}, config);
  const nginx = await startNginx(t, { block: "cache", upstream: service.url, change: withGzipOn });
  await service.post("/sheets", { body: "What is long enough shrinks. ".repeat(60).trim() });
  await service.post("/sheets", { body: "What is short does not, and nginx would compress it." });

  for (const [path, isCompressed] of [
    ["/sheets/1", true],
    ["/sheets/2", false],
  ] as const) {
    const { headers, bytes } = await nginx.ask(path, { headers: gzip });
    const tag = String(headers["etag"]);

    assert.equal(headers["content-encoding"] === "gzip", isCompressed);
    assert.match((isCompressed ? gunzipSync(bytes) : bytes).toString(), /^\{"id":[12],"body":"What is/);
    assert.doesNotMatch(tag, /^W\//);
    assert.equal(await write(nginx, path, tag), 200);
    assert.equal(await write(nginx, path, '"other"'), 412);
    const now = String((await nginx.ask(path, { headers: gzip })).headers["etag"]);
    assert.equal((await nginx.ask(path, { headers: { ...gzip, "if-none-match": now } })).status, 304);
  }
});

test("gets weak tags for compressed responses from nginx without `gzip off`, as the docs warn", async (t) => {
  const service = await startUpstream(t, { LATCHKEY_COMPRESSION: "off" }, config);
  const change = (text: string): string => withGzipOn(text).replace("gzip off;", "");
  const nginx = await startNginx(t, { block: "cache", upstream: service.url, change });
  await service.post("/sheets", { body: "What is long enough shrinks. ".repeat(60).trim() });

  const tag = String((await nginx.ask("/sheets/1", { headers: gzip })).headers["etag"]);

  assert.match(tag, /^W\//);
  assert.equal(await write(nginx, "/sheets/1", tag), 412);
  assert.equal((await nginx.ask("/sheets/1", { headers: { ...gzip, "if-none-match": tag } })).status, 304);
});
