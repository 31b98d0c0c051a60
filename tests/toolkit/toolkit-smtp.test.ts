import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { createServer, type AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { test, type TestContext } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { readSMTPURL, smtpSender, type Mail, type SendMail } from "../../src/door/features.ts";
import { Secret } from "../../src/door/index.ts";
import { renewed } from "../harness/self-signed.ts";

const mail: Mail = {
  id: "1",
  from: "Läden <no-reply@example.com>",
  to: "ann@example.com",
  subject: "Wählen Sie ein neues Passwort",
  text: "Öffnen Sie diesen Link:\n\nhttps://api.example/reset?token=abc\n\n.\n01234567\n",
  html: "<p>Hallo</p>\n",
  at: Date.parse("2026-01-31T09:30:00Z"),
};
const password = "p@ss/wörd";

interface Received {
  readonly from: string;
  readonly to: readonly string[];
  readonly content: string;
  readonly secure: boolean;
  readonly user: string | undefined;
}

/** Starts a mail server on 127.0.0.1, or on `host`. Returns its port and the mails that it received. */
async function startServer(
  t: TestContext,
  { host = "127.0.0.1", ...options }: SMTPServerOptions & { readonly host?: string } = {},
): Promise<{ readonly port: number; readonly received: readonly Received[] }> {
  const received: Received[] = [];
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    ...renewed,
    onAuth: ({ username, password: candidate }, _, done) =>
      candidate === password ? done(null, { user: username ?? "" }) : done(new Error("The password is wrong.")),
    onData(stream, { envelope, secure, user }, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        received.push({
          from: envelope.mailFrom === false ? "" : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          content: Buffer.concat(chunks).toString("utf8"),
          secure,
          user: user === undefined ? undefined : String(user),
        });
        done();
      });
    },
    ...options,
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => void server.listen(0, host, resolve));
  t.after(() => new Promise<void>((resolve) => server.close(resolve)));
  return { port: (server.server.address() as AddressInfo).port, received };
}

function send(sender: SendMail, signal = new AbortController().signal): Promise<void> {
  return sender(mail, { signal });
}

/** Trusts the certificate of these tests during one test. */
function trustCertificate(t: TestContext): void {
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, renewed.cert]);
  t.after(() => setDefaultCACertificates(before));
}

/** Returns an address of this machine that is no loopback address. Connections to it stay on the machine. */
function otherAddress(): string | undefined {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal)?.address;
}

// This test is first, because the other tests load nodemailer.
test("names the missing package and how to install it", async (t) => {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== "nodemailer") return next(specifier, context);
      throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    },
  });
  t.after(() => hooks.deregister());

  await assert.rejects(
    smtpSender({ url: "smtp://mail.example" }),
    /needs the package nodemailer, which is not installed\. Install it: npm install nodemailer/,
  );
});

test("sends a message over SMTP, with a login and encoded texts", async (t) => {
  const { port, received } = await startServer(t);
  const url = new Secret(`smtp://shop%40example.com@localhost:${port}`);

  await send(await smtpSender({ url, password: new Secret(password) }));

  assert.equal(received.length, 1);
  const [{ from, to, content, user }] = received as [Received];
  assert.deepEqual([from, to, user], ["no-reply@example.com", ["ann@example.com"], "shop@example.com"]);
  const [head, ...rest] = content.split("\r\n\r\n");
  assert.match(head!, /^From: =\?UTF-8\?B\?TMOkZGVu\?= <no-reply@example\.com>\r$/m);
  assert.match(head!, /^Subject: =\?UTF-8\?B\?[\w+/=]+\?=\r$/m);
  assert.equal(
    Buffer.from(rest[1]!.split("\r\n--")[0]!, "base64").toString("utf8"),
    mail.text.replaceAll("\n", "\r\n"),
  );
});

test("sends only to the given address, even if a server could read it as several addresses", async (t) => {
  const recipients: string[] = [];
  const { port, received } = await startServer(t, {
    onRcptTo: ({ address }, _, done) => (recipients.push(address), done()),
  });
  const sender = await smtpSender({ url: `smtp://127.0.0.1:${port}` });
  const to = (address: string): Promise<void> =>
    sender({ ...mail, to: address, text: "a\n.\n..b\n" }, { signal: new AbortController().signal });

  // This test server refuses quoted names with 501.
  for (const odd of [
    '"eve@evil.example x"@example.com',
    '"ann,eve@evil.example"@example.com',
    '"ann> eve@evil.example"@example.com',
  ])
    await assert.rejects(to(odd), /501/);
  await assert.rejects(to("ann@example.com\r\nRCPT TO:<eve@evil.example>"), /address/);
  await assert.rejects(to("ann@example.com,eve@evil.example"), /address/);
  await to("o'brien+shop@example.com");

  assert.deepEqual(recipients, ["o'brien+shop@example.com"]);
  assert.match(received[0]!.content, /\r\n\r\na\r\n\.\r\n\.\.b\r\n/);
});

