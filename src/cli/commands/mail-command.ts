import type { Command } from "commander";
import { ConfigError } from "../../service/settings/error.ts";
import { readMail } from "../../service/settings/read-mail.ts";
import { isAddress, sendTestMail } from "../../service/test-mail.ts";
import { CommandFailed, UsageError, show, type Output } from "../output.ts";
import { requireSettings } from "../settings.ts";

/** Adds `latchkey mail …`. */
export function addMailCommands(mail: Command): void {
  mail
    .command("test")
    .description("send a test mail with the settings of mail, and show what the mail server answers")
    .argument("<address>", "the recipient")
    .option("--json", "answer in JSON")
    .action(test);
}

async function test(address: string, { json = false }: Output): Promise<void> {
  if (!isAddress(address))
    throw new UsageError(`${address} is not an email address. Write one such as ann@example.com.`);
  const { config, readings, problems } = await requireSettings("mailURL", "mailPasswordFile", "mailFrom", "publicURL");
  const before = problems.length;
  const settings = readMail(readings, config.mail ?? {}, problems);
  if (problems.length > before) throw new ConfigError(problems.slice(before));
  if (settings === null)
    throw new CommandFailed("No mail server is configured. Set LATCHKEY_MAIL_URL and LATCHKEY_MAIL_FROM.", "mail_off");
  const outcome = await sendTestMail(settings, address, Date.now());
  if (outcome.kind === "refused")
    throw new CommandFailed(`No mail was sent through ${outcome.place}. ${outcome.reason}.`, "mail_refused");
  const { place } = outcome;
  const { from } = settings;
  const sentence =
    settings.target.kind === "file"
      ? `A test mail to ${address} was written to ${place}.`
      : `A test mail to ${address} was sent through ${place}, from ${from}. Look into the mailbox and its spam folder.`;
  show(json, { to: address, from, place }, sentence);
}
