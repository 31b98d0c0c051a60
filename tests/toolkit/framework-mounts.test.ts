import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { requestListener, type ReportedClient } from "../../src/door/http.ts";
import { anyone, defineEndpoint, defineResource, mount, text } from "../../src/door/index.ts";
import { ownService } from "../harness/own-service.ts";

// Nightly on PostgreSQL: a framework passes requests on before the service reads its store.

const books = defineResource({ name: "book", fields: { title: text({ maxLength: 200 }) } });
const caller = defineEndpoint({
  method: "GET",
  path: "/caller",
  access: "open",
  handle: ({ call: { client } }) => ({
    status: 200,
    body: {
      kind: "data",
      element: "caller",
      value: [client.address, client.encrypted, client.loopback, client.viaTrustedProxy, client.origin],
    },
  }),
});
const json = { "content-type": "application/json" };
const parts = { basePath: "/api", mounts: [mount(books, { permission: anyone })], endpoints: [caller] };

async function serve(
  t: TestContext,
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("recognizes the paths that the service serves, with any query", async (t) => {
  const { service } = await ownService(t, parts);

  for (const [target, isOwn] of [
    ["/api/books", true],
    ["/api/books/?limit=2", true],
    ["/api/books/7", true],
    ["/api/books/seven", false],
    ["/api/bookshelves", false],
    ["/books", false],
    ["/apis/books", false],
    ["/api/books%2f7", false],
    ["", false],
    ["?", false],
    ["//api/books", false],
    ["/api/../api/books", false],
    [`/api/${"x".repeat(100_000)}`, false],
  ] as const)
    assert.equal(service.serves(target), isOwn, target.slice(0, 40));
});

test("passes requests for unknown paths to the next handler, and answers 404 if there is no next handler", async (t) => {
  const { service } = await ownService(t, parts);
  const answer = requestListener(service);
  let hasNext = true;
  const url = await serve(t, (request, response) => {
    if (hasNext) answer(request, response, () => void response.writeHead(418).end());
    else answer(request, response);
  });
  const fetchStatus = async (path: string, method = "GET") => (await fetch(url + path, { method })).status;

  assert.deepEqual([await fetchStatus("/api/books"), await fetchStatus("/api/shelves")], [200, 418]);
  assert.equal(await fetchStatus("/api/books", "PUT"), 405);
  hasNext = false;
  assert.equal(await fetchStatus("/api/shelves"), 404);
});

test("uses the caller's address from the framework, and ignores forwarding headers", async (t) => {
  const { service } = await ownService(t, { ...parts, trustedProxies: ["10.0.0.1"] });
  let client: ReportedClient = { address: "203.0.113.7", encrypted: true };
  let isNear = true;
  const answer = requestListener(service, { client: () => client });
  const url = await serve(t, (request, response) => {
    if (!isNear) Object.defineProperty(request.socket, "remoteAddress", { value: "198.51.100.1" });
    answer(request, response);
  });
  const ask = async (): Promise<unknown> => {
    const headers = { "x-forwarded-for": "127.0.0.1", "x-forwarded-host": "evil.example", connection: "close" };
    return (await fetch(`${url}/api/caller`, { headers })).json();
  };

  assert.deepEqual(await ask(), ["203.0.113.7", true, false, false, url.replace("http", "https")]);
  client = { address: "::ffff:10.0.0.1", encrypted: false };
  assert.deepEqual(await ask(), ["10.0.0.1", false, false, false, url]);
  client = { address: "127.0.0.1", encrypted: false };
  assert.deepEqual(await ask(), ["127.0.0.1", false, true, false, url]);
  isNear = false;
  assert.deepEqual(await ask(), ["127.0.0.1", false, false, false, url]);
  client = { address: `evil.example ${"x".repeat(1000)}`, encrypted: false };
  assert.deepEqual(await ask(), ["unknown", false, false, false, url]);
  // The framework does not know the address of a caller that has disconnected.
  client = { address: undefined, encrypted: false };
  assert.deepEqual(await ask(), ["unknown", false, false, false, url]);
});

test("treats a missing or invalid caller from a framework as unknown", async (t) => {
  const { service } = await ownService(t, { ...parts, trustedProxies: ["127.0.0.1"] });
  let client: unknown;
  const answer = requestListener(service, { client: () => client as ReportedClient });
  const url = await serve(t, (request, response) => answer(request, response));

  for (client of [undefined, null, "127.0.0.1", {}, { address: 5 }, { address: ["127.0.0.1"], encrypted: false }]) {
    const response = await fetch(`${url}/api/caller`, { headers: { "x-forwarded-for": "127.0.0.1" } });
    const [address, , isNear, isViaProxy] = (await response.json()) as unknown[];
    assert.deepEqual([address, isNear, isViaProxy], ["unknown", false, false], JSON.stringify(client));
  }
});

test("lets an exception of the option `client` reach the framework, also for pipelined requests of one connection", async (t) => {
  const { service } = await ownService(t, parts);
  const answer = requestListener(service, {
    client: ({ headers }) => ({ address: headers["x-real-ip"]!.toString(), encrypted: false }),
  });
  const url = await serve(t, (request, response) => {
    try {
      answer(request, response);
    } catch {
      response.writeHead(500).end();
    }
  });
  const ask = (more = ""): string => `GET /api/caller HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
  const socket = connect(Number(new URL(url).port), "127.0.0.1");

  socket.write(`${ask("X-Real-IP: 192.0.2.1\r\n")}${ask()}${ask("Connection: close\r\n")}`);

  assert.deepEqual((await readText(socket)).match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 200", "HTTP/1.1 500", "HTTP/1.1 500"]);
});

test("reports a service whose base path differs from its mount path in the framework", async (t) => {
  const { service } = await ownService(t, parts);
  const atRoot = await ownService(t, { mounts: parts.mounts });
  const mounted = (at: string, whole: string) =>
    Object.assign(Object.create(null), { url: whole.slice(at.length) || "/", originalUrl: whole, baseUrl: at });
  const nobody = {} as ServerResponse;
  const next = () => undefined;

  for (const baseUrl of ["/v1", "/ap", "/api/v1"])
    assert.throws(
      () => requestListener(service)(mounted(baseUrl, `${baseUrl}/books`), nobody, next),
      new RegExp(`mounted at ${baseUrl}, but its addresses begin with /api`),
    );
  assert.throws(
    () => requestListener(atRoot.service)(mounted("/api", "/api/books"), nobody, next),
    /createService\(\{ basePath: "\/api" \}\)/,
  );
  requestListener(service)(mounted("/API", "/API/books"), nobody, next);
  assert.throws(
    () => requestListener(service, { cleint: () => undefined } as object),
    /no option cleint; did you mean client/,
  );
});

test("reads a body from `rawBody` if a body parser has read the request, and still limits the size of the body", async (t) => {
  const { service } = await ownService(t, parts);
  const answer = requestListener(service);
  const url = await serve(t, (request, response) => {
    void request.toArray().then((chunks) => {
      answer(Object.assign(request, { rawBody: Buffer.concat(chunks as Buffer[]) }), response);
    });
  });
  const post = (body: string) => fetch(`${url}/api/books`, { method: "POST", headers: json, body });

  assert.deepEqual(await (await post('{"title":"Emma"}')).json(), { id: 1, title: "Emma" });
  assert.equal((await post('{"title":')).status, 400);
  assert.equal((await post(`"${"x".repeat(1024 * 1024)}"`)).status, 413);
});

test("answers 408 and reports no fault if the stream of a Fetch body fails", async (t) => {
  const { service, observed } = await ownService(t, parts);
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"title":'));
      controller.error(new Error("aborted"));
    },
  });
  const request = new Request("http://a/api/books", { method: "POST", headers: json, body, duplex: "half" });

  const { status } = await service.fetch(request, { peer: "127.0.0.1" });

  assert.equal(status, 408);
  assert.deepEqual(
    observed.filter(({ kind }) => kind === "fault"),
    [],
  );
});
