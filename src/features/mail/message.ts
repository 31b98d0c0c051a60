import { createHash } from "node:crypto";
import { readSender } from "./address.ts";
import type { Mail } from "./contract.ts";

/**
 * Formats a mail as a message (RFC 5322, MIME), with the plain text as the first part. Throws if an address or the
 * subject could add a header. A part with other characters than ASCII, or with long lines, is encoded in Base64.
 */
export function formatMessage(mail: Mail): string {
  const sender = readSender(mail.from);
  const recipient = readSender(mail.to);
  if (sender === null || recipient === null)
    throw new Error("The sender or the recipient of a mail is not an address.");
  const boundary = `latchkey-${createHash("sha256").update(mail.text).update(mail.html).digest("hex").slice(0, 32)}`;
  return [
    `From: ${sender.name === "" ? sender.address : `${phrase(sender.name)} <${sender.address}>`}`,
    `To: ${recipient.address}`,
    `Subject: ${encodedText(mail.subject)}`,
    `Date: ${new Date(mail.at).toUTCString().replace("GMT", "+0000")}`,
    `Message-ID: ${messageId(mail, sender.address)}`,
    // RFC 3834: prevents automatic answers, for example vacation notices.
    "Auto-Submitted: auto-generated",
    "MIME-Version: 1.0",
    `Content-Type: multipart/alternative; boundary="${boundary}"`,
    "",
    ...formatPart("plain", mail.text, boundary),
    ...formatPart("html", mail.html, boundary),
    `--${boundary}--`,
    "",
  ].join("\r\n");
}

/** Returns the message id. It is the same for each try of a mail, so that mail programs can show the mail once. */
function messageId(mail: Mail, from: string): string {
  const digest = createHash("sha256").update(`${mail.id} ${mail.to} ${mail.subject}`).digest("hex").slice(0, 24);
  const host = from.slice(from.lastIndexOf("@") + 1);
  return `<${digest}@${host}>`;
}

function formatPart(kind: "plain" | "html", content: string, boundary: string): readonly string[] {
  const lines = content.replace(/\n+$/, "").split("\n");
  // RFC 5322 §2.1.1: a line has at most 998 characters.
  const isPlain = lines.every((line) => line.length <= 998 && isASCII(line));
  const encoded = isPlain ? lines : base64Lines(content);
  return [
    `--${boundary}`,
    `Content-Type: text/${kind}; charset=utf-8`,
    `Content-Transfer-Encoding: ${isPlain ? "7bit" : "base64"}`,
    "",
    ...encoded,
    "",
  ];
}

function isASCII(text: string): boolean {
  return /^[\x20-\x7e\t]*$/.test(text);
}

function base64Lines(content: string): readonly string[] {
  const text = Buffer.from(content.replaceAll("\n", "\r\n")).toString("base64");
  return text.match(/.{1,76}/g) ?? [];
}

/**
 * Formats a text for a header. A text that is not ASCII becomes encoded words (RFC 2047). Throws if the text has
 * control characters.
 */
function encodedText(text: string): string {
  if (/[\p{Cc}\u2028\u2029]/u.test(text)) throw new Error("A header of a mail has more than one line.");
  // Also encodes an ASCII text that looks like an encoded word, because mail programs would decode it.
  if (isASCII(text) && !text.includes("=?")) return text;
  const words: string[] = [];
  let word = "";
  for (const character of text) {
    if (Buffer.byteLength(word + character) > 45) {
      words.push(word);
      word = "";
    }
    word += character;
  }
  words.push(word);
  return words.map((each) => `=?UTF-8?B?${Buffer.from(each).toString("base64")}?=`).join("\r\n ");
}

/** Formats the name of a sender. `readSender` allows no quotation marks and no backslashes in it. */
function phrase(name: string): string {
  const encoded = encodedText(name);
  return encoded === name ? `"${name}"` : encoded;
}
