import { aFunction, isText, seen, unseen } from "../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../core/checking/options.ts";
import { messageOfThrown } from "../../core/checking/thrown.ts";
import { seriesOf } from "../../core/measurement.ts";
import { defineFeature, type Feature } from "../../feature/feature.ts";
import { isMailbox, isReserved } from "../../resource/kinds/mailbox.ts";
import type { JSONValue } from "../../store/store.ts";
import { JobError, type Outbox } from "../outbox/contract.ts";
import { readSender } from "./address.ts";
import type { Composed, Mail, Mailer, MailKind, QueueMail, SendMail } from "./contract.ts";
import { templateMistakes, createTemplates, type TemplatesByLanguage } from "./templates.ts";

/** Options of `mail()`: the sender, and the texts. */
export interface MailOptions {
  /** Sends a mail: `mailFiles(…)`, `smtpSender(…)`, or a custom function for a provider's API. */
  readonly send: SendMail;
  /** The sender of all mails: `no-reply@example.com` or `Example <no-reply@example.com>`. */
  readonly from: string;
  /**
   * The public address of the service, for links. Give a function if the address is known only after the service
   * listens.
   */
  readonly publicURL: string | (() => string);
  /** The name of the service in mails. Default: the name of the service. */
  readonly title?: string;
  /** The language of a mail without `language`. Default: `en`. There are built-in templates for `en` and `de`. */
  readonly language?: string;
  /** Templates that replace built-in ones or add others, by language and name. */
  readonly templates?: TemplatesByLanguage;
}

const outcomes = ["sent", "dropped", "failed"] as const;

/**
 * Sends mails of other features through the outbox, never within a request. The transaction of an event also queues its
 * mail, so each committed event has its mail, and a mail server that hangs delays no response. A mail is composed when
 * it is sent. So the outbox contains no texts, links or codes of mails.
 *
 * @example
 * ```ts
 * import { mail, mailFiles, outbox } from "latchkey/features";
 *
 * export const events = outbox();
 * export const mails = mail(events, {
 *   send: mailFiles("mails"),
 *   from: "Example <no-reply@example.com>",
 *   publicURL: "https://api.example",
 * });
 * ```
 */
export function mail(outbox: Feature<Outbox>, options: MailOptions): Feature<Mailer> {
  return defineFeature({
    name: "mail",
    needs: [outbox],
    setUp(host) {
      requireOptions(options, checks, { more: templateMistakes(options.templates) });
      const { send, from, publicURL, title = host.name, language = "en", templates = {} } = options;
      const texts = createTemplates(templates, language);
      const counts: Record<(typeof outcomes)[number], number> = { sent: 0, dropped: 0, failed: 0 };

      function buildMail(composed: Composed, id: number): Mail {
        if (!isMailbox(composed.to)) throw new Error("A mail has a recipient that is not an address.");
        return { id: String(id), from, to: composed.to, ...texts.fill(composed, title), at: host.now() };
      }

      function kind<A extends JSONValue>({ name, compose }: MailKind<A>): QueueMail<A> {
        const queue = host.use(outbox).worker<A>({
          name: `mail-${name}`,
          yieldsAfterSeconds: 1,
          async run({ id, about }, { store, signal, handedOver }) {
            const composed = await compose(about, { store, now: host.now() });
            if (composed === null || isReserved(composed.to)) {
              counts.dropped++;
              return;
            }
            try {
              await send(buildMail(composed, id), { signal, handedOver });
              counts.sent++;
            } catch (error) {
              counts.failed++;
              throw withoutSecrets(error, composed);
            }
          },
        });
        return (about, now) => queue(about, { now });
      }

      const offer: Mailer = {
        kind,
        get publicURL() {
          return withoutEnd(typeof publicURL === "string" ? publicURL : publicURL(), host.basePath);
        },
      };
      return {
        offer,
        measure: () => [
          {
            name: "latchkey_mails_total",
            help: "Tries to send a mail; dropped: no mail was needed any more, or no mailbox has the address; failed: the try failed.",
            type: "counter",
            samples: outcomes.map((outcome) => [seriesOf("latchkey_mails_total", { outcome }), counts[outcome]]),
          },
        ],
      };
    },
  });
}

/** Returns the public address without its slashes and its base path at the end. */
function withoutEnd(url: string, basePath: string): string {
  let trimmed = url;
  while (trimmed.endsWith("/")) trimmed = trimmed.slice(0, -1);
  return basePath !== "" && trimmed.endsWith(basePath) ? trimmed.slice(0, -basePath.length) : trimmed;
}

/**
 * Removes the link and the code from an error. A mail server may repeat a part of the mail in its refusal, and the
 * outbox stores the error.
 */
function withoutSecrets(error: unknown, { values }: Composed): Error {
  const secrets = ["link", "code"].flatMap((name) => values[name] ?? []);
  const tokens = secrets.flatMap((secret) => [secret, ...(URL.parse(secret)?.searchParams.values() ?? [])]);
  const line = tokens
    .filter((each) => each !== "")
    .reduce((text, each) => text.replaceAll(each, "[removed]"), messageOfThrown(error));
  return error instanceof JobError ? new JobError(line, { retry: error.retry }) : new Error(line);
}

const checks: ChecksOf<MailOptions> = {
  send: aFunction,
  from: unseen((value) =>
    isText(value) && readSender(value) !== null
      ? null
      : "it has to be an address, like no-reply@example.com or Example <no-reply@example.com>",
  ),
  publicURL: unseen((value) =>
    typeof value === "function" || (isText(value) && ["http:", "https:"].includes(URL.parse(value)?.protocol ?? ""))
      ? null
      : "it has to be the URL of the service, like https://api.example, or a function that returns it",
  ),
  title: (value) => (value === undefined || (isText(value) && value !== "") ? null : "it has to be a text"),
  language: seen((value) =>
    value === undefined || (isText(value) && /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(value))
      ? null
      : "it has to be a language, like en or pt-BR",
  ),
  templates: () => null,
};
