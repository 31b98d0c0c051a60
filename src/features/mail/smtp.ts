import { once } from "node:events";
import { connect, isIP, type Socket } from "node:net";
import type * as API from "nodemailer";
import { DeclarationError } from "../../core/checking/declaration-error.ts";
import { optional, unseen, type ValueCheck } from "../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../core/checking/options.ts";
import { Secret } from "../../core/crypto/secret.ts";
import { readSender } from "./address.ts";
import type { Mail, SendMail } from "./contract.ts";
import { formatMessage } from "./message.ts";
import { readSMTPURL, type SMTPServer } from "./smtp-url.ts";

/** Options of `smtpSender()`: the mail server. */
export interface SMTPOptions {
  /** `smtp://USER:PASSWORD@HOST:PORT` (default port: 587) or `smtps://…` (465). */
  readonly url: string | Secret;
  /** The password, if the URL contains none. */
  readonly password?: Secret;
}

type Nodemailer = typeof API;

/** The longest time without progress, in milliseconds. The outbox also ends each try after its `timeoutSeconds`. */
const TIMEOUT_MS = 20_000;

/**
 * Makes a sender for an SMTP server. It needs the package `nodemailer`, which is installed separately. `smtp://` requires STARTTLS, except
 * to a loopback address. `smtps://` starts with TLS. Throws `DeclarationError` if an option is wrong or the package is missing.
 *
 * @example
 * ```ts part
 * const send = await smtpSender({ url: "smtp://shop@mail.example:587", password: new Secret(process.env["MAIL_PASSWORD"]!) });
 * ```
 */
export async function smtpSender(options: SMTPOptions): Promise<SendMail> {
  requireOptions(options, checks, { of: "smtpSender" });
  const url = typeof options.url === "string" ? new Secret(options.url) : options.url;
  const read = readSMTPURL(url, options.password ?? null);
  if ("mistakes" in read) throw new DeclarationError(read.mistakes.map((mistake) => `smtpSender: url: ${mistake}`));
  const nodemailer = await loadNodemailer();
  return (mail, { signal }) => sendThrough(nodemailer, read.server, mail, signal);
}

async function loadNodemailer(): Promise<Nodemailer> {
  try {
    return await import("nodemailer");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error;
    throw new DeclarationError(
      ["mail by SMTP needs the package nodemailer, which is not installed. Install it: npm install nodemailer@10"],
      { cause: error },
    );
  }
}

async function sendThrough(nodemailer: Nodemailer, server: SMTPServer, mail: Mail, signal: AbortSignal): Promise<void> {
  const { host, port, secure, user, password } = server;
  const from = readSender(mail.from);
  if (from === null) throw new Error("The sender of a mail is not an address.");
  const raw = formatMessage(mail);
  const connection = await connected(host, port, signal);
  try {
    // Uses the address of the open connection, because the host name could resolve to another address later.
    const isLocal = isLoopback(connection.remoteAddress ?? "");
    const transport = nodemailer.createTransport({
      host,
      port,
      secure,
      connection,
      // A server on this machine usually has a certificate that no client can check.
      ...(secure ? {} : isLocal ? { ignoreTLS: true } : { requireTLS: true }),
      ...(isIP(host) === 0 ? { tls: { servername: host } } : {}),
      ...(user === null ? {} : { auth: { user, pass: password?.reveal().toString("utf8") ?? "" } }),
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    await transport.sendMail({ envelope: { from: from.address, to: [mail.to] }, raw, signal });
  } finally {
    connection.destroy();
  }
}

async function connected(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  const socket = connect({ host, port });
  try {
    await once(socket, "connect", { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function isLoopback(address: string): boolean {
  return address === "::1" || /^(?:::ffff:)?127\./.test(address);
}

const aSecret: ValueCheck = (value) => (value instanceof Secret ? null : "it has to be a Secret");

const checks: ChecksOf<SMTPOptions> = {
  url: unseen((value) =>
    value instanceof Secret || (typeof value === "string" && value !== "")
      ? null
      : "it has to be a text or a Secret, like smtp://shop:PASSWORD@mail.example:587",
  ),
  password: unseen(optional(aSecret)),
};
