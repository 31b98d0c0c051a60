import { readSender, type SendMail } from "../../door/features.ts";
import { Secret } from "../../door/index.ts";
import { filePath, choice, right, shown, wrong, type Parsed } from "./values.ts";

/** The destination of mails: a mail server, a folder, or a function of the config file. */
export type MailTarget =
  | { readonly kind: "function"; readonly send: SendMail }
  | { readonly kind: "smtp"; readonly url: Secret }
  | { readonly kind: "file"; readonly folder: string };

/** How mails are sent. */
export interface MailSettings {
  readonly target: MailTarget;
  /** The password for the mail server. Null if it is in the URL, or if there is none. */
  readonly password: Secret | null;
  /** The sender: an address, or a name with an address. */
  readonly from: string;
}

/** The settings of mail and of sign-ups: a part of the table of settings. */
export const mailSettings = {
  mailURL: {
    name: "LATCHKEY_MAIL_URL",
    default: null,
    parse: mailTarget,
    meaning:
      "`smtp://USER@HOST:587` or `smtps://USER@HOST` sends mails, with the package `nodemailer`. `file:DIRECTORY` writes each one as an `.eml` file, for development.",
  },
  mailPasswordFile: {
    name: "LATCHKEY_MAIL_PASSWORD_FILE",
    default: null,
    parse: filePath,
    meaning: "The file of the password for the mail server, if it is not in the URL. Not readable by everyone.",
  },
  mailFrom: {
    name: "LATCHKEY_MAIL_FROM",
    default: null,
    parse: mailSender,
    meaning:
      "The sender of mails: `no-reply@example.com` or `Example <no-reply@example.com>`. Required with `LATCHKEY_MAIL_URL`.",
  },
  registration: {
    name: "LATCHKEY_REGISTRATION",
    default: "closed",
    parse: choice("closed", "open", "verified"),
    meaning:
      "`closed`: administrators create users. `open`: `POST /users` without credentials creates a user at once. `verified`: it sends a mail, and the user is created when the address is confirmed. Needs `LATCHKEY_MAIL_URL`.",
  },
  loginCodes: {
    name: "LATCHKEY_LOGIN_CODES",
    default: "off",
    parse: choice("on", "off"),
    meaning: "`on`: users may log in with a code or a link sent by mail, if mail is on.",
  },
} as const;

/** Does not show an invalid value, which may contain a password. */
function mailTarget(text: string): Parsed<MailTarget> {
  if (text.startsWith("file:")) {
    const folder = text.slice("file:".length).replace(/^\/\/(?=\/)/, "");
    const isFolder = folder.trim() !== "" && !folder.startsWith("//") && "value" in filePath(folder);
    return isFolder
      ? right({ kind: "file", folder })
      : wrong("names no folder. Write file:mails or file:/var/tmp/mails.");
  }
  return /^smtps?:\/\/[^\s\\]+$/.test(text)
    ? right({ kind: "smtp", url: new Secret(text) })
    : wrong("names no mail server. Write smtp://USER:PASSWORD@HOST:587, smtps://USER:PASSWORD@HOST or file:DIRECTORY.");
}

function mailSender(text: string): Parsed<string> {
  return readSender(text) === null
    ? wrong(`is ${shown(text)}. Write an address, like no-reply@example.com or Example <no-reply@example.com>.`)
    : right(text);
}
