import type { SendMail, TemplatesByLanguage } from "../../../door/features.ts";
import { nearest, shownName } from "../../../door/resources.ts";
import { isObject } from "../../objects.ts";

/** The part of the config file about mail. */
export interface MailConfig {
  /** Sends a mail, instead of `LATCHKEY_MAIL_URL`: through the API of a provider. */
  readonly send?: SendMail;
  /** The language of mails. Default: `en`. Built in: `en` and `de`. */
  readonly language?: string;
  /** Templates that replace built-in ones or add others, by language and name. */
  readonly templates?: TemplatesByLanguage;
  /**
   * URLs of your pages that the links in mails lead to, by purpose, with `{token}`. Default: the pages of the console.
   */
  readonly links?: Readonly<Record<string, string>>;
}

const members: readonly (keyof MailConfig)[] = ["send", "language", "templates", "links"];

/** Returns the mistakes in the part about mail. The features of mail check the other members. */
export function problemsOfMail(mail: unknown): readonly string[] {
  if (mail === undefined) return [];
  if (!isObject(mail)) return ['mail in the config file is not an object. Write mail: { language: "de" }.'];
  const unknown = Object.keys(mail).filter((name) => !members.some((member) => member === name));
  return [
    ...unknown.map(
      (name) => `mail.${shownName(name)} in the config file is unknown. The nearest is ${nearest(name, members)}.`,
    ),
    ...(mail["send"] === undefined || typeof mail["send"] === "function"
      ? []
      : ["mail.send in the config file is not a function. Write mail: { async send(mail, { signal }) { … } }."]),
  ];
}
