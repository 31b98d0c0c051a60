import type { Mail, SendMail } from "../../door/features.ts";
import type { ConfigFile } from "../../service/settings/config-file/config-file.ts";
import type { Environment } from "../../service/settings/reading.ts";
import { onTerminal, createPainter } from "../output.ts";

/** The folder of the project for mails if the settings name no mail server and no other folder. */
const FOLDER = "mails";

/**
 * Returns the environment with mail turned on. If the settings do not configure mail, mails become files in a folder of
 * the project.
 */
export function withMail(environment: Environment, { settings = {} }: ConfigFile): Environment {
  const isGiven = (name: string, key: keyof typeof settings): boolean =>
    (environment[name] ?? "") !== "" || settings[key] !== undefined;
  // A password without a server is a mistake. It is not hidden here, so that the start reports it.
  if (isGiven("LATCHKEY_MAIL_URL", "mailURL") || isGiven("LATCHKEY_MAIL_PASSWORD_FILE", "mailPasswordFile"))
    return environment;
  const from = isGiven("LATCHKEY_MAIL_FROM", "mailFrom") ? {} : { LATCHKEY_MAIL_FROM: "latchkey@localhost" };
  return { ...environment, ...from, LATCHKEY_MAIL_URL: `file:${FOLDER}` };
}

/**
 * Returns a function that wraps a sender of mails. The new sender also shows the recipient, the subject, the links and
 * the codes of each mail.
 */
export function showingMails(stream: NodeJS.WriteStream): (send: SendMail) => SendMail {
  const paint = createPainter(stream);
  return (send) => async (mail, options) => {
    await send(mail, options);
    stream.write(onTerminal(`${[paint("cyan", formatTitle(mail)), ...collectProofs(mail)].join("\n  ")}\n`));
  };
}

function formatTitle({ to, subject }: Mail): string {
  return `Mail to ${to}: ${subject}`;
}

/** Returns the links and codes of a mail. Each of them is a line of its text. */
function collectProofs({ text }: Mail): readonly string[] {
  return text.split("\n").filter((line) => /^(?:https?:\/\/\S+|\d{8})$/.test(line));
}
