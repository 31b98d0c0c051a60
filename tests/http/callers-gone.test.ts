import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import {
  createServer,
  request as ask,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type Server,
} from "node:http";
import {
  connect,
  constants,
  createServer as createHTTP2,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type Http2Server,
} from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { requestListener } from "../../src/door/http.ts";
import { anyone, defineResource, listen, mount, text, type ServiceOptions } from "../../src/door/index.ts";
import type { Observation } from "../../src/door/ops.ts";
import { ownService } from "../harness/own-service.ts";
import { serve } from "../harness/serve.ts";

const believesLocalProxies = {
  LATCHKEY_SCHEMES: "basic,session,token,bearer,remote-user",
  LATCHKEY_TRUSTED_PROXIES: "unix",
};
const head = "Host: a\r\nX-Remote-User: admin\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n";
const books = defineResource({ name: "book", fields: { title: text({ maxLength: 200 }) } });

/**
 * Starts a server on a free port, or on a local socket if there is a path. Returns the port, or 0 for a local socket.
 */
async function listening(t: TestContext, server: Server | Http2Server, path?: string): Promise<number> {
  server.listen(path === undefined ? { port: 0, host: "127.0.0.1" } : { path });
  await once(server, "listening");
  t.after(() => void server.close());
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/**
 * Sends the text and resets the connection. `spawnSync` blocks this process, so the server accepts the connection only
 * afterwards.
 */
function sendAndReset(port: number, sent: string): void {
  const program = `const socket = require("node:net").connect(${port}, "127.0.0.1", () => socket.write(${JSON.stringify(sent)}, () => socket.resetAndDestroy()));`;
  assert.equal(spawnSync(process.execPath, ["-e", program]).status, 0);
}

/** Waits for the first observed request. Returns its address and its status. */
async function waitForRequest(observed: readonly Observation[]): Promise<unknown> {
  for (;;) {
    const found = observed.find(({ kind }) => kind === "request");
    if (found?.kind === "request") return [found.address, found.status];
    await nextTurn();
  }
}

test("does not treat a caller that reset the connection as a proxy of this machine", async (t) => {
  const api = await serve(t, { settings: believesLocalProxies });
  const ann = await api.user("Ann");
  const listener = await listen(api.service, { port: 0 });
  t.after(() => listener.close(0));
  api.observed.length = 0;

  sendAndReset(listener.port, `DELETE /users/${ann.id} HTTP/1.1\r\n${head}`);

  assert.deepEqual(await waitForRequest(api.observed), ["unknown", 401]);
  assert.equal((await api.get(`/users/${ann.id}`, api.admin)).status, 200);
});

test("observes the caller's address in a custom server, even if the server destroys the socket immediately", async (t) => {
  const { service, observed } = await ownService(t);
  const answer = requestListener(service);
  const server = createServer((request, response) => {
    answer(request, response);
    request.socket.destroy();
  });
  const port = await listening(t, server);

  ask({ port, host: "127.0.0.1", path: "/" })
    .on("error", () => undefined)
    .end();

  assert.deepEqual(await waitForRequest(observed), ["127.0.0.1", 404]);
});

test("observes a request over a local socket with the address unix", async (t) => {
  const { service, observed } = await ownService(t);
  const folder = mkdtempSync(join(tmpdir(), "latchkey-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const socketPath = join(folder, "socket");
  await listening(t, createServer(requestListener(service)), socketPath);

  ask({ socketPath, path: "/" }).end();

  assert.deepEqual(await waitForRequest(observed), ["unix", 404]);
});

test("keeps an HTTP/2 connection open after it refuses CONNECT or a request whose body it did not read", async (t) => {
  const { service } = await ownService(t, { mounts: [mount(books, { permission: anyone })] });
  const server = createHTTP2(requestListener(service));
  const session = connect(`http://127.0.0.1:${await listening(t, server)}`);
  t.after(() => session.destroy());
  const askStatus = async (headers: OutgoingHttpHeaders, content = ""): Promise<unknown> => {
    const stream = session.request(headers, { endStream: content === "" });
    if (content !== "") stream.write(content);
    const [responseHeaders] = (await once(stream, "response")) as [IncomingHttpHeaders];
    stream.resume();
    await once(stream, "close");
    return responseHeaders[":status"];
  };
  const sent = { ":method": "POST", "content-type": "application/json", "content-length": 1_000_000 };

  assert.equal(await askStatus({ ...sent, ":path": "/nowhere" }, "{"), 404);
  assert.equal(await askStatus({ ...sent, ":path": "/books", "content-length": 2_000_000 }, "{"), 413);
  assert.equal(await askStatus({ ":method": "CONNECT", ":authority": "a:1" }), 405);
  assert.equal(await askStatus({ ":path": "/books" }), 200);
});

test("ignores an incomplete body over HTTP/2 if the stream or the connection is closed", async (t) => {
  const { service, observed, get } = await ownService(t, { mounts: [mount(books, { permission: anyone })] });
  const server = createHTTP2(requestListener(service));
  const port = await listening(t, server);

  for (const breakOff of [
    (stream: ClientHttp2Stream) => stream.destroy(new Error("broken off")),
    ({ session }: ClientHttp2Stream) => session?.destroy(),
  ]) {
    observed.length = 0;
    const session = connect(`http://127.0.0.1:${port}`);
    t.after(() => session.destroy());
    const stream = session.request({ ":method": "POST", ":path": "/books", "content-type": "application/json" });
    stream.on("error", () => undefined).write('{"title":"Half"}');
    while (service.inFlight() === 0) await nextTurn();
    breakOff(stream);
    assert.deepEqual(await waitForRequest(observed), ["127.0.0.1", 408]);
  }
  assert.equal((await get("/books")).text, "[]");
});

test("limits the unread responses of one address over HTTP/2", async (t) => {
  const value = "x".repeat(1024 * 1024);
  const { service, observed } = await ownService(t, {
    compression: false,
    endpoints: [
      {
        method: "GET",
        path: "/large",
        access: "open",
        handle: () => ({ status: 200, body: { kind: "data", element: "large", value } }),
      },
    ],
  });
  const server = createHTTP2(requestListener(service));
  const session = connect(`http://127.0.0.1:${await listening(t, server)}`, { settings: { initialWindowSize: 0 } });
  t.after(() => session.destroy());

  for (let round = 0; round < 70; round++) session.request({ ":path": "/large" }).on("error", () => undefined);

  while (observed.filter(({ kind }) => kind === "request").length < 70) await nextTurn();
  const refused = observed.flatMap((each) => (each.kind === "refused" ? [[each.reason, each.address]] : []));
  assert.deepEqual(refused[0], ["unread", "127.0.0.1"]);
});

/**
 * Sends requests on HTTP/2 connections that read no octet of a response. Returns the statuses and the reset codes of
 * the streams.
 */
async function unreadStreams(
  t: TestContext,
  port: number,
  { connections, streams }: { connections: number; streams: number },
) {
  const codes: (number | undefined)[] = [];
  const statuses: unknown[] = [];
  const sessions: ClientHttp2Session[] = [];
  for (let of = 0; of < connections; of++) {
    const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } });
    sessions.push(session.on("error", () => undefined));
    t.after(() => session.destroy());
    for (let at = 0; at < streams; at++) {
      const stream = session.request({ ":path": "/answer" }).resume();
      stream.on("response", (headers) => void statuses.push(headers[":status"]));
      stream.on("error", () => undefined).on("close", () => void codes.push(stream.rstCode));
    }
  }
  return { sessions, codes, statuses };
}

