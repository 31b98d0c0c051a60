import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Eventually } from "../../../core/eventually.ts";
import { Problem } from "../../../core/problem/problem.ts";
import { readBody } from "./body.ts";

const MOST = 1000;
const head = (length: number): string => `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`;

/**
 * Sends these pieces one after another. Calls `look` with the request one turn of the event loop after its head has
 * arrived.
 */
async function arriving<T>(pieces: readonly string[], look: (request: IncomingMessage) => Promise<T>): Promise<T> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").setNoDelay(true);
  try {
    const [first = "", ...later] = pieces;
    socket.write(first);
    const [request] = (await once(server, "request")) as [IncomingMessage];
    await nextTurn();
    const looking = look(request);
    for (const piece of later) socket.write(piece);
    return await looking;
  } finally {
    socket.destroy();
    server.close();
  }
}

function read(request: IncomingMessage): Eventually<Uint8Array> {
  return readBody(request, MOST, undefined, () => undefined);
}

test("reads a body synchronously if it arrived with its head, and throws if the body is read again", async () => {
  await arriving([`${head(5)}hello`], async (request) => {
    const octets = read(request);

    assert.ok(!(octets instanceof Promise));
    assert.equal(String(octets), "hello");
    await once(request, "end");
    assert.throws(() => read(request), /was read before/);
  });
});

test("reads an empty body synchronously", async () => {
  const octets = await arriving([head(0)], async (request) => read(request));

  assert.equal(octets.length, 0);
});

test("waits for the rest of a body", async () => {
  await arriving([`${head(10)}hello`, "world"], async (request) => {
    const octets = read(request);

    assert.ok(octets instanceof Promise);
    assert.equal(String(await octets), "helloworld");
  });
});

test("reads a body to its end although other code pauses it again and again", async () => {
  await arriving([head(10), "hello", "world"], async (request) => {
    request.pause();
    request.on("data", () => request.pause());

    assert.equal(String(await read(request)), "helloworld");
  });
});

test("throws for a body that other code reads in a listener for `readable`", async () => {
  await arriving([head(10), "helloworld"], async (request) => {
    request.on("readable", () => undefined);

    assert.throws(() => read(request), /was read before/);
  });
});

test("throws for a body that other code reads as text, whether or not all of it has arrived", async () => {
  const asText = async (request: IncomingMessage): Promise<Uint8Array> => read(request.setEncoding("utf8"));
  for (const pieces of [[`${head(5)}hello`], [head(5), "hello"], [head(10), "hello", "world"]])
    await assert.rejects(arriving(pieces, asText), /comes as a text, not as octets/);
});

test("ends with request_timeout if the client disconnects before the end of the body", async () => {
  await arriving([head(10), "hello"], async (request) => {
    const octets = read(request);
    request.once("data", () => request.destroy());

    await assert.rejects(async () => octets, { code: "request_timeout" });
  });
});

test("returns a body in many pieces as one", async () => {
  const chunks = ["POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"];
  for (let at = 0; at < 50; at++) chunks.push("3\r\nabc\r\n");
  chunks.push("0\r\n\r\n");
  const octets = await arriving([chunks.join("")], async (request) => read(request));

  assert.equal(String(octets), "abc".repeat(50));
});

test("refuses a body above the limit, with and without a Content-Length", async () => {
  const announced = `${head(MOST + 1)}${"a".repeat(MOST + 1)}`;
  const chunked = `POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${(MOST + 1).toString(16)}\r\n${"a".repeat(MOST + 1)}\r\n0\r\n\r\n`;
  for (const sent of [announced, chunked])
    await arriving([sent], async (request) => {
      assert.throws(
        () => read(request),
        (error) => error instanceof Problem && error.code === "content_too_large",
      );
    });
});
