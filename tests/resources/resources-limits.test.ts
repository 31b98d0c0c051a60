import assert from "node:assert/strict";
import { connect } from "node:net";
import test, { type TestContext } from "node:test";
import { listen } from "../../src/door/index.ts";
import { serve, type API } from "../harness/serve.ts";

const line = (length: number): string =>
  `GET /users/${"1".repeat(length - "GET /users/ HTTP/1.1\r\n".length)} HTTP/1.1`;

test("limits the request line and the header, with a separate response for each limit", async (t) => {
  const api = await serve(t);
  const send = await overSocket(t, api);
  const rows: readonly (readonly [head: string, status: number, code: string])[] = [
    [`${line(8192)}\r\nHost: x`, 404, "not_found"],
    [`${line(8193)}\r\nHost: x`, 414, "uri_too_long"],
    [`${line(40_000)}\r\nHost: x`, 414, "uri_too_long"],
    [`GET /users HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(16_300)}`, 401, "not_authenticated"],
    [`GET /users HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(16_400)}`, 431, "headers_too_large"],
    [`GET /users HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(60_000)}`, 431, "headers_too_large"],
    [
      `GET /users HTTP/1.1\r\nHost: x\r\n${Array.from({ length: 98 }, (_, at) => `X-${at}: a`).join("\r\n")}`,
      401,
      "not_authenticated",
    ],
    [
      `GET /users HTTP/1.1\r\nHost: x\r\n${Array.from({ length: 99 }, (_, at) => `X-${at}: a`).join("\r\n")}`,
      431,
      "headers_too_large",
    ],
    ["GET /users HTTP/1.1\r\nHost: x\r\nno header", 400, "malformed"],
  ];

  for (const [head, status, code] of rows) {
    const answer = await send(`${head}\r\nConnection: close\r\n\r\n`);
    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), head.slice(0, 60));
    assert.match(answer, new RegExp(`"code":"${code}"`), head.slice(0, 60));
    for (const name of [
      "Cache-Control",
      "X-Request-Id",
      "X-Content-Type-Options",
      "Referrer-Policy",
      "Content-Security-Policy",
    ]) {
      assert.match(answer, new RegExp(`\r\n${name}: `), `${head.slice(0, 60)}: ${name}`);
    }
  }
});

test("reads a body of 1 MiB, and refuses a larger body with and without Content-Length", async (t) => {
  const api = await serve(t);
  const send = await overSocket(t, api);
  const head = `POST /users HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${api.admin["authorization"]}\r\n`;
  const body = (bytes: number): string => `{"name":"${"x".repeat(bytes - 11)}"}`;

  const fits = await send(`${head}Content-Length: ${2 ** 20}\r\n\r\n${body(2 ** 20)}`);
  const announced = await send(`${head}Content-Length: ${2 ** 20 + 1}\r\n\r\n${body(2 ** 20 + 1)}`);
  const chunked = await send(
    `${head}Transfer-Encoding: chunked\r\n\r\n${(2 ** 20 + 1).toString(16)}\r\n${body(2 ** 20 + 1)}\r\n0\r\n\r\n`,
  );

  assert.match(fits, /^HTTP\/1.1 400 [^]*"too_long"/);
  for (const answer of [announced, chunked]) assert.match(answer, /^HTTP\/1.1 413 [^]*"code":"content_too_large"/);
});

async function overSocket(t: TestContext, { service }: API): Promise<(request: string) => Promise<string>> {
  const listener = await listen(service, { port: 0 });
  t.after(() => listener.close(0));
  return (request) =>
    new Promise((resolve, reject) => {
      let answer = "";
      const socket = connect(listener.port, "127.0.0.1", () => socket.write(request));
      socket.on("data", (chunk) => (answer += chunk.toString()));
      socket.on("close", () => resolve(answer));
      socket.on("error", (error) => (answer === "" ? reject(error) : resolve(answer)));
    });
}
