import { mailFiles, outbox, smtpSender, type Outbox, type SendMail } from "../door/features.ts";
import { defineFeature, type Feature } from "../door/index.ts";
import type { MailSettings } from "./settings/mail-settings.ts";
import type { Settings } from "./settings/settings.ts";

/** The address of the service, for links in mails. */
export interface OwnAddress {
  /** Returns the public address, or the one on which the service listens. */
  read(): string;
  /** Sets the address on which the service listens. */
  listensAt(url: string): void;
}

/** Makes the address of a service. Links are never built from a request. */
export function ownAddress({ publicURL, host, port, tls, basePath }: Settings): OwnAddress {
  const reached = ["0.0.0.0", "::"].includes(host) ? "localhost" : host;
  const name = reached.includes(":") ? `[${reached}]` : reached;
  let own = `${tls === null ? "http" : "https"}://${name}:${port}`;
  return {
    read: () => publicURL ?? own + basePath,
    listensAt(url) {
      own = url;
    },
  };
}

/** Makes the function that sends mails, by the settings. Throws `DeclarationError` if `nodemailer` is missing. */
export async function createSender({ target, password }: MailSettings): Promise<SendMail> {
  if (target.kind === "function") return target.send;
  if (target.kind === "file") return mailFiles(target.folder);
  return smtpSender({ url: target.url, ...(password === null ? {} : { password }) });
}

/** The one outbox of a service, which its features share. */
export interface SharedOutbox {
  /** The outbox for features: the outbox of the config file if there is one, otherwise a built-in one. */
  readonly outbox: Feature<Outbox>;
  /** Returns the features with the outbox, if one of them needs it. */
  addTo(features: readonly Feature[]): readonly Feature[];
}

/**
 * Makes the outbox of a service. The config file may have its own, which is known only after the built-in features are
 * made.
 */
export function sharedOutbox(): SharedOutbox {
  const needs: Feature<Outbox>[] = [];
  const shared = defineFeature({
    name: "shared-outbox",
    needs,
    setUp: (host) => ({ offer: host.use(needs[0]!) }),
  });
  return {
    outbox: shared,
    addTo(features) {
      if (!features.some((each) => each.needs.includes(shared))) return features;
      const own = features.find(isOutbox);
      needs.splice(0, needs.length, own ?? outbox());
      return own === undefined ? [...features, shared, needs[0]!] : [...features, shared];
    },
  };
}

/**
 * Returns true for the outbox. No other feature can have this name, because the start refuses two features with the
 * same name.
 */
function isOutbox(feature: Feature): feature is Feature<Outbox> {
  return feature.name === "outbox";
}
