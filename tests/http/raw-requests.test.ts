import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import test, { type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { listen } from "../../src/door/index.ts";
import { adminPassword, serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: requests are read and refused before the store is.

const OF_EVERY_ANSWER = [
  "Cache-Control",
  "X-Request-Id",
  "X-Content-Type-Options",
  "Referrer-Policy",
  "Content-Security-Policy",
];

test("answers raw requests with documented problems, even if Node itself would not answer or would answer differently", async (t) => {
  const send = await overSocket(t);
  const rows: readonly (readonly [request: string, status: number, code: string])[] = [
    ["GET /livez HTTP/1.1", 400, "malformed"],
    ["GET /livez HTTP/1.1\r\nHost: a\r\nHost: a", 400, "malformed"],
    ["GET /livez HTTP/1.1\r\nHost: a b", 400, "malformed"],
    ["GET /livez HTTP/1.1\r\nHost: a@b/c", 400, "malformed"],
    ["GET /livez#top HTTP/1.1\r\nHost: a", 400, "malformed"],
    ["FOO /users HTTP/1.1\r\nHost: a", 405, "method_not_allowed"],
    ["get /users HTTP/1.1\r\nHost: a", 405, "method_not_allowed"],
    ["TRACE /users HTTP/1.1\r\nHost: a", 405, "method_not_allowed"],
    ["POST /users HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4", 400, "malformed"],
    ["POST /users HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked", 400, "malformed"],
    ["GET /livez HTTP/2.0\r\nHost: a", 400, "malformed"],
    ["GET /livez HTTP/0.9\r\nHost: a", 400, "malformed"],
    ["POST /users HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked", 400, "malformed"],
    ["BREW /coffee HTTP/1.1\r\nHost: a", 404, "not_found"],
    ["GETX nowhere HTTP/1.1\r\nHost: a", 400, "malformed"],
    ["CONNECT /users HTTP/1.1\r\nHost: a", 405, "method_not_allowed"],
    ["CONNECT db.internal:5432 HTTP/1.1\r\nHost: a", 404, "not_found"],
    ["GET * HTTP/1.1\r\nHost: a", 405, "method_not_allowed"],
    ["GET ftp://a/livez HTTP/1.1\r\nHost: a", 404, "not_found"],
    ["GET http://a/orders/../livez HTTP/1.1\r\nHost: a", 404, "not_found"],
    ["GET /users HTTP/1.1\r\nHost: a\r\nExpect: a miracle", 401, "not_authenticated"],
  ];

  for (const [request, status, code] of rows) {
    const answer = await send(`${request}\r\nConnection: close\r\n\r\n`);
    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} [^]*"code":"${code}"`), `${request}\n${answer}`);
    assert.equal(/\r\nAllow: /.test(answer), status === 405, request);
    for (const name of OF_EVERY_ANSWER) assert.match(answer, new RegExp(`\r\n${name}: `), `${request}: ${name}`);
  }
});

test("accepts every form of a request target", async (t) => {
  const send = await overSocket(t);

  for (const request of [
    "GET /livez HTTP/1.0",
    "GET /livez HTTP/1.1\r\nHost:",
    "GET /livez HTTP/1.1\r\nHost: api.example:8000",
    "GET /livez HTTP/1.1\r\nhost: [::1]:8000",
    "GET http://api.example/livez HTTP/1.1\r\nHost: api.example",
    "GET HTTPS://api.example:1/livez?probe=1 HTTP/1.1\r\nHost: api.example",
  ]) {
    assert.match(await send(`${request}\r\nConnection: close\r\n\r\n`), /^HTTP\/1.1 200 /, request);
  }
  assert.match(await send("OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), /^HTTP\/1.1 204 [^]*Allow: /);
});

test("ends a pipeline at an unknown method without affecting earlier requests", async (t) => {
  const send = await overSocket(t);

  const answers = await send("GET /livez HTTP/1.1\r\nHost: a\r\n\r\nFOO /users HTTP/1.1\r\nHost: a\r\n\r\n");

  assert.match(answers, /^HTTP\/1.1 200 [^]*HTTP\/1.1 405 /);
});

test("reports an unknown method in the caller's format and with the caller's id", async (t) => {
  const send = await overSocket(t);
  const html = "Accept: text/html\r\nAccept-Encoding: gzip";

  assert.match(
    await send("FOO /users HTTP/1.1\r\nHost: a\r\nACCEPT:application/xml \r\nX-Request-Id: mine-17\r\n\r\n"),
    /^HTTP\/1.1 405 [^]*problem\+xml[^]*X-Request-Id: mine-17\r\n[^]*<request_id>mine-17</,
  );
  assert.match(await send(`FOO /users HTTP/1.1\r\nHost: a\r\n${html}\r\n\r\n`), /^HTTP\/1.1 405 [^]*text\/html/);
  for (const fields of ["Accept: application/xml\r\nno field", "Accept : application/xml"])
    assert.match(await send(`FOO /users HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n`), /^HTTP\/1.1 405 [^]*problem\+json/);
});

test("answers the earlier requests of a connection before it refuses an unreadable request", async (t) => {
  const send = await overSocket(t);
  const body = JSON.stringify({ username: "admin", password: adminPassword });
  const login = `POST /api/token/ HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  assert.match(await send(`${login}${login}garbage\r\n\r\n`), /^HTTP\/1.1 200 [^]*HTTP\/1.1 200 [^]*HTTP\/1.1 400 /);
  assert.match(await send(`${login}FOO /users HTTP/1.1\r\nHost: a\r\n\r\n`), /^HTTP\/1.1 200 [^]*HTTP\/1.1 405 /);
  const chunked = "POST /api/token/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
  assert.match(await send(`${login}${chunked}`), /^HTTP\/1.1 200 [^]*HTTP\/1.1 400 /);
  const tunnel = "CONNECT /users HTTP/1.1\r\nHost: a\r\n\r\n";
  assert.match(await send(`${login}${login}${tunnel}`), /^HTTP\/1.1 200 [^]*HTTP\/1.1 200 [^]*HTTP\/1.1 405 /);
});

test("answers a caller that is still sending, even if the connection is closed afterwards", async (t) => {
  const send = await overSocket(t);
  const megabytes = Array.from({ length: 80 }, () => "a".repeat(2 ** 17));
  const head = `POST /nowhere HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${80 * 2 ** 17}\r\n\r\n`;

  for (let round = 0; round < 5; round++)
    assert.match(await send([head, ...megabytes]), /^HTTP\/1.1 404 [^]*not_found/);
  for (let round = 0; round < 5; round++) assert.match(await send(["bad\r\n\r\n", ...megabytes]), /^HTTP\/1.1 400 /);
});

test("does not wait for an announced body that is not sent", async (t) => {
  const send = await overSocket(t);

  const answer = await send("POST /nowhere HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\n");

  assert.match(answer, /^HTTP\/1.1 404 /);
});

test("refuses too large headers and targets, for any number of packets", async (t) => {
  const send = await overSocket(t);
  const field = `X-Part: ${"a".repeat(1000)}\r\n`;

  for (const count of [17, 30, 45, 60]) {
    const parts = Array.from({ length: count }, () => field);
    const answer = await send(["GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n", ...parts, "\r\n"]);
    assert.match(answer, /^HTTP\/1.1 431 /, `${count} fields`);
  }
  const value = Array.from({ length: 30 }, () => "a".repeat(1000));
  const long = await send(["GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Part: ", ...value, "\r\n\r\n"]);
  assert.match(long, /^HTTP\/1.1 431 /);
  const target = Array.from({ length: 60 }, () => "a".repeat(1000));
  assert.match(
    await send(["GET /", ...target, " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"]),
    /^HTTP\/1.1 414 /,
  );
});

test("sends no Content-Length with a 304", async (t) => {
  const send = await overSocket(t);

  for (const path of ["/openapi.json", "/problems/not_found"]) {
    const answer = await send(`GET ${path} HTTP/1.1\r\nHost: a\r\nIf-None-Match: *\r\nConnection: close\r\n\r\n`);
    assert.match(answer, /^HTTP\/1.1 304 /);
    assert.doesNotMatch(answer, /content-length/i);
  }
});

test("reports at most a hundred of the wrong members of a body", async (t) => {
  const api = await serve(t);
  const body = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`wrong-${at}`, 1]));

  const answer = await api.post("/users", body, api.admin);

  assert.equal(answer.status, 400);
  assert.equal(answer.json.errors.length, 100);
});

