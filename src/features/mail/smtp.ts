import { once } from "node:events";
import { connect, isIP, type Socket } from "node:net";
import type * as API from "nodemailer";
import { DeclarationError } from "../../core/checking/declaration-error.ts";
import { isObject, optional, unseen, type ValueCheck } from "../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../core/checking/options.ts";
import { messageOfThrown } from "../../core/checking/thrown.ts";
import { Secret } from "../../core/crypto/secret.ts";
import { JobError } from "../outbox/contract.ts";
import { readSender } from "./address.ts";
import type { Mail, SendMail, SendMailOptions } from "./contract.ts";
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

/**
 * The longest time until the connection is open, and from then until the greeting, in milliseconds. The outbox limits
 * the whole try.
 */
const TIMEOUT_MS = 20_000;
/**
 * The longest time without a byte from the server, in milliseconds: the wait for the answer to a whole mail (RFC 5321
 * §4.5.3.2.6).
 */
const QUIET_MS = 600_000;
/**
 * The commands whose refusal with 5xx is about this mail (RFC 5321 §4.2.1). A refused greeting or login is about the
 * settings.
 */
const ABOUT_THE_MAIL = new Set(["MAIL FROM", "RCPT TO", "DATA"]);

/**
 * Makes a sender for an SMTP server. It needs the package `nodemailer`, which is installed separately. `smtp://`
 * requires STARTTLS. To a loopback address, it uses STARTTLS if the server offers it, and checks no certificate.
 * `smtps://` starts with TLS. Throws `DeclarationError` if an option is wrong or the package is missing.
 *
 * @example
 * ```ts part
 * const password = new Secret(process.env["MAIL_PASSWORD"]!);
 * const send = await smtpSender({ url: "smtp://shop@mail.example:587", password });
 * ```
 */
export async function smtpSender(options: SMTPOptions): Promise<SendMail> {
  requireOptions(options, checks, { of: "smtpSender" });
  const url = typeof options.url === "string" ? new Secret(options.url) : options.url;
  const read = readSMTPURL(url, options.password ?? null);
  if ("mistakes" in read) throw new DeclarationError(read.mistakes.map((mistake) => `smtpSender: url: ${mistake}`));
  const nodemailer = await loadNodemailer();
  return (mail, given) => sendThrough(nodemailer, read.server, mail, given);
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

async function sendThrough(
  nodemailer: Nodemailer,
  server: SMTPServer,
  mail: Mail,
  { signal, handedOver }: SendMailOptions,
): Promise<void> {
  const { host, port, secure, user, password } = server;
  const from = readSender(mail.from);
  if (from === null) throw new Error("The sender of a mail is not an address.");
  const raw = formatMessage(mail);
  const connection = await connected(host, port, signal);
  let isWhole = false;
  const onWhole = (): void => {
    isWhole = true;
    handedOver?.();
  };
  try {
    // Uses the address of the open connection, because the host name could resolve to another address later.
    const isLocal = isLoopback(connection.remoteAddress ?? "");
    const transport = nodemailer.createTransport({
      host,
      port,
      secure,
      connection,
      ...(secure ? {} : isLocal ? { opportunisticTLS: true } : { requireTLS: true }),
      tls: {
        ...(isIP(host) === 0 ? { servername: host } : {}),
        // A server on this machine usually has a certificate that no client can check.
        ...(isLocal && !secure ? { rejectUnauthorized: false } : {}),
      },
      ...(user === null ? {} : { auth: { user, pass: password?.reveal().toString("utf8") ?? "" } }),
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: QUIET_MS,
      logger: listenForEnd(onWhole),
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    await transport.sendMail({ envelope: { from: from.address, to: [mail.to] }, raw, signal });
  } catch (error) {
    throw withRetry(error, isWhole);
  } finally {
    connection.destroy();
  }
}

/**
 * Returns a logger of nodemailer that logs nothing. It calls `onWhole` after the final dot of a mail is written to the
 * connection.
 */
function listenForEnd(onWhole: () => void): Readonly<Record<string, (entry: unknown) => void>> {
  const ignore = (): void => undefined;
  const info = (entry: unknown): void => {
    if (isObject(entry) && entry["tnx"] === "message") onWhole();
  };
  return { level: ignore, trace: ignore, debug: ignore, info, warn: ignore, error: ignore, fatal: ignore };
}

/**
 * Adds to an error whether a further try makes sense: not after a refusal of the mail, and late after a whole mail
 * without an answer.
 */
function withRetry(error: unknown, isWhole: boolean): unknown {
  const { responseCode, command } = error as { readonly responseCode?: unknown; readonly command?: unknown };
  const code = typeof responseCode === "number" ? responseCode : null;
  const message = messageOfThrown(error);
  if (code !== null && code >= 500 && ABOUT_THE_MAIL.has(String(command)))
    return new JobError(message, { retry: "never", cause: error });
  return isWhole && code === null ? new JobError(message, { retry: "late", cause: error }) : error;
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
