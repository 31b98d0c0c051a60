import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { createServer, type AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { test, type TestContext } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { JobError, readSMTPURL, smtpSender, type Mail, type SendMail } from "../../src/door/features.ts";
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
  for (const odd of ['"eve@evil.example x"@example.com', '"ann,eve@evil.example"@example.com'])
    await assert.rejects(to(odd), /501/);
  await assert.rejects(to('"ann> eve@evil.example"@example.com'), /address/);
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

test("uses STARTTLS to a loopback address if the server offers it, without checking the certificate", async (t) => {
  const { port, received } = await startServer(t, { allowInsecureAuth: false });

  for (const host of ["127.0.0.1", "localhost"])
    await send(await smtpSender({ url: `smtp://shop@${host}:${port}`, password: new Secret(password) }));

  assert.deepEqual(
    received.map(({ secure, user }) => [secure, user]),
    [
      [true, "shop"],
      [true, "shop"],
    ],
  );
});

/**
 * A mail server that answers each command with a line of `answers`, if it has one, and otherwise as a server that
 * accepts all.
 */
async function startScript(t: TestContext, answers: Readonly<Record<string, string | null>>): Promise<number> {
  const server = createServer((socket) => {
    let isData = false;
    const say = (step: string, usual: string): void => {
      const line = answers[step] === undefined ? usual : answers[step];
      if (line === null) socket.destroy();
      else if (line !== "") socket.write(`${line}\r\n`);
    };
    say("greeting", "220 here");
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      const text = chunk.toString("latin1");
      if (isData) {
        if (!text.endsWith("\r\n.\r\n")) return;
        isData = false;
        return say("dot", "250 ok");
      }
      for (const line of text.split("\r\n").filter((each) => each !== "")) {
        const command = line.slice(0, 4);
        if (command === "DATA" && (answers["DATA"] ?? "354").startsWith("3")) isData = true;
        say(command, command === "DATA" ? "354 go on" : command === "EHLO" ? "250-here\r\n250 AUTH PLAIN" : "250 ok");
      }
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

for (const [title, answers, expected] of [
  ["550 to RCPT", { RCPT: "550 5.1.1 no such user" }, "never"],
  ["553 to MAIL", { MAIL: "553 5.1.8 not from you" }, "never"],
  ["554 to DATA", { DATA: "554 5.5.1 no recipients" }, "never"],
  ["554 to the whole mail", { dot: "554 5.7.1 spam" }, "never"],
  ["451 to RCPT", { RCPT: "451 4.7.1 grey" }, "soon"],
  ["452 to the whole mail", { dot: "452 4.3.1 full" }, "soon"],
  ["554 as the greeting", { greeting: "554 go away" }, "soon"],
  ["535 to AUTH", { AUTH: "535 5.7.8 wrong" }, "soon"],
  ["421 to the whole mail", { dot: "421 4.3.2 stopping" }, "soon"],
  ["no answer to the whole mail", { dot: null }, "late"],
  ["no answer to RCPT", { RCPT: null }, "soon"],
] as const)
  test(`decides about the next try after ${title}: ${expected}`, async (t) => {
    const port = await startScript(t, answers);
    const sender = await smtpSender({ url: `smtp://shop@127.0.0.1:${port}`, password: new Secret(password) });
    let whole = 0;
    const handedOver = (): void => void whole++;

    const error: unknown = await sender(mail, { signal: new AbortController().signal, handedOver }).catch((one) => one);

    assert.ok(error instanceof Error);
    assert.equal(error instanceof JobError ? error.retry : "soon", expected, error.message);
    assert.equal(whole, "dot" in answers ? 1 : 0);
  });

test("waits for the answer to a whole mail until the signal aborts", async (t) => {
  const port = await startScript(t, { dot: "" });
  const sender = await smtpSender({ url: `smtp://127.0.0.1:${port}` });
  const stop = new AbortController();
  const whole = Promise.withResolvers<void>();

  const sending = sender(mail, { signal: stop.signal, handedOver: whole.resolve });
  await whole.promise;
  stop.abort();

  await assert.rejects(sending, (error: unknown) => error instanceof JobError && error.retry === "late");
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
