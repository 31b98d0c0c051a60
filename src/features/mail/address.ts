import { isMailbox } from "../../resource/kinds/mailbox.ts";

/** A sender: an address, and perhaps the name that mail programs show. */
export interface Sender {
  /** Empty if the sender has no name. */
  readonly name: string;
  readonly address: string;
}

const NAMED = /^([^<>"\\]*)<([^<>]*)>$/;

/**
 * Parses a sender: `no-reply@example.com` or `Example <no-reply@example.com>`. Returns null for any other text, because
 * it could add recipients or headers.
 */
export function readSender(text: string): Sender | null {
  const named = NAMED.exec(text);
  const name = (named?.[1] ?? "").trim();
  const address = named?.[2] ?? text;
  return isMailbox(address) && isHeaderText(name) ? { name, address } : null;
}

/** Returns true if a text can be in a header: one line without control characters, of at most 200 characters. */
export function isHeaderText(text: string): boolean {
  return text.length <= 200 && text.isWellFormed() && !/[\p{Cc}\u2028\u2029]/u.test(text);
}
