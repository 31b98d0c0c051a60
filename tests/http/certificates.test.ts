import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import https from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import type { TLSSocket } from "node:tls";
import { listen } from "../../src/door/index.ts";
import type { Observation } from "../../src/door/ops.ts";
import { readTLSFiles } from "../../src/service/settings/tls.ts";
import { watchCertificate } from "../../src/service/system/certificates.ts";
import { asNobody, nobody } from "../harness/as-nobody.ts";
import { renewed, selfSigned } from "../harness/self-signed.ts";
import { serve } from "../harness/serve.ts";
import { startService } from "../harness/service-process.ts";

test("serves over TLS with the certificate file and the key file of the settings", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-tls-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: "cert" | "key"): string => {
    writeFileSync(path.join(folder, name), selfSigned[name], { mode: 0o600 });
    return path.join(folder, name);
  };
  await using service = await startService({ LATCHKEY_TLS_CERT: file("cert"), LATCHKEY_TLS_KEY: file("key") });

  const [response] = (await once(https.get(`${service.address}/livez`, { rejectUnauthorized: false }), "response")) as [
    IncomingMessage,
  ];

  assert.equal(response.resume().statusCode, 200);
});

const day = 86_400_000;

/** Starts a TLS listener with a watched certificate, and a client. */
async function watched(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-certificate-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const files = { cert: path.join(folder, "cert.pem"), key: path.join(folder, "key.pem") };
  const write = (file: "cert" | "key", text: string): void => {
    const draft = path.join(folder, "draft");
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, files[file]);
  };
  write("cert", selfSigned.cert);
  write("key", selfSigned.key);
  const { service } = await serve(t);
  const tls = readTLSFiles(files);
  const { cert, key } = tls;
  const listener = await listen(service, { port: 0, tls: { cert, key } });
  t.after(() => listener.close(0, 0));
  const observed: Observation[] = [];
  const clock = { now: Date.now() };
  const look = watchCertificate({
    tls,
    use: listener.renewCertificate,
    observe: (observation) => void observed.push(observation),
    now: () => clock.now,
  });
  /** Returns the name in the presented certificate. */
  const ask = (agent: https.Agent | false = false, more: https.RequestOptions = {}): Promise<string> =>
    new Promise((resolve, reject) => {
      https
        .get(`${listener.url}/livez`, { agent, rejectUnauthorized: false, ...more }, (response) => {
          const { subject } = (response.socket as TLSSocket).getPeerCertificate();
          response.resume().on("end", () => resolve(`${response.statusCode} ${String(subject.CN)}`));
        })
        .on("error", reject);
    });
  const takeNotices = () =>
    observed.splice(0).map((each) => (each.kind === "notice" ? `${each.level}: ${each.message}` : each.kind));
  return { write, look, ask, takeNotices, clock, tls, files };
}

test("serves a new certificate without a restart, and keeps existing connections", async (t) => {
  const { write, look, ask, takeNotices } = await watched(t);
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  look();
  assert.deepEqual(takeNotices(), []);
  assert.equal(await ask(agent), "200 localhost");

  write("cert", renewed.cert);
  look();
  assert.match(
    takeNotices().join("\n"),
    /^error: The changed certificate cannot be used. The service keeps the previous one\.$/,
  );
  assert.equal(await ask(), "200 localhost");

  write("key", renewed.key);
  look();
  look();
  assert.match(takeNotices().join("\n"), /^info: The service now uses the new certificate in \S+$/);
  assert.equal(await ask(), "200 renewed.example");
  assert.equal(await ask(agent), "200 localhost");
  await assert.rejects(ask(false, { maxVersion: "TLSv1.1", minVersion: "TLSv1", ciphers: "DEFAULT@SECLEVEL=0" }));
});

test("keeps the old certificate for any invalid content of the files", async (t) => {
  const { write, look, ask, takeNotices } = await watched(t);

  for (const text of ["", "x", selfSigned.key, renewed.cert.slice(0, 200), "-----BEGIN CERTIFICATE-----\n"]) {
    write("cert", text);
    look();
    assert.match(takeNotices().join("\n"), /^error: .*keeps the previous one\.$/, text.slice(0, 30));
    assert.equal(await ask(), "200 localhost");
  }
  write("cert", selfSigned.cert);
  look();
  assert.deepEqual(takeNotices(), []);
});

test("renews the certificate under load without a failed request", async (t) => {
  const { write, look, ask } = await watched(t);

  const answers: Promise<string>[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    const { cert, key } = turn % 2 === 0 ? renewed : selfSigned;
    answers.push(ask(), ask());
    write("key", key);
    look();
    answers.push(ask());
    write("cert", cert);
    look();
    await answers[answers.length - 2];
  }

  const names = new Set(await Promise.all(answers));
  assert.deepEqual([...names].toSorted(), ["200 localhost", "200 renewed.example"]);
});

test("logs the end of a certificate once a day, beginning a week before the end", async (t) => {
  const { look, takeNotices, clock } = await watched(t);
  const ends = Date.parse("2126-10-28T05:12:25Z");
  const at = (ms: number): string[] => {
    clock.now = ends + ms;
    look();
    return takeNotices();
  };

  assert.deepEqual(at(-8 * day), []);
  assert.match(at(-6 * day).join(), /^error: The certificate in \S+ ends at 2126-10-28T/);
  assert.deepEqual(at(-6 * day + 3_600_000), []);
  assert.match(at(-5 * day).join(), / ends at /);
  assert.match(at(day).join(), / has expired at /);
});

test("serves a new certificate as soon as its unreadable files become readable", async (t) => {
  const { write, look, ask, takeNotices, files } = await watched(t);
  chmodSync(path.dirname(files.cert), 0o755);
  const lookAsNobody = (): string => (asNobody(look), takeNotices().join("\n"));
  write("cert", renewed.cert);
  write("key", renewed.key);
  for (const file of Object.values(files)) {
    if (process.getuid!() === 0) chownSync(file, nobody, nobody);
    chmodSync(file, 0o000);
  }
  assert.match(lookAsNobody(), /^error: .*keeps the previous one\.$/);

  for (const file of Object.values(files)) chmodSync(file, 0o400);

  assert.match(lookAsNobody(), /^info: The service now uses the new certificate in \S+$/);
  assert.equal(await ask(), "200 renewed.example");
});

test("reports a renewed key that all users can read, and uses the key after its permissions are fixed", async (t) => {
  const { write, look, ask, takeNotices, files } = await watched(t);
  write("cert", renewed.cert);
  write("key", renewed.key);
  chmodSync(files.key, 0o644);
  look();
  assert.match(takeNotices().join("\n"), /^error: .*keeps the previous one\.$/);
  assert.equal(await ask(), "200 localhost");

  chmodSync(files.key, 0o640);
  look();

  assert.match(takeNotices().join("\n"), /^info: The service now uses the new certificate in \S+$/);
  assert.equal(await ask(), "200 renewed.example");
});
