import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { Observation } from "../../../core/observation.ts";
import { breachedPasswords } from "./breached-passwords.ts";

const password = "correct horse battery";
const digest = createHash("sha1").update(password).digest("hex").toUpperCase();
const padding = Array.from({ length: 800 }, (_, at) => `${String(at).padStart(35, "0")}:${at % 3}`);

/**
 * Checks a password with a range service that sends `answer`. Returns the result, the received requests and the log.
 */
async function ask(answer: RequestListener, limitMs = 60_000) {
  const requests: { path: string; padding: string | undefined }[] = [];
  const server = createServer((request, response) => {
    requests.push({ path: request.url!, padding: request.headers["add-padding"] as string | undefined });
    answer(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const observed: Observation[] = [];
  const { port } = server.address() as AddressInfo;
  const observe = (observation: Observation): void => void observed.push(observation);
  const isBreached = breachedPasswords({ url: `http://127.0.0.1:${port}/range`, observe, limitMs });
  try {
    return {
      breached: await isBreached(password),
      requests,
      observations: JSON.stringify(observed),
      count: observed.length,
    };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const lists: [what: string, lines: string[], breached: boolean][] = [
  ["that is listed", [...padding, `${digest.slice(5)}:7`, ...padding], true],
  ["that is listed in lower case", [`${digest.slice(5).toLowerCase()}:1`], true],
  ["that is padding", [...padding, `${digest.slice(5)}:0`], false],
  ["that is not listed", padding, false],
];

for (const [what, lines, breached] of lists) {
  test(`finds a password ${what} to be ${breached ? "breached" : "not breached"}, and sends only five digits of its digest`, async () => {
    const answer = await ask((_, response) => response.end(lines.join("\r\n")));

    assert.equal(answer.breached, breached);
    assert.deepEqual(answer.requests, [{ path: `/range/${digest.slice(0, 5)}`, padding: "true" }]);
    assert.equal(answer.count, 0);
  });
}

const broken: [what: string, message: RegExp, answer: RequestListener][] = [
  ["answers 503", /503/, (_, response) => void response.writeHead(503).end(`${digest.slice(5)}:7`)],
  ["redirects", /./, (_, response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end()],
  ["answers a page", /not a list/, (_, response) => void response.end("<h1>Hello</h1>")],
  ["answers nothing", /not a list/, (_, response) => void response.end()],
  ["never answers", /longer than 100 ms/, () => undefined],
  ["never ends", /longer than 100 ms/, (_, response) => void response.write(`${padding[0]}\r\n`)],
  ["resets the connection", /./, (request) => void request.socket.destroy()],
  [
    "sends data without end",
    /longer than/,
    (_, response) => {
      const more = (): void => {
        if (!response.destroyed) response.write(`${padding.join("\r\n")}\r\n`, () => setImmediate(more));
      };
      more();
    },
  ],
];

for (const [what, pattern, answer] of broken) {
  test(`accepts the password and logs neither it nor its digest if the service ${what}`, async () => {
    const { breached, observations: log, count } = await ask(answer, what.startsWith("never") ? 100 : 5000);

    assert.deepEqual([breached, count], [false, 1]);
    assert.match(log, pattern);
    for (const secret of [password, digest.slice(0, 5), digest.slice(5)]) assert.ok(!log.includes(secret));
  });
}

test("does not wait for a network that ignores the abort signal", async () => {
  const observed: Observation[] = [];
  const isBreached = breachedPasswords({
    url: "https://ranges.example/",
    observe: (observation) => void observed.push(observation),
    fetch: () => new Promise(() => undefined),
    limitMs: 20,
  });

  assert.equal(await isBreached(password), false);
  assert.equal(observed.length, 1);
});
