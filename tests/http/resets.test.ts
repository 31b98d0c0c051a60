import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { test, type TestContext } from "node:test";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { connect as connectTLS } from "node:tls";
import type { ListenOptions } from "../../src/door/http.ts";
import { listen } from "../../src/door/index.ts";
import { selfSigned } from "../harness/self-signed.ts";
import { adminPassword, serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: the service meets a reset on the connection of the client.

const login = JSON.stringify({ username: "admin", password: adminPassword });
const json = "Host: a\r\nContent-Type: application/json\r\n";
const kinds: Readonly<Record<string, string>> = {
  nothing: "",
  GET: "GET /users HTTP/1.1\r\nHost: a\r\n\r\n",
  "HTTP/1.0": "GET /livez HTTP/1.0\r\n\r\n",
  "a body with a length": `POST /api/token/ HTTP/1.1\r\n${json}Content-Length: ${login.length}\r\n\r\n${login}`,
  "half of a body": `POST /api/token/ HTTP/1.1\r\n${json}Content-Length: ${login.length}\r\n\r\n${login.slice(9)}`,
  "a body in chunks": `POST /api/token/ HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\n${login.length.toString(16)}\r\n${login}\r\n0\r\n\r\n`,
  "a body that is refused": `POST /users HTTP/1.1\r\n${json}Content-Length: 1000000\r\n\r\n${"x".repeat(1000)}`,
  "an expectation": `POST /api/token/ HTTP/1.1\r\n${json}Expect: 100-continue\r\nContent-Length: ${login.length}\r\n\r\n`,
  "a wrong expectation": `POST /api/token/ HTTP/1.1\r\n${json}Expect: a miracle\r\nContent-Length: 9\r\n\r\n`,
  CONNECT: "CONNECT h:80 HTTP/1.1\r\nHost: h:80\r\n\r\n",
  "CONNECT and more": `CONNECT h:80 HTTP/1.1\r\nHost: h:80\r\n\r\n${"more".repeat(1000)}`,
  Upgrade: "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
  "Upgrade with a body": `POST /api/token/ HTTP/1.1\r\n${json}Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: ${login.length}\r\n\r\n${login}`,
  "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  pipelined: "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n".repeat(20),
  "pipelined and unreadable": "GET /users HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n",
  unreadable: "nonsense\r\n\r\n",
  "an unknown method": "FOO /users HTTP/1.1\r\nHost: a\r\n\r\n",
  "a TLS handshake": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
};

for (const [transport, tls] of [
  ["plain", null],
  ["TLS", selfSigned],
] as const) {
  test(`survives resets after any kind of request, at once or after the response, and leaves no connection open (${transport})`, async (t) => {
    const own = await overSocket(t, tls === null ? {} : { tls });

    for (const text of Object.values(kinds))
      await Promise.all([
        cut(await own.open(), text, 0),
        cut(await own.open(), text, 1),
        cut(await own.open(), text, 20),
        cut(await own.openPlain(), text, 5),
      ]);

    await own.isWell();
  });
}

test("survives connections that are reset at a thousand different points, and leaves no connection open", async (t) => {
  const own = await overSocket(t, {});
  const texts = Object.values(kinds).filter((text) => text !== "");
  const random = seeded(20261122);

  for (let round = 0; round < 20; round++)
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        const text = texts[Math.floor(random() * texts.length)]! + texts[Math.floor(random() * texts.length)]!;
        const delayMs = random() < 0.5 ? 0 : random() * 5;
        await cut(await own.openPlain(), text.slice(0, Math.floor(random() * text.length)), delayMs);
      }),
    );

  await own.isWell();
});

test("answers CONNECT like any other method, and closes the connection even if the client keeps its half open", async (t) => {
  const own = await overSocket(t, {});
  const socket = connect({ port: own.port, host: "127.0.0.1", allowHalfOpen: true });
  socket.write(kinds["CONNECT and more"]!);

  let answer = "";
  for await (const chunk of socket) answer += String(chunk);

  assert.match(answer, /^HTTP\/1.1 404 [^]*\r\nConnection: close\r\n[^]*"not_found"/);
  await own.isWell();
});

test("answers a client that has closed its half of the connection, and then closes the other half", async (t) => {
  const own = await overSocket(t, {});
  const answersTo = async (text: string): Promise<readonly string[]> => {
    const socket = await own.open();
    socket.end(text);
    let answers = "";
    for await (const chunk of socket) answers += String(chunk);
    return answers.match(/(?<=HTTP\/1.1 )\d+/g) ?? [];
  };

  // A thread computes the hash of a login. So the response comes after the client has closed its half.
  const loggingIn = kinds["a body with a length"]!;
  assert.deepEqual(await answersTo(loggingIn), ["200"]);
  assert.deepEqual(await answersTo(kinds["GET"]! + loggingIn + kinds["GET"]!), ["401", "200", "401"]);
  assert.equal((await answersTo(loggingIn + kinds["pipelined"]!.repeat(5))).length, 101);
  assert.deepEqual(await answersTo(kinds["half of a body"]!), ["400"]);
  assert.deepEqual(await answersTo(""), []);
  await own.isWell();
});

test("ignores an unsupported upgrade (RFC 9110 §7.8), also with a body", async (t) => {
  const own = await overSocket(t, {});

  for (const [kind, answer] of [
    ["Upgrade", /^HTTP\/1.1 200 [^]*\r\nConnection: keep-alive/],
    ["Upgrade with a body", /^HTTP\/1.1 200 [^]*"access"/],
  ] as const) {
    const socket = await own.openPlain();
    socket.write(kinds[kind]!);
    const [said] = (await once(socket, "data")) as [Buffer];
    assert.match(String(said), answer, kind);
    socket.destroy();
  }
});

interface Own {
  readonly port: number;
  open(): Promise<Socket>;
  /** Opens a connection without TLS, also to a port with TLS. */
  openPlain(): Promise<Socket>;
  /** Asserts that the service answers and has no open connections. */
  isWell(): Promise<void>;
}

async function overSocket(t: TestContext, options: Omit<ListenOptions, "port">): Promise<Own> {
  const { service } = await serve(t);
  const listener = await listen(service, { port: 0, ...options });
  t.after(() => listener.close(0));
  const { port } = listener;
  const openPlain = async (): Promise<Socket> => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    await once(socket, "connect");
    return socket;
  };
  const open = async (): Promise<Socket> => {
    const below = await openPlain();
    if (options.tls === undefined) return below;
    const socket = connectTLS({ socket: Duplex.from(below), rejectUnauthorized: false });
    socket.on("error", () => undefined);
    await once(socket, "secureConnect");
    // Resets the TCP socket. TLS gets only a `Duplex` of this socket, because a socket that TLS owns can no longer be
    // reset.
    socket.resetAndDestroy = () => below.resetAndDestroy() && socket;
    return socket;
  };
  return {
    port,
    open,
    openPlain,
    async isWell() {
      const socket = await open();
      socket.write("GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
      const [said] = (await once(socket, "data")) as [Buffer];
      assert.match(String(said), /^HTTP\/1.1 200 /);
      for (let turn = 0; listener.connections() > 0; turn++) {
        assert.ok(turn < 200, `${listener.connections()} connections are left`);
        await wait(25);
      }
    },
  };
}

/** Sends a text, and resets the connection after a while. */
async function cut(socket: Socket, text: string, afterMs: number): Promise<void> {
  socket.write(text, "latin1");
  await (afterMs === 0 ? nextTurn() : wait(afterMs));
  socket.resetAndDestroy();
}

/** Returns a generator of random numbers that are the same for the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
