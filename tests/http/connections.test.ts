import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { connect as connectTLS } from "node:tls";
import { makeLog, makeMetrics, type Observation } from "../../src/door/ops.ts";
import { rawSocket } from "../harness/raw-socket.ts";
import { selfSigned } from "../harness/self-signed.ts";

// Nightly on PostgreSQL: connections of clients are counted before a request is read.

const livez = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";

test("refuses a connection above the limit of its address without processing its request, until another connection is closed", async (t) => {
  const { open, read, send, listener, api } = await rawSocket(t, {}, { connectionsPerAddress: 2 });
  const held = [await open(), await open()];

  const body = JSON.stringify({ name: "Late", email: "late@example.com" });
  const answer = await send(
    `POST /users HTTP/1.1\r\nHost: a\r\nAuthorization: ${api.admin["authorization"]}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  held[0]!.destroy();
  while (listener.connections() > 1) await wait(5);
  const next = await open();
  next.write(livez);

  assert.match(answer, /^HTTP\/1.1 503 [^]*\r\nRetry-After: 1\r\n[^]*\r\nConnection: close\r\n[^]*"unavailable"[^]*}$/);
  assert.equal(answer.split("HTTP/1.1").length, 2);
  assert.match(await read(next, /}$|ok/), /^HTTP\/1.1 200 /);
  assert.equal((await api.get("/users", api.admin)).json.length, 1);
  const refused: Observation = {
    kind: "refused",
    reason: "connections",
    address: "127.0.0.1",
    detail: "There are too many connections.",
  };
  assert.deepEqual(
    api.observed.filter(({ kind }) => kind === "refused"),
    [refused],
  );
});

test("limits the connections of one address over TLS too", async (t) => {
  const { open, listener } = await rawSocket(t, {}, { connectionsPerAddress: 1, tls: selfSigned });
  await open();
  const socket = connectTLS({ port: listener.port, host: "127.0.0.1", rejectUnauthorized: false });
  socket.write(livez);

  let answer = "";
  for await (const chunk of socket) answer += String(chunk);

  assert.match(answer, /^HTTP\/1.1 503 [^]*\r\nRetry-After: 1\r\n/);
  assert.equal(answer.split("HTTP/1.1").length, 2);
});

test("does not limit the connections of trusted proxies, and limits no connection if `connectionsPerAddress` is 0", async (t) => {
  for (const options of [{ connectionsPerAddress: 1, trustedProxies: ["127.0.0.0/8"] }, { connectionsPerAddress: 0 }]) {
    const { open, read } = await rawSocket(t, {}, options);
    await Promise.all(Array.from({ length: 5 }, open));
    const socket = await open();
    socket.write(livez);
    assert.match(await read(socket, /}$|ok/), /^HTTP\/1.1 200 /);
  }
});

test("observes an unreadable request and a failed TLS handshake, with the address", async (t) => {
  const { api, send } = await rawSocket(t);
  const tls = await rawSocket(t, {}, { tls: selfSigned });

  await send("nonsense\r\n\r\n");
  const plain = await tls.open();
  plain.write(livez);
  await once(plain, "close");

  const refusals = [...api.observed, ...tls.api.observed].flatMap((each) => (each.kind === "refused" ? [each] : []));
  assert.deepEqual(
    refusals.map(({ reason, address }) => [reason, address]),
    [
      ["unreadable", "127.0.0.1"],
      ["tls_handshake", "127.0.0.1"],
    ],
  );
});

test("logs ten refusals a second and then the number of the other refusals, and counts all of them in the metrics", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const lines: string[] = [];
  const log = makeLog("info", (text) => lines.push(...text.trim().split("\n")))!;
  const metrics = makeMetrics();
  const refused = (reason: "unreadable" | "connections"): void => {
    for (const observe of [log.observe, metrics.observe])
      observe({ kind: "refused", reason, address: "192.0.2.1", detail: "x" });
  };

  for (let at = 0; at < 500; at++) refused("unreadable");
  refused("connections");
  t.mock.timers.tick(1000);
  refused("unreadable");
  log.flush();

  const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.equal(entries.length, 13);
  assert.deepEqual(
    [entries[11]!["event"], entries[11]!["reason"], entries[11]!["count"]],
    ["refused_untold", "unreadable", 490],
  );
  const samples = metrics.read().find(({ name }) => name === "latchkey_refused_total")!.samples;
  assert.deepEqual(
    samples.map(([, count]) => count).filter((count) => count > 0),
    [501, 1],
  );
});

test("answers only a few requests of a caller that sends a thousand in one packet and reads no response", async (t) => {
  const { open, api } = await rawSocket(t);
  const socket = (await open()).pause();

  socket.write("GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n".repeat(1000));
  await wait(300);

  const { length } = (await api.get("/openapi.json")).text;
  const answered = api.observed.filter((each) => each.kind === "request").length;
  // The kernel's buffers also accept some responses, so the service answers more than one request.
  assert.ok(answered < 200 && answered * length < 2 ** 26, `${answered} of ${length}`);
});

test("answers a thousand pipelined requests in order", async (t) => {
  const { open } = await rawSocket(t);
  const socket: Socket = await open();
  let answers = 0;
  let rest = "";
  socket.on("data", (chunk) => {
    const parts = (rest + String(chunk)).split("HTTP/1.1 200 ");
    answers += parts.length - 1;
    rest = parts.at(-1)!.slice(-12);
  });

  socket.write(livez.repeat(1000));

  while (answers < 1000) await wait(5);
  const other = connect({ port: socket.remotePort!, host: "127.0.0.1" });
  other.write(livez);
  const [said] = (await once(other, "data")) as [Buffer];
  assert.match(String(said), /^HTTP\/1.1 200 /);
  other.destroy();
});

test("does not make a caller wait for the ten thousand requests that another caller sends at once", async (t) => {
  const { open, read, api } = await rawSocket(t);
  const greedy = await open();
  const other = await open();
  greedy.resume().write(livez.repeat(10_000));
  await once(greedy, "data");

  other.write(livez);
  await read(other, /ok/);

  const answered = api.observed.filter((each) => each.kind === "request").length;
  assert.ok(answered < 8000, `${answered} before the other`);
});