test("requires TLS for a server that is not on a loopback address, and sends no mail and no password without TLS", async (t) => {
  const host = otherAddress();
  if (host === undefined) return t.skip("this machine has only loopback addresses");
  const users: (string | undefined)[] = [];
  const { port, received } = await startServer(t, {
    host,
    disabledCommands: ["STARTTLS"],
    onAuth: ({ username }, _, done) => (users.push(username), done(null, { user: username ?? "" })),
  });
  const sender = await smtpSender({ url: `smtp://shop@${host}:${port}`, password: new Secret(password) });

  await assert.rejects(send(sender), /STARTTLS/);

  assert.deepEqual([users, received], [[], []]);
});

test("upgrades a connection with STARTTLS, and refuses an untrusted certificate", async (t) => {
  const host = otherAddress();
  if (host === undefined) return t.skip("this machine has only loopback addresses");
  const { port, received } = await startServer(t, { host });
  const sender = await smtpSender({ url: `smtp://shop@${host}:${port}`, password: new Secret(password) });

  await assert.rejects(send(sender), /certificate/);

  assert.deepEqual(received, []);
});

test("connects with TLS if the URL begins with smtps, and refuses an untrusted certificate", async (t) => {
  const { port, received } = await startServer(t, { secure: true });
  const sender = await smtpSender({ url: `smtps://shop@localhost:${port}`, password: new Secret(password) });
  await assert.rejects(send(sender), /certificate/);
  trustCertificate(t);

  await send(sender);

  assert.deepEqual(
    received.map(({ secure, user }) => [secure, user]),
    [[true, "shop"]],
  );
});

test("reports a refusal in the words of the server", async (t) => {
  const { port } = await startServer(t, {
    onRcptTo: (_, __, done) => done(Object.assign(new Error("No such mailbox"), { responseCode: 550 })),
  });

  await assert.rejects(send(await smtpSender({ url: `smtp://127.0.0.1:${port}` })), /550 .*No such mailbox/);
  await assert.rejects(
    send(await smtpSender({ url: `smtp://shop:wrong@127.0.0.1:${port}` })),
    (error: unknown) => error instanceof Error && /535/.test(error.message) && !/wrong@/.test(error.message),
  );
});

test("stops sending at once when the signal aborts, and closes the connection", async (t) => {
  const closed = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    // The server accepts the connection and never sends a greeting.
    socket.resume().on("close", () => closed.resolve());
    opened.resolve();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const stop = new AbortController();
  const sender = await smtpSender({ url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}` });

  const sending = send(sender, stop.signal);
  await opened.promise;
  stop.abort();

  await assert.rejects(sending);
  await closed.promise;
});

test("reads the address of a mail server, and shows no password in a message about a mistake", () => {
  const read = (url: string, own?: string): unknown => {
    const found = readSMTPURL(new Secret(url), own === undefined ? null : new Secret(own));
    if ("mistakes" in found) return found.mistakes.join();
    const { password: secret, ...server } = found.server;
    return { ...server, password: secret?.reveal().toString("utf8") ?? null };
  };

  assert.deepEqual(read("smtp://mail.example"), {
    host: "mail.example",
    port: 587,
    secure: false,
    user: null,
    password: null,
  });
  assert.deepEqual(read("smtps://a%40b:p%2Fw@[::1]:2465"), {
    host: "::1",
    port: 2465,
    secure: true,
    user: "a@b",
    password: "p/w",
  });
  assert.deepEqual(read("smtps://a@mail.example/", "pw"), {
    host: "mail.example",
    port: 465,
    secure: true,
    user: "a",
    password: "pw",
  });
  for (const [url, own, problem] of [
    ["http://mail.example", undefined, /no address of a mail server/],
    ["smtp:mail.example", undefined, /no address of a mail server/],
    ["mail.example", undefined, /no address of a mail server/],
    ["smtp://a:hidden@mail.example", "x", /Keep one/],
    ["smtp://a@mail.example", undefined, /a user and no password/],
    ["smtp://mail.example", "hidden", /a password and no user/],
    ["smtp://a:hid%den@mail.example", undefined, /wrong %-escape/],
    ["smtp://a:b@mail.example/hidden", undefined, /more than a host and a port/],
  ] as const) {
    const said = String(read(url, own));
    assert.match(said, problem);
    assert.doesNotMatch(said, /hidden/);
  }
});
