import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { selfSigned } from "../../../../tests/harness/self-signed.ts";
import { listen, type Listener } from "./node.ts";
import type { Responder } from "./unreadable.ts";

const service: Responder = {
  async respond(arrival) {
    const body = await Promise.resolve(arrival.readBody(1000)).catch(() => Buffer.from("cut off"));
    return { status: 200, headers: ["Content-Length", String(body.length)], content: body };
  },
};

async function open({ port }: Listener): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

const request = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi";

async function ask(socket: Socket, text = request): Promise<string> {
  socket.write(text);
  const [answer] = (await once(socket, "data")) as [Buffer];
  return String(answer);
}

async function measureSeconds(closing: Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await closing;
  return (performance.now() - startedAt) / 1000;
}

test("answers one last request on an open connection after the port is closed", async () => {
  const listener = await listen(service, { port: 0 });
  const connection = await open(listener);
  assert.match(await ask(connection), /\r\nConnection: keep-alive\r\n/);
  const half = await open(listener);
  half.write(request.slice(0, -1));

  const closing = listener.close(600, 600);
  await assert.rejects(async () => {
    for (;;) {
      (await open(listener)).destroy();
      await wait(5);
    }
  });

  assert.match(await ask(connection), /\r\nConnection: close\r\n[^]*hi$/);
  assert.match(await ask(half, "i"), /\r\nConnection: close\r\n[^]*hi$/);
  await closing;
});

test("closes idle connections after idleSeconds, including connections without any request", async () => {
  const listener = await listen(service, { port: 0 });
  const connection = await open(listener);
  await ask(connection);
  const silent = await open(listener);
  const ended = Promise.all([once(connection, "close"), once(silent, "close")]);

  const seconds = await measureSeconds(listener.close(600, 0.2));

  assert.ok(seconds >= 0.15, `${seconds}`);
  await ended;
});

test("closes the connection of an unfinished request or TLS handshake after graceSeconds", async () => {
  for (const [started, tls] of [
    [request.slice(0, -1), {}],
    ["\x16\x03\x01", { tls: selfSigned }],
  ] as const) {
    const listener = await listen(service, { port: 0, ...tls });
    const half = await open(listener);
    half.write(started, "latin1");
    half.on("error", () => undefined);
    const ended = once(half, "close");

    const seconds = await measureSeconds(listener.close(0.3));

    assert.ok(seconds >= 0.25, `${seconds}`);
    await ended;
  }
});

test("closes a server without connections at once, before the idle time and the grace period end", async () => {
  const listener = await listen(service, { port: 0 });

  await listener.close(600, 600);
});
