import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { text } from "../../core/checking/members.ts";
import { requireArguments } from "../../core/checking/options.ts";
import type { Mail, SendMail } from "./contract.ts";
import { formatMessage } from "./message.ts";

/**
 * Writes each mail to an `.eml` file instead of sending it, for development and tests. Makes the folder if it is
 * missing. A file is complete when it appears. Only its owner can read it (mode 0600), because a link in it may open an
 * account. Its name begins with the time.
 *
 * @example
 * ```ts
 * import { mailFiles } from "latchkey/features";
 *
 * export const send = mailFiles("mails");
 * ```
 */
export function mailFiles(folder: string): SendMail {
  requireArguments("mailFiles", arguments, { folder: text });
  return async (mail, { signal }) => {
    signal.throwIfAborted();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = makeFileName(mail);
    const unfinished = path.join(folder, `.${name}.${randomUUID()}`);
    try {
      const file = await open(unfinished, "wx", 0o600);
      try {
        await file.writeFile(formatMessage(mail));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(unfinished, path.join(folder, name));
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
  };
}

function makeFileName({ at, id }: Mail): string {
  const time = new Date(at).toISOString().replaceAll(":", "-");
  // The random part is there because several services may use one folder.
  return `${time}-${id.replaceAll(/[^\w.-]/g, "_")}-${randomUUID().slice(0, 8)}.eml`;
}
