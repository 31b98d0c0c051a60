import { DeclarationError } from "../../../core/checking/declaration-error.ts";
import { isObject, isText, optional, shown } from "../../../core/checking/members.ts";
import { suggestion } from "../../../core/checking/nearest.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { counter } from "../../../core/measurement.ts";
import { defineFeature, type AccountPages, type Feature } from "../../../feature/feature.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { Mailer } from "../../mail/contract.ts";
import { PRUNE_SECONDS } from "../people/options.ts";
import type { AccountsFeature } from "../people/people.ts";
import type { Account } from "../records/accounts.ts";
import { makeComposer } from "./composing.ts";
import type { GivenProof, LinkPage, Mailbox, Purpose, PurposeDeclaration } from "./contract.ts";
import { confirmation, enrolment, enrolmentStep } from "./enrolment-step.ts";
import { dueCounts, mailCountsCollection } from "./limits.ts";
import { dueProofs, endedWithPassword, endUserProofs, mailProofsCollection } from "./proofs.ts";
import { makePurpose, redeem, requireProof, type PurposeParts } from "./purposes.ts";
import { makeProofTokens } from "./tokens.ts";

/** Options of `mailbox()`. */
export interface MailboxOptions {
  /**
   * URLs of your pages that the links lead to, by purpose. The token replaces `{token}`: `{ reset:
   * "https://app.example/reset?token={token}" }`. Default: the pages of this service.
   */
  readonly links?: Readonly<Record<string, string>>;
}

const checks: ChecksOf<MailboxOptions> = {
  links: optional((value) => {
    const cure =
      'it has to be an object of URLs with {token}, like { reset: "https://app.example/reset?token={token}" }';
    if (!isObject(value)) return cure;
    const wrong = Object.entries(value).find(([, url]) => !isText(url) || !url.includes("{token}") || !isWebURL(url));
    return wrong === undefined ? null : `${wrong[0]} is ${shown(wrong[1])}; ${cure}`;
  }),
};

function isWebURL(url: string): boolean {
  return ["http:", "https:"].includes(URL.parse(url)?.protocol ?? "");
}

/**
 * Links and codes in mails that prove that the caller reads a mailbox. Password resets, login codes, sign-ups and
 * invitations use them. Links and codes are derived from the service's secret when a mail is sent, so neither the
 * database nor the outbox contains them. Limits: a mail a minute and five an hour for each mailbox and purpose, ten
 * mails a minute for each client address, sixty for its /48, and five tries of a code for each network.
 *
 * @example
 * ```ts
 * import { accounts } from "latchkey";
 * import { mailbox } from "latchkey/auth";
 * import { mail, mailFiles, outbox } from "latchkey/features";
 *
 * const people = accounts();
 * const from = "no-reply@example.com";
 * const mails = mail(outbox(), { send: mailFiles("mails"), from, publicURL: "https://example.com" });
 * export const box = mailbox(people, mails, { links: { reset: "https://app.example/reset?token={token}" } });
 * ```
 */
export function mailbox(
  people: AccountsFeature,
  mail: Feature<Mailer>,
  options: MailboxOptions = {},
): Feature<Mailbox> {
  return defineFeature({
    name: "mailbox",
    needs: [people, mail],
    setUp(host) {
      requireOptions(options, checks);
      const { links = {} } = options;
      const { accounts, factors, endings } = host.use(people);
      const mailer = host.use(mail);
      const declarations = new Map<string, PurposeDeclaration>();
      const tokens = makeProofTokens(host.secret);
      const resolvePath = (path: LinkPage): string =>
        isPage(path) ? (host.service().pages?.[path] ?? `/${path}`) : path;
      const composer = makeComposer({
        tokens,
        declarations,
        formatLink: ({ name, path, query }, token) => {
          const page = `${mailer.publicURL}${host.basePath}${resolvePath(path)}`;
          return (links[name] ?? `${page}?${query === undefined ? "" : `${query}&`}token={token}`).replace(
            "{token}",
            token,
          );
        },
      });
      const parts: PurposeParts = {
        store: host.store,
        accounts,
        tokens,
        key: host.secret.deriveOldest("mailbox"),
        queue: mailer.kind({ name: "mailbox", compose: composer.compose }),
      };
      endings.registerTable("password", mailProofsCollection, endedWithPassword);
      function purpose(declaration: PurposeDeclaration): Purpose {
        if (declarations.has(declaration.name))
          throw new DeclarationError([`two purposes of mails are called ${declaration.name}; rename one`]);
        declarations.set(declaration.name, declaration);
        return makePurpose(parts, declaration);
      }
      factors.registerMailStep(
        enrolmentStep({
          store: host.store,
          accounts,
          purposes: { enrolment: purpose(enrolment), confirmation: purpose(confirmation) },
        }),
      );
      const getDeclaration = ({ name }: Purpose): PurposeDeclaration => declarations.get(name)!;
      return {
        offer: {
          purpose,
          redeem: (context: Context, purposes: readonly Purpose[], givenProof: GivenProof) =>
            requireProof(redeem(parts, purposes.map(getDeclaration), context, givenProof)),
          end: ({ id }: Pick<Account, "id">) => [endUserProofs(id)],
        },
        collections: [mailProofsCollection, mailCountsCollection],
        mistakes: () => Object.keys(links).flatMap((name) => unknownPurpose(name, declarations)),
        start() {
          const dead = host.service().pages === null ? [...declarations.values()].filter(needsPage) : [];
          const names = dead.map(({ name }) => name).filter((name) => !Object.hasOwn(links, name));
          if (names.length === 0) return;
          const message = `The links in mails lead to pages that no feature serves (${names.join(", ")}). Add the console, or name your own pages in the option links: { ${names[0]}: "https://app.example/page?token={token}" }.`;
          host.observe({ kind: "notice", level: "error", message });
        },
        upkeep: [{ everySeconds: PRUNE_SECONDS, due: (now) => [dueProofs(now), dueCounts(now)] }],
        measure: () => [
          counter(
            "latchkey_expired_mails_total",
            "Mails that were not sent, because their link expired before the delivery.",
            composer.expired(),
          ),
        ],
      };
    },
  });
}

/** Returns true for a purpose whose links lead to a page of accounts. */
function needsPage({ path }: PurposeDeclaration): boolean {
  return path !== undefined && isPage(path);
}

function isPage(path: LinkPage): path is keyof AccountPages {
  return !path.startsWith("/");
}

function unknownPurpose(name: string, declarations: ReadonlyMap<string, unknown>): readonly string[] {
  if (declarations.has(name)) return [];
  return [`links names ${name}, and no feature sends such mails${suggestion(name, [...declarations.keys()])}`];
}
