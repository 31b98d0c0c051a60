import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { RequestListener, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { SignJWT } from "jose";
import type { Observation } from "../../../core/observation.ts";
import { defineIssuers, IssuersError } from "./declaration.ts";
import { externalIssuers } from "./scheme.ts";
import type { IssuerTLSFiles } from "./tls.ts";

const now = Date.parse("2026-03-01T12:00:00Z");
const folder = mkdtempSync(path.join(tmpdir(), "latchkey-issuer-"));
const file = (name: string): string => path.join(folder, name);

/** Makes two authorities, each with a certificate for 127.0.0.1 and one for a client. */
before(() => {
  for (const authority of ["ours", "theirs"]) {
    const openssl = (...args: readonly string[]): unknown =>
      execFileSync("openssl", args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    const makeKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    openssl(
      "req",
      "-x509",
      ...makeKey,
      "-days",
      "2",
      "-subj",
      `/CN=${authority}`,
      "-keyout",
      `${authority}.key`,
      "-out",
      `${authority}.pem`,
    );
    for (const leaf of ["server", "client"]) {
      const name = `${authority}-${leaf}`;
      writeFileSync(
        file("extensions"),
        leaf === "server" ? "subjectAltName=IP:127.0.0.1" : "extendedKeyUsage=clientAuth",
      );
      openssl("req", ...makeKey, "-subj", `/CN=${leaf}`, "-keyout", `${name}.key`, "-out", `${name}.csr`);
      openssl(
        "x509",
        "-req",
        "-in",
        `${name}.csr`,
        "-CA",
        `${authority}.pem`,
        "-CAkey",
        `${authority}.key`,
        "-CAcreateserial",
        "-days",
        "2",
        "-extfile",
        "extensions",
        "-out",
        `${name}.pem`,
      );
      chmodSync(file(`${name}.key`), 0o600);
    }
  }
});

after(() => rmSync(folder, { recursive: true, force: true }));

const client: IssuerTLSFiles = { ca: file("ours.pem"), cert: file("ours-client.pem"), key: file("ours-client.key") };

const cases: readonly [what: string, files: IssuerTLSFiles, status: "accepted" | RegExp][] = [
  ["the authority and the certificate that are asked for", client, "accepted"],
  ["no certificate", { ca: client.ca! }, /cannot be fetched: the connection failed/],
  [
    "a client certificate of another authority",
    { ca: client.ca!, cert: file("theirs-client.pem"), key: file("theirs-client.key") },
    /cannot be fetched: the connection failed/,
  ],
  ["another authority", { ...client, ca: file("theirs.pem") }, /UNABLE_TO_VERIFY|SELF_SIGNED|unable to/],
  ["the public authorities", { cert: client.cert!, key: client.key! }, /UNABLE_TO_VERIFY|SELF_SIGNED|unable to/],
];

for (const [what, files, expected] of cases)
  test(`connects to an issuer with a private authority only with the right TLS files, here ${what}`, async (t) => {
    const issuer = await startIssuer(t);
    const { verify, readObservations: readLog } = issuer.trustedWith(files);

    if (expected === "accepted") assert.equal((await verify())?.kind, "accepted");
    else {
      await assert.rejects(async () => verify(), { status: 503 });
      assert.match(readLog(), expected);
    }
    assert.equal(issuer.countRequests(), expected === "accepted" ? 1 : 0);
  });

test("reads renewed TLS files without a restart", async (t) => {
  const issuer = await startIssuer(t);
  const [ca, cert, key] = ["ca", "cert", "key"].map((name) => file(`renewed-${name}`)) as [string, string, string];
  copyFileSync(client.ca!, ca);
  copyFileSync(file("theirs-client.pem"), cert);
  copyFileSync(file("theirs-client.key"), key);
  const { verify } = issuer.trustedWith({ ca, cert, key });
  await assert.rejects(async () => verify(), { status: 503 });

  copyFileSync(client.cert!, cert);
  copyFileSync(client.key!, key);

  assert.equal((await verify(60_000))?.kind, "accepted");
});

test("does not follow a redirect when TLS files are declared", async (t) => {
  const issuer = await startIssuer(t, 302);
  const { verify, readObservations: readLog } = issuer.trustedWith(client);

  await assert.rejects(async () => verify(), { status: 503 });

  assert.match(readLog(), /it answered with status 302/);
});

const broken: readonly [what: string, answer: RequestListener, said: RegExp][] = [
  ["is endless", (_, response) => flood(response), /longer than 256 KiB/],
  ["breaks off", (_, response) => void response.write("{", () => response.destroy()), /the connection failed/],
  ["is cut before it begins", (request) => void request.socket.destroy(), /the connection failed/],
  ["is no JSON", (_, response) => void response.end("<html>"), /not a JWK Set/],
];

for (const [what, answer, said] of broken)
  test(`reports a response that ${what} when TLS files are declared, and keeps running`, async (t) => {
    const issuer = await startIssuer(t, 200, answer);
    const { verify, readObservations: readLog } = issuer.trustedWith(client);

    await assert.rejects(async () => verify(), { status: 503 });

    assert.match(readLog(), said);
  });

function flood(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, " ");
  while (!response.destroyed && response.write(chunk)) continue;
  if (!response.destroyed) response.once("drain", () => flood(response));
}

test("reports the mistakes in the files at the declaration, each with its fix", () => {
  const open = file("open.key");
  copyFileSync(client.key!, open);
  chmodSync(open, 0o644);
  writeFileSync(
    file("half.pem"),
    `${readFileSync(client.ca!, "utf8")}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
  );
  const https = "https://login.example/keys";
  const wrong: readonly [files: Record<string, unknown>, said: RegExp][] = [
    [{ ca: file("none.pem") }, /issuers\[0\]\.ca is .*cannot be read \(ENOENT\)/],
    [{ ca: client.key }, /ca is .* does not hold certificates in PEM/],
    [{ ca: file("half.pem") }, /ca is .* does not hold certificates in PEM/],
    [{ ca: 7 }, /ca is 7\. Write the path/],
    [{ ca: "" }, /ca is ""\. Write the path/],
    [{ cert: client.cert }, /key is missing/],
    [{ key: client.key }, /cert is missing/],
    [{ cert: client.cert, key: client.cert }, /key is .* does not hold a private key/],
    [{ cert: client.cert, key: file("theirs-client.key") }, /which is not the key of cert/],
    [{ cert: client.cert, key: open }, /open to others \(mode 0644\)\. Close it with chmod 600/],
    [{ ca: client.ca, jwksURL: "http://127.0.0.1/keys" }, /ca is given, but jwksURL is not https/],
  ];
  for (const [files, said] of wrong) {
    const declared = {
      issuer: "https://login.example",
      audience: "us",
      jwksURL: https,
      algorithms: ["ES256"],
      ...files,
    };
    assert.throws(
      () => defineIssuers([declared], "latchkey"),
      (error) => {
        assert.ok(error instanceof IssuersError);
        assert.match(error.message, said);
        return error.problems.length === 1;
      },
      JSON.stringify(files),
    );
  }
});

/** Starts an issuer that sends its keys only to clients with a certificate of its authority. */
async function startIssuer(t: TestContext, status = 200, answer?: RequestListener) {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const keys = [{ ...publicKey.export({ format: "jwk" }), kid: "one", alg: "ES256" }];
  let requestCount = 0;
  const read = (name: string): Buffer => readFileSync(file(name));
  const server = createServer(
    {
      cert: read("ours-server.pem"),
      key: read("ours-server.key"),
      ca: read("ours.pem"),
      requestCert: true,
      rejectUnauthorized: true,
    },
    (request, response) => {
      requestCount++;
      if (answer !== undefined) return answer(request, response);
      response.writeHead(status, { location: "https://127.0.0.1:1/" }).end(JSON.stringify({ keys }));
    },
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = "https://login.example";
  const token = await new SignJWT({ iss: issuer, aud: "us", sub: "ada", exp: now / 1000 + 300 })
    .setProtectedHeader({ alg: "ES256", kid: "one" })
    .sign(privateKey);
  return {
    countRequests: () => requestCount,
    trustedWith(files: IssuerTLSFiles) {
      const observed: Observation[] = [];
      const jwksURL = `https://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
      const { verify } = externalIssuers({
        issuers: [{ issuer, audience: "us", jwksURL, algorithms: ["ES256"], ...files }],
        ownIssuer: "latchkey",
        bindings: { resolve: () => ada },
        observe: (observation) => void observed.push(observation),
        fetch: () => Promise.reject(new Error("the usual network is not to be asked")),
      });
      return {
        verify: async (later = 0) => verify(token, now + later),
        readObservations: () => JSON.stringify(observed),
      };
    },
  };
}

const ada = {
  id: 7,
  username: "ada",
  role: "user",
  active: true,
  passwordHash: null,
  passwordUntil: null,
  generation: 1,
  createdAt: "2026-01-01T00:00:00.000Z",
  lastLoginAt: null,
  remainingFamily: null,
  roleChanges: 0,
} as const;
