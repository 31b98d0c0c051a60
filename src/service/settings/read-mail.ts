import { readFileSync, statSync } from "node:fs";
import { readSMTPURL } from "../../door/features.ts";
import { Secret } from "../../door/index.ts";
import type { MailConfig } from "./config-file/mail-config.ts";
import { readErrorCode } from "./error.ts";
import type { MailSettings, MailTarget } from "./mail-settings.ts";
import { checkKeyIsClosed } from "./open-key.ts";
import type { Readings } from "./reading.ts";

/**
 * Reads all settings of mail, the password file, and `mail` in the config file. Returns null if mail is off or a
 * setting is wrong.
 */
export function readMail(readings: Readings, { send }: MailConfig, problems: string[]): MailSettings | null {
  const { mailURL, mailPasswordFile, mailFrom, publicURL, registration } = readings;
  if (mailURL.isWrong) {
    // All mistakes are reported at once, so the password file is checked too.
    if (send === undefined) readPasswordFile(readings, problems);
    return null;
  }
  if (mailURL.value !== null && send !== undefined)
    problems.push(`${mailURL.label} is set, and the config file has mail.send. Keep one of them.`);
  const target: MailTarget | null = send === undefined ? mailURL.value : { kind: "function", send };
  if (target === null) {
    if (registration.value === "verified")
      problems.push(
        `${registration.label} is verified, and mail is off. Give ${mailURL.label} and ${mailFrom.label}: file:mails writes mails into a folder.`,
      );
    problems.push(
      ...[mailPasswordFile, mailFrom]
        .filter(({ from }) => from !== null)
        .map(({ label }) => `${label} is set without ${mailURL.label}. Set both, or remove this setting.`),
    );
    return null;
  }
  const mailLabel = send === undefined ? mailURL.label : "mail.send in the config file";
  if (mailFrom.value === null && !mailFrom.isWrong)
    problems.push(`${mailFrom.label} is missing. Set it to the sender of mails, because ${mailLabel} is set.`);
  if (target.kind !== "file" && publicURL.value === null && !publicURL.isWrong)
    problems.push(
      `${publicURL.label} is missing. Set it to the public address of the service, for the links in mails, because ${mailLabel} is set.`,
    );
  const password = readPassword(readings, target, problems);
  if (target.kind === "smtp") {
    const read = readSMTPURL(target.url, password);
    if ("mistakes" in read) problems.push(...read.mistakes.map((mistake) => `${mailURL.label}: ${mistake}.`));
  }
  return mailFrom.value === null ? null : { target, password, from: mailFrom.value };
}

function readPassword(readings: Readings, target: MailTarget, problems: string[]): Secret | null {
  const { mailURL, mailPasswordFile } = readings;
  const { value: file, label } = mailPasswordFile;
  if (file === null) return null;
  if (target.kind !== "smtp") {
    problems.push(`${label} is set, but ${mailURL.label} names no mail server, so no password is needed. Remove it.`);
    return null;
  }
  return readPasswordFile(readings, problems);
}

/** Reads the password file. Returns null if there is none, or if it is wrong. */
function readPasswordFile({ mailPasswordFile }: Readings, problems: string[]): Secret | null {
  const { value: file, label } = mailPasswordFile;
  if (file === null) return null;
  problems.push(...checkKeyIsClosed(mailPasswordFile));
  try {
    if (!statSync(file).isFile()) throw Object.assign(new Error("no file"), { code: "no file" });
    const password = readFileSync(file, "utf8").replace(/\r?\n$/, "");
    if (password !== "" && password.length <= 4096 && !/[\p{Cc}]/u.test(password)) return new Secret(password);
    problems.push(`${label}: ${file} is not a password: it has to be one line of 1 to 4096 characters.`);
  } catch (error) {
    problems.push(
      `${label}: ${file} cannot be read (${readErrorCode(error)}). Give this process permission to read it.`,
    );
  }
  return null;
}