test("refuses unknown parameters at /metrics, and ignores them at /livez", async (t) => {
  const api = await serve(t);

  assert.equal((await api.get("/metrics?x=1", api.admin)).json.code, "invalid_query");
  assert.equal((await api.get("/livez?x=1")).status, 200);
});

/**
 * Returns a function that sends the octets of a request, each part in a separate packet. It returns the octets that the
 * service sends.
 */
async function overSocket(t: TestContext): Promise<(request: string | readonly string[]) => Promise<string>> {
  const { service } = await serve(t);
  const listener = await listen(service, { port: 0 });
  t.after(() => listener.close(0));
  return (request) =>
    new Promise((resolve, reject) => {
      let answer = "";
      const socket = connect({ port: listener.port, host: "127.0.0.1", noDelay: true });
      void writeInTurn(socket, typeof request === "string" ? [request] : request);
      socket.on("data", (chunk) => (answer += chunk.toString()));
      socket.on("close", () => resolve(answer));
      // The service may refuse a request and close the connection before the test has written everything. Then the
      // write fails.
      socket.on("error", (error) => (answer === "" ? reject(error) : resolve(answer)));
    });
}

async function writeInTurn(socket: Socket, parts: readonly string[]): Promise<void> {
  for (const part of parts) {
    if (!socket.writable) return;
    await new Promise((resolve) => socket.write(part, resolve));
    await setImmediate();
  }
}
