import { html, JobError, readSender, readSMTPURL } from "../door/features.ts";
import { createSender } from "./mail.ts";
import type { MailSettings } from "./settings/mail-settings.ts";

/** How long a test mail may take, in milliseconds. */
const TIMEOUT_MS = 30_000;

/** The result of a test mail. */
export type TestMailOutcome =
  | { readonly kind: "sent"; readonly place: string }
  | { readonly kind: "refused"; readonly place: string; readonly reason: string };

/**
 * Sends a test mail at once, without the outbox. Returns the mail server or the folder, and its refusal in its own
 * words. Throws `DeclarationError` if `nodemailer` is missing. `now` in milliseconds since the epoch.
 */
export async function sendTestMail(settings: MailSettings, to: string, now: number): Promise<TestMailOutcome> {
  const place = describePlace(settings);
  const send = await createSender(settings);
  const text = "This is a test mail of Latchkey. Its settings of mail work.";
  const subject = "Test mail of Latchkey";
  const mail = {
    id: `test-${now}`,
    from: settings.from,
    to,
    subject,
    text: `${text}\n`,
    html: `${String(html`<p>${text}</p>`)}\n`,
    at: now,
  };
  try {
    await send(mail, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return { kind: "sent", place };
  } catch (error) {
    // The error of nodemailer is the cause of an error for the outbox.
    return { kind: "refused", place, reason: describeFailure(error instanceof JobError ? error.cause : error) };
  }
}

/** Returns true for one address, without a name. */
export function isAddress(text: string): boolean {
  const sender = readSender(text);
  return sender !== null && sender.address === text;
}

function describePlace({ target, password }: MailSettings): string {
  if (target.kind === "function") return "the function of the config file";
  if (target.kind === "file") return `the folder ${target.folder}`;
  const read = readSMTPURL(target.url, password);
  if ("mistakes" in read) return "the mail server";
  const { host, port, secure } = read.server;
  return `${host.includes(":") ? `[${host}]` : host}:${port}${secure ? " (TLS)" : ""}`;
}

/** Describes a failure: what the server said, or why it cannot be reached. */
function describeFailure(error: unknown): string {
  const { code = "", response = "" } = error instanceof Error ? (error as { code?: unknown; response?: unknown }) : {};
  const reply = typeof response === "string" && response !== "" ? `: ${response}` : "";
  switch (code) {
    case "EAUTH":
      return `The server refused the login${reply}`;
    case "EENVELOPE":
    case "EMESSAGE":
      return `The server refused the mail${reply}`;
    case "ETLS":
      return "The server offers no STARTTLS, or the connection could not be encrypted. Only a loopback address is allowed without it";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "The name of the server is unknown";
    case "ECONNREFUSED":
      return "The server refused the connection. Check the port";
    case "ETIMEDOUT":
    case "ABORT_ERR":
      return "The server did not answer in time. Check the host, the port and the firewall";
    default:
      return error instanceof Error ? error.message : String(error);
  }
}
