import assert from "node:assert/strict";
import { once } from "node:events";
import { request, type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

/** A framework that listens, with a service under `/api`. */
export interface RunningFramework {
  readonly server: Server;
  /** True if the framework knows methods other than those of RFC 9110 and PATCH. */
  readonly knowsQuery: boolean;
  /** The caller according to `X-Forwarded-For` and `-Proto` of the nearest proxy. */
  readonly caller: { readonly address: string; readonly encrypted: boolean; readonly viaTrustedProxy: boolean };
  /** Stops the framework, and then the service. */
  close(): Promise<void>;
}

interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const json = { "content-type": "application/json" };

/**
 * Tests the promises that hold in every framework, with real requests over real connections. The last test stops the
 * framework.
 */
export function testFramework(name: string, start: () => Promise<RunningFramework>): void {
  const running = start();
  const port = running.then(({ server }) => (server.address() as AddressInfo).port);
  const open = async (method: string, path: string, options: RequestOptions = {}) =>
    request({ host: "127.0.0.1", port: await port, method, path, agent: false, ...options });
  const ask = async (
    method: string,
    path: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<Answered> => {
    const sent = await open(method, path, { headers: { ...(body === undefined ? {} : json), ...headers } });
    sent.end(body);
    return read(sent);
  };

  test(`${name}: creates, lists, changes and deletes records below the prefix`, async () => {
    const made = await ask("POST", "/api/books", '{"title":"Emma"}');
    assert.deepEqual([made.status, made.headers.location], [201, "/api/books/1"], made.text);
    const list = await ask("GET", "/api/books?limit=1");
    assert.equal(list.text, '[{"id":1,"title":"Emma"}]');
    assert.match(String(list.headers.link), /^<\/api\/books\?limit=1>; rel="first"/);
    const merge = { "content-type": "application/merge-patch+json", "if-match": String(made.headers.etag) };
    assert.equal((await ask("PATCH", "/api/books/1", '{"title":"Persuasion"}', merge)).status, 200);
    assert.equal((await ask("PATCH", "/api/books/1", '{"title":"Emma"}', merge)).status, 412);
    const removed = await ask("DELETE", "/api/books/1");
    assert.deepEqual([removed.status, removed.text], [204, ""]);
  });

  test(`${name}: passes on paths that the service does not serve, and answers 405 to a wrong method on a served path`, async () => {
    const echoed = await ask("POST", "/api/echo", '{"of":"the framework"}');
    assert.deepEqual([echoed.status, JSON.parse(echoed.text)], [200, { of: "the framework" }]);
    for (const path of ["/elsewhere", "/apis/books", "/API%2fbooks"]) {
      const { status, headers } = await ask("GET", path);
      assert.deepEqual([status, String(headers["content-type"]).includes("problem+json")], [404, false], path);
    }
    const { status, headers } = await ask("PUT", "/api/books", "{}");
    assert.equal(status, 405);
    assert.match(String(headers.allow), /GET, HEAD, QUERY, POST/);
  });

  test(`${name}: answers HEAD like GET, without the body`, async () => {
    await ask("POST", "/api/books", '{"title":"Head"}');
    const [got, head] = [await ask("GET", "/api/books"), await ask("HEAD", "/api/books")];
    assert.deepEqual([head.status, head.text], [200, ""]);
    for (const field of ["content-type", "etag", "link"]) assert.equal(head.headers[field], got.headers[field], field);
  });

  test(`${name}: answers QUERY if the framework knows the method, and refuses it otherwise`, async () => {
    const { knowsQuery } = await running;
    const { status, text } = await ask("QUERY", "/api/books", '{"where":{"title":{"eq":"Head"}}}');
    assert.equal(status < 300, knowsQuery, `${status} ${text}`);
    if (knowsQuery) assert.deepEqual(JSON.parse(text), [{ id: 2, title: "Head" }]);
    else assert.ok(status === 400 || status === 405, String(status));
  });

  test(`${name}: sets two cookies at a login, and accepts them`, async () => {
    const ann = { name: "Ann", email: "ann@example.com", password: "the password of ann" };
    const https = { "x-forwarded-proto": "https" };
    assert.equal((await ask("POST", "/api/users", JSON.stringify(ann), https)).status, 201);
    const login = JSON.stringify({ username: ann.email, password: ann.password, cookie: true });

    const { status, headers, text } = await ask("POST", "/api/api/token/", login, https);

    assert.equal(status, 200, text);
    const cookies = (headers["set-cookie"] ?? []).map((each) => each.split(";")[0]!);
    assert.deepEqual(
      cookies.map((each) => each.split("=")[0]),
      ["__Host-access_token", "__Secure-refresh_token"],
    );
    const own = await ask("GET", "/api/users/1", undefined, { ...https, cookie: cookies.join("; ") });
    assert.equal((JSON.parse(own.text) as { email: string }).email, ann.email);
  });

  test(`${name}: reads a body that arrives in pieces, and refuses one that is too large`, async () => {
    const slow = await open("POST", "/api/books", { headers: json });
    for (const piece of ['{"tit', 'le":"In ', 'pieces"}']) {
      slow.write(piece);
      await wait(20);
    }
    slow.end();
    assert.equal((await read(slow)).status, 201);
    const large = await ask("POST", "/api/books", JSON.stringify({ title: "x".repeat(1024 * 1024) }));
    assert.equal(large.status, 413);
  });

  test(`${name}: creates nothing if the client disconnects in the middle of a body, and serves other clients`, async () => {
    const before = await ask("GET", "/api/books");
    const socket = connect(await port, "127.0.0.1");
    socket.write(
      'POST /api/books HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"title"',
    );
    await wait(50);
    socket.destroy();
    await wait(50);
    assert.equal((await ask("GET", "/api/books")).text, before.text);
  });

  test(`${name}: uses the caller's address that the framework has found`, async () => {
    const forwarded = { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" };
    const { caller } = await running;
    const { text } = await ask("GET", "/api/caller", undefined, forwarded);
    assert.deepEqual(JSON.parse(text), caller);
  });

  test(`${name}: leaves upgraded connections to the framework`, async () => {
    const { server } = await running;
    server.on("upgrade", (_request, socket) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
      socket.pipe(socket);
    });
    const upgradeRequest = await open("GET", "/echo", { headers: { connection: "Upgrade", upgrade: "echo" } });
    upgradeRequest.end();
    const [, socket] = (await once(upgradeRequest, "upgrade")) as [IncomingMessage, ReturnType<typeof connect>];
    socket.write("hello");
    assert.equal(String((await once(socket, "data"))[0]), "hello");
    socket.destroy();
  });

  test(`${name}: answers a request whose body arrives while the framework stops`, async () => {
    const { close } = await running;
    const late = await open("POST", "/api/books", { headers: json });
    late.write('{"title":');
    await wait(50);
    const closed = close();
    late.end('"At last"}');
    assert.equal((await read(late)).status, 201);
    await closed;
    await assert.rejects(ask("GET", "/api/books"), { code: /^ECONN(REFUSED|RESET)$/ });
  });
}

async function read(sent: ReturnType<typeof request>): Promise<Answered> {
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  const text = Buffer.concat((await answer.toArray()) as Buffer[]).toString();
  return { status: answer.statusCode!, headers: answer.headers, text };
}
