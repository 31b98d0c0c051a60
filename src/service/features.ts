import { readFileSync } from "node:fs";
import { groupInvitations, mailbox, verifiedEmail, type AccountsFeature, type MailboxOptions } from "../door/auth.ts";
import { consolePages, documentation, health, mail, metrics, type Mailer, type SendMail } from "../door/features.ts";
import { defineFeature, type Feature } from "../door/index.ts";
import { seriesOf, type MetricFamily } from "../door/ops.ts";
import type { BuiltIn } from "./built-in.ts";
import { mountedItems, mountedOrders } from "./endpoints/orders.ts";
import { wayIn } from "./endpoints/way-in.ts";
import { protectedEndpoint } from "./endpoints/who.ts";
import { createAccounts, builtInLogins, cookieNames, furtherLogins, mailedLogins } from "./logins.ts";
import type { OwnAddress, SharedOutbox } from "./mail.ts";
import type { ConfigFile } from "./settings/config-file/config-file.ts";
import { ConfigError } from "./settings/error.ts";
import type { Settings } from "./settings/settings.ts";

export interface BuiltInOptions {
  readonly settings: Settings;
  readonly config: ConfigFile;
  readonly measured: () => readonly MetricFamily[];
  readonly gather: (() => Promise<string>) | undefined;
  /** Sends mails. Null if mail is off. */
  readonly send: SendMail | null;
  readonly outbox: SharedOutbox;
  readonly address: OwnAddress;
  readonly isForDevelopment: boolean;
}

/** Makes the built-in features from the settings and the config file. */
export function builtInFeatures({
  settings,
  config,
  measured,
  gather,
  send,
  outbox: { outbox },
  address,
  isForDevelopment,
}: BuiltInOptions): BuiltIn {
  const people = createAccounts(settings, config.users);
  const cookies = cookieNames(settings);
  const { title, ...look } = settings.look;
  // The words for a stranger at the start page of a service that has no title yet.
  const described = config.api === undefined ? DESCRIPTION : config.api.description;
  const about = {
    title: TITLE,
    version: "1",
    ...(config.api ?? { license }),
    ...(title === undefined ? {} : { title }),
  };
  const { send: _, links = {}, ...texts } = config.mail ?? {};
  return {
    accounts: people,
    outbox,
    ...mailFeatures(
      people,
      send === null || settings.mail === null
        ? null
        : mail(outbox, { ...texts, send, from: settings.mail.from, publicURL: address.read, title: about.title }),
      links,
    ),
    health: health(),
    metrics: metrics({ families: () => [...measured(), buildInfo], ...(gather === undefined ? {} : { gather }) }),
    documentation: documentation(about),
    console: consolePages({
      ...look,
      title: about.title,
      ...(described === undefined ? {} : { description: described }),
      opensAPI: isForDevelopment,
    }),
    "way-in": wayIn(people, about.title, [cookies.session, cookies.access]),
    orders: defineFeature({
      name: "orders",
      needs: [people],
      setUp: () => ({ offer: null, mounts: [mountedOrders, mountedItems] }),
    }),
    protected: defineFeature({
      name: "protected",
      needs: [people],
      setUp: (host) => ({
        offer: null,
        endpoints: [protectedEndpoint(host.use(people))],
        tags: { protected: "An example of an endpoint that needs credentials." },
      }),
    }),
    ...builtInLogins(settings, people, about.title),
  };
}

/** Returns the features that need mail. All are null if mail is off. */
function mailFeatures(
  people: AccountsFeature,
  mails: Feature<Mailer> | null,
  links: NonNullable<MailboxOptions["links"]>,
): Pick<BuiltIn, "mail" | "mailbox" | "verified-email" | "group-invitations"> {
  if (mails === null) return { mail: null, mailbox: null, "verified-email": null, "group-invitations": null };
  const box = mailbox(people, mails, { links });
  return {
    mail: mails,
    mailbox: box,
    "verified-email": verifiedEmail(people, box),
    "group-invitations": groupInvitations(people, box),
  };
}

/** Returns the features of a service: the enabled built-in ones, and those of the config file. */
export function chosenFeatures(
  settings: Settings,
  builtIn: BuiltIn,
  { without = [], features = [], endpoints = [], api }: ConfigFile,
  shared: SharedOutbox,
): readonly Feature[] {
  const sessions = builtIn["session-login"];
  const title = api?.title ?? TITLE;
  const hasOwnRoot = endpoints.some(({ method, path }) => method === "GET" && path === "/");
  const left = new Set<string>(hasOwnRoot ? [...without, "way-in"] : without);
  const { outbox: _, ...installed } = builtIn;
  const chosen = Object.entries<Feature | null>(installed).filter(([name]) => !left.has(name));
  return shared.addTo([
    ...chosen.flatMap(([, feature]) => feature ?? []),
    ...furtherLogins(settings, { people: builtIn.accounts, sessions, title }).filter(({ name }) => !left.has(name)),
    ...mailedLogins(settings, builtIn).filter(({ name }) => !left.has(name)),
    ...(typeof features === "function" ? requireList(features(builtIn)) : features),
  ]);
}

/** Returns the list that the config file's function `features` made. Throws `ConfigError` if it is not a list. */
function requireList(made: unknown): readonly Feature[] {
  if (Array.isArray(made)) return made as readonly Feature[];
  throw new ConfigError([
    `features in the config file is a function that returns ${made === undefined ? "nothing" : "a value that is not a list"}. It has to return a list, and not a promise: features: ({ accounts }) => [ … ].`,
  ]);
}

/** The title of a service whose config file names none. */
const TITLE = "Latchkey";
const license = { name: "MIT", identifier: "MIT" };
const DESCRIPTION = "A service with users, orders and several ways to log in, for people and for programs.";

const buildInfo = readBuildInfo();

function readBuildInfo(): MetricFamily {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  const labels = { version, node: process.versions.node };
  return {
    name: "latchkey_build_info",
    help: "Always 1; the labels say what runs.",
    type: "gauge",
    together: "max",
    samples: [[seriesOf("latchkey_build_info", labels), 1]],
  };
}
