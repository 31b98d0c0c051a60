import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { requestListener } from "../../src/door/http.ts";
import { anyone, defineEndpoint } from "../../src/door/index.ts";
import { ownService } from "../harness/own-service.ts";
import { rawSocket } from "../harness/raw-socket.ts";
import { adminPassword } from "../harness/serve.ts";

const json = "Host: a\r\nContent-Type: application/json\r\n";
const login = JSON.stringify({ username: "admin", password: adminPassword });
const mebibyte = 1024 * 1024;

for (const [title, framing, piece] of [
  ["with a length", `Content-Length: ${2 ** 31}`, "x".repeat(2 ** 16)],
  ["in chunks", "Transfer-Encoding: chunked", `10000\r\n${"x".repeat(2 ** 16)}\r\n`],
] as const) {
  test(`answers 401 and closes the connection without reading a body ${title}`, async (t) => {
    const { open, read } = await rawSocket(t);
    const socket = await open();
    socket.write(`POST /users HTTP/1.1\r\n${json}${framing}\r\n\r\n`);
    const answer = read(socket);

    for (let sent = 0; sent < 1000 && !socket.destroyed; sent++)
      if (!socket.write(piece)) await Promise.race([drained(socket), wait(3000)]);

    assert.match(await answer, /^HTTP\/1.1 401 [^]*\r\nConnection: close\r\n[^]*"not_authenticated"/);
    // The limit is high, because the kernel decides how many octets it buffers.
    const taken = socket.bytesWritten - socket.writableLength;
    assert.ok(taken < 2 ** 24, `${taken}`);
  });
}

test("keeps the connection open if the body of a refused request arrived together with its head", async (t) => {
  const { open, read } = await rawSocket(t);
  const socket = await open();
  const refused = `POST /users HTTP/1.1\r\n${json}Content-Length: 2\r\n\r\n{}`;

  socket.write(refused + refused);

  assert.match(await read(socket, /401 [^]*401 [^]*}$/), /^HTTP\/1.1 401 [^]*\r\nConnection: keep-alive\r\n/);
});

test("sends 100 Continue only if the service will read the body", async (t) => {
  const { api, open, read } = await rawSocket(t);
  const rows: readonly (readonly [head: string, answer: RegExp])[] = [
    [`POST /api/token/ HTTP/1.1\r\n${json}Content-Length: ${login.length}`, /^HTTP\/1.1 100 Continue\r\n\r\n$/],
    [`POST /api/token/ HTTP/1.1\r\n${json}Transfer-Encoding: chunked`, /^HTTP\/1.1 100 Continue\r\n\r\n$/],
    [`POST /api/token/ HTTP/1.1\r\n${json}Content-Length: 16385`, /^HTTP\/1.1 413 [^]*larger than 16 KiB/],
    [`POST /users HTTP/1.1\r\n${json}Content-Length: 5`, /^HTTP\/1.1 401 /],
    [`POST /users HTTP/1.1\r\n${json}Transfer-Encoding: chunked`, /^HTTP\/1.1 401 /],
    [`POST /nowhere HTTP/1.1\r\n${json}Content-Length: 5`, /^HTTP\/1.1 404 /],
    [`PUT /users HTTP/1.1\r\n${json}Content-Length: 5`, /^HTTP\/1.1 405 /],
    [`POST /api/token/ HTTP/1.1\r\n${json}Accept: image/png\r\nContent-Length: 5`, /^HTTP\/1.1 406 /],
    ["POST /api/token/ HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nContent-Length: 5", /^HTTP\/1.1 415 /],
    [
      `POST /users HTTP/1.1\r\n${json}Authorization: ${api.admin["authorization"]}\r\nContent-Length: ${mebibyte + 1}`,
      /^HTTP\/1.1 413 [^]*larger than 1 MiB/,
    ],
  ];

  for (const [head, answer] of rows) {
    const socket = await open();
    socket.write(`${head}\r\nExpect: 100-continue\r\n\r\n`);
    const said = await read(socket, /^HTTP\/1.1 100 .*\r\n\r\n$|}$/);
    assert.match(said, answer, head);
    if (!said.startsWith("HTTP/1.1 100")) assert.match(said, /\r\nConnection: close\r\n/, head);
    if (!said.startsWith("HTTP/1.1 100") || head.includes("chunked")) continue;
    socket.write(login);
    assert.match(await read(socket, /}$/), /^HTTP\/1.1 200 [^]*"access"/);
  }
});

