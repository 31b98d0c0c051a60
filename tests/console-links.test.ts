import assert from "node:assert/strict";
import { test } from "node:test";
import { rawSocket } from "./raw-socket.ts";

const here = "http://127.0.0.1:8000";

test("no page has a link to another site, whatever was asked for", async (t) => {
  const { send } = await rawSocket(t);
  const hostile = [
    "//evil.example/",
    "//evil.example/a?b=c",
    "/\\evil.example/",
    "/\\/evil.example",
    "//\\evil.example",
  ];
  const addresses = hostile.flatMap((path) => [path, `/console/why?of=${encodeURIComponent(path)}`]);

  for (const address of addresses) {
    const page = await send(`GET ${address} HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\nConnection: close\r\n\r\n`);

    assert.match(page, /^HTTP\/1\.1 (?:200|400|404) /);
    const links = [...page.matchAll(/ (?:href|src|action|value|data-path|data-then)="(?!data:)([^"]*)"/g)];
    assert.ok(links.length > 3);
    for (const [, link = ""] of links)
      assert.equal(URL.parse(link.replaceAll("&amp;", "&"), here)?.origin, here, `${address}: ${link}`);
  }
});
