import type { Mail, SendMail } from "../../door/features.ts";
import type { Environment } from "../../service/settings/reading.ts";
import type { ConfigFile } from "../../service/system/config-file.ts";
import { onTerminal, createPainter } from "../output.ts";

/** The folder of the project in which mails are written if no setting names a mail server or another folder. */
const FOLDER = "mails";

/** Returns the environment with mail turned on: as the settings say, and otherwise as files in a folder of the project. */
export function withMail(environment: Environment, { settings = {} }: ConfigFile): Environment {
  const isGiven = (name: string, key: keyof typeof settings): boolean =>
    (environment[name] ?? "") !== "" || settings[key] !== undefined;
  // A password without a server is a mistake, which the start reports.
  if (isGiven("LATCHKEY_MAIL_URL", "mailURL") || isGiven("LATCHKEY_MAIL_PASSWORD_FILE", "mailPasswordFile"))
    return environment;
  const from = isGiven("LATCHKEY_MAIL_FROM", "mailFrom") ? {} : { LATCHKEY_MAIL_FROM: "latchkey@localhost" };
  return { ...environment, ...from, LATCHKEY_MAIL_URL: `file:${FOLDER}` };
}

/** Returns a wrapper of a sender that shows each mail: its recipient, its subject, its link and its code. */
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

/** Returns the links and codes of a mail. Each is a line of its text. */
function collectProofs({ text }: Mail): readonly string[] {
  return text.split("\n").filter((line) => /^(?:https?:\/\/\S+|\d{8})$/.test(line));
}