test("answers 501 to transfer codings except chunked, and 400 to contradictory or negative lengths", async (t) => {
  const { send } = await rawSocket(t);
  const rows: readonly (readonly [fields: string, status: number])[] = [
    ["Transfer-Encoding: gzip, chunked", 501],
    ["Transfer-Encoding: chunked, chunked", 501],
    ["Transfer-Encoding: identity", 501],
    ["Transfer-Encoding: gzip", 501],
    ["Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", 501],
    ["Transfer-Encoding: chunked, gzip", 501],
    ["Transfer-Encoding: xchunked", 501],
    ["Transfer-Encoding: chunked\r\nContent-Length: 5", 400],
    ["Content-Length: 5\r\nTransfer-Encoding: chunked", 400],
    ["Content-Length: 5\r\nContent-Length: 6", 400],
    ["Content-Length: -5", 400],
  ];

  for (const [fields, status] of rows) {
    const answer = await send(`POST /api/token/ HTTP/1.1\r\n${json}${fields}\r\n\r\n5\r\nhello\r\n0\r\n\r\n`);
    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} [^]*\r\nConnection: close\r\n[^]*}$`), fields);
    assert.equal(answer.split("HTTP/1.1").length, 2, fields);
  }
  for (const coding of ["chunked", "CHUNKED"])
    assert.match(
      await send(
        `POST /api/token/ HTTP/1.1\r\n${json}Connection: close\r\nTransfer-Encoding: ${coding}\r\n\r\n${login.length.toString(16)}\r\n${login}\r\n0\r\n\r\n`,
      ),
      /^HTTP\/1.1 200 /,
    );
});

test("reads a body that arrives in chunks of one octet", async (t) => {
  const { open, read, api } = await rawSocket(t);
  const socket = await open();
  const name = "x".repeat(200_000);
  const body = `{"name":"${name}"}`;
  socket.write(
    `POST /users HTTP/1.1\r\n${json}Authorization: ${api.admin["authorization"]}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );

  socket.write(`${Array.from(body, (octet) => `1\r\n${octet}\r\n`).join("")}0\r\n\r\n`);

  assert.match(await read(socket), /^HTTP\/1.1 400 [^]*"too_long"/);
});

test("buffers at most 8 MiB of bodies for each user and for each address of unknown callers, until their connections close", async (t) => {
  const { open, read, api } = await rawSocket(t, { config: { registration: "open" } });
  const ann = await api.user("Ann");
  const half = async (authorization: string): Promise<Socket> => {
    const socket = await open();
    socket.write(`POST /users HTTP/1.1\r\n${json}${authorization}Content-Length: ${mebibyte}\r\n\r\n`);
    socket.write(`{"name":"${"x".repeat(999 * 1024)}`);
    return socket;
  };
  const said = new Map<Socket, string>();
  const listenTo = (socket: Socket): void => void socket.on("data", (chunk) => said.set(socket, String(chunk)));

  for (const authorization of ["", `Authorization: ${ann.headers.authorization}\r\n`]) {
    said.clear();
    const sockets = await Promise.all(Array.from({ length: 12 }, () => half(authorization)));
    sockets.forEach(listenTo);
    while (said.size < 4) await wait(10);
    await wait(50);

    assert.equal(said.size, 4, authorization);
    for (const answer of said.values())
      assert.match(answer, /^HTTP\/1.1 503 [^]*\r\nRetry-After: \d+[^]*\r\nConnection: close\r\n[^]*"unavailable"/);
    const admin = await api.post(
      "/users",
      { name: "Free", email: `free${authorization.length}@example.com` },
      api.admin,
    );
    assert.equal(admin.status, 201);
    for (const socket of sockets) socket.resetAndDestroy();
    await wait(50);
  }

  const again = await half("");
  again.write(`${"x".repeat(mebibyte - 999 * 1024 - 11)}"}`);
  assert.match(await read(again, /}$/), /^HTTP\/1.1 400 /);
});

test("reports a fault with its fix if a framework has already read the body, and does not wait for the body", async (t) => {
  const { service, observed } = await ownService(t, {
    endpoints: [
      defineEndpoint({
        method: "POST",
        path: "/echo",
        access: anyone,
        consumes: ["application/json"],
        handle: async ({ body }) => ({ status: 200, body: { kind: "data", value: body?.value, element: "echo" } }),
      }),
    ],
  });
  const listener = requestListener(service);
  let readsFirst = true;
  const server = createServer((request, response) => {
    if (!readsFirst) return listener(request, response);
    request.resume();
    request.on("end", () => listener(request, response));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/echo`;
  const headers = { "content-type": "application/json" };
  const used = new Request("http://a/echo", { method: "POST", body: "{}", headers });
  await used.text();

  const statuses = [
    (await fetch(url, { method: "POST", body: "{}", headers })).status,
    (await service.fetch(used, { peer: "127.0.0.1" })).status,
  ];
  const faults = observed.flatMap((each) => (each.kind === "fault" ? [String(each.error)] : []));
  readsFirst = false;

  assert.deepEqual(statuses, [500, 500]);
  assert.match(faults[0]!, /read before the service got the request\. Mount the service before/);
  assert.match(faults[1]!, /read before the service got the request\. Pass the Request/);
  assert.equal((await fetch(url, { method: "POST", body: "{}", headers })).status, 200);
});

/** Waits until more can be sent, or the socket is closed. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once("drain", resolve).once("close", resolve);
  });
}

test("does not compile a call of `fetch` without the option `peer`, and accepts null for an unknown peer", async (t) => {
  const { service } = await ownService(t, {
    endpoints: [defineEndpoint({ method: "GET", path: "/door", access: anyone, handle: () => ({ status: 204 }) })],
  });

  // @ts-expect-error -- without a peer, all callers would silently share one address
  const unsaid = await service.fetch(new Request("http://a/door"));
  const unknown = await service.fetch(new Request("http://a/door"), { peer: null });

  assert.deepEqual([unsaid.status, unknown.status], [204, 204]);
});