function answering(length: number): Partial<ServiceOptions> {
  const value = "x".repeat(length);
  return {
    compression: false,
    endpoints: [
      {
        method: "GET",
        path: "/answer",
        access: "open",
        handle: () => ({ status: 200, body: { kind: "data", element: "answer", value } }),
      },
    ],
  };
}

const countObserved = (observed: readonly Observation[], wanted: string): number =>
  observed.filter((each) => (each.kind === "refused" ? each.reason : each.kind) === wanted).length;

test("stores at most 64 MiB of unread responses, also for many HTTP/2 streams with 57 KB each", async (t) => {
  const bytes = 57_000;
  const { service, observed } = await ownService(t, answering(bytes));
  const port = await listening(t, createHTTP2(requestListener(service)));
  const requestCount = 6 * 240;

  await unreadStreams(t, port, { connections: 6, streams: 240 });

  while (countObserved(observed, "request") < requestCount) await nextTurn();
  const waitingCount = requestCount - countObserved(observed, "unread");
  assert.ok(waitingCount * bytes <= 64 * 1024 * 1024, `${waitingCount} answers wait`);
  assert.ok(waitingCount * bytes > 32 * 1024 * 1024, `${waitingCount} answers wait`);
});

test("allows 250 streams on an HTTP/2 connection, and refuses further streams with a code that allows a retry", async (t) => {
  const { service, observed } = await ownService(t, answering(10));
  const port = await listening(t, createHTTP2(requestListener(service)));

  const { sessions, codes, statuses } = await unreadStreams(t, port, { connections: 1, streams: 260 });

  while (codes.length < 10) await nextTurn();
  assert.deepEqual(codes, Array<number>(10).fill(constants.NGHTTP2_REFUSED_STREAM));
  while (statuses.length < 250) await nextTurn();
  assert.deepEqual([countObserved(observed, "request"), countObserved(observed, "streams")], [250, 10]);

  sessions[0]!.settings({ initialWindowSize: 65_535 });
  while (service.inFlight() > 0 || codes.length < 260) await nextTurn();
  const again = sessions[0]!.request({ ":path": "/answer" });
  const [headers] = (await once(again, "response")) as [IncomingHttpHeaders];
  assert.equal(headers[":status"], 200);
});

test("sends no second response if other code has already responded", async (t) => {
  const { service } = await ownService(t, { mounts: [mount(books, { permission: anyone })] });
  const answer = requestListener(service);
  const server = createServer((request, response) => {
    answer(request, response);
    response.writeHead(503).end();
  });
  const url = `http://127.0.0.1:${await listening(t, server)}`;

  for (const path of ["/books", "/nowhere"]) {
    assert.equal((await fetch(url + path)).status, 503);
    assert.equal((await fetch(url + path, { method: "POST", body: "{}" })).status, 503);
  }
});
