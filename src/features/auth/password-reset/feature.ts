import type { Reply } from "../../../core/call/call.ts";
import { isObject } from "../../../core/checking/members.ts";
import { problem } from "../../../core/problem/problem.ts";
import { defineFeature, type Feature } from "../../../feature/feature.ts";
import { prefersRedirect } from "../../../http/answer/choosing-format.ts";
import { builtInEndpoint } from "../../../http/declarations/endpoint.ts";
import { formType } from "../../../http/formats/form.ts";
import { requireDraft } from "../../../http/mount/writes/drafting.ts";
import type { Context } from "../../../http/request/exchange.ts";
import { boolean, text } from "../../../resource/kinds/fields.ts";
import { defineResource } from "../../../resource/resource.ts";
import { OVERTAKEN } from "../../../store/store.ts";
import {
  mailEndpoint,
  nextField,
  nextPage,
  openPost,
  proofFields,
  redirect,
  requireGivenProof,
  requireOwnForm,
} from "../mailbox/asking.ts";
import type { Mailbox, Purpose } from "../mailbox/contract.ts";
import { requireUnused } from "../mailbox/proofs.ts";
import type { ChangingContract } from "../people/contracts/changing.ts";
import type { AccountsFeature } from "../people/people.ts";

const PATH = "/api/password/reset/";

const newPassword = defineResource({
  name: "new_password",
  plural: "new_passwords",
  fields: {
    ...proofFields,
    password: text({ minLength: 8, maxLength: 256, trim: false }),
    end_keys: boolean({ optional: true, description: "`false`: the API token and the keys stay valid." }),
    next: nextField,
  },
});

/** A form without a password. */
const codeAlone = defineResource({
  name: "reset_code",
  fields: { ...proofFields, end_keys: boolean({ optional: true }), next: nextField },
});

/**
 * Users who forgot their password choose a new one with a link or a code from their mailbox: `/api/password/reset/`.
 * The answer is the same for addresses without an account. A reset ends every login of the account, its API token and
 * its keys, and keeps its second factors.
 *
 * @example
 * ```ts
 * import { accounts, Secret } from "latchkey";
 * import { mailbox, passwordReset } from "latchkey/auth";
 * import { mail, mailFiles, outbox } from "latchkey/features";
 *
 * const people = accounts();
 * const events = outbox();
 * const from = "no-reply@example.com";
 * const mails = mail(events, { send: mailFiles("mails"), from, publicURL: "https://example.com" });
 * const box = mailbox(people, mails);
 * export const features = [people, events, mails, box, passwordReset(people, box)];
 * ```
 */
export function passwordReset(people: AccountsFeature, box: Feature<Mailbox>): Feature {
  return defineFeature({
    name: "password-reset",
    needs: [people, box],
    setUp(host) {
      const { accounts, changing } = host.use(people);
      const purpose = host.use(box).purpose({
        name: "reset",
        linkSeconds: 1800,
        codes: true,
        template: "password_reset",
        path: "reset",
        outlivesPassword: true,
      });
      const tag = "passwords";
      const { ownOrigins } = host;
      return {
        offer: null,
        async findLinkUser({ page, token, call }) {
          const user = page === "reset" ? ((await purpose.find({ call }, { token }))?.user ?? null) : null;
          return user === null ? null : { username: user.username, isNew: false };
        },
        endpoints: [
          mailEndpoint({
            path: PATH,
            summary: "Send a mail to choose a new password",
            tag,
            users: accounts.users,
            purpose,
            host,
          }),
          builtInEndpoint({
            ...openPost,
            path: `${PATH}confirm/`,
            documentation: {
              summary: "Choose a new password with the link or the code of a mail",
              tag,
              request: newPassword,
              responses: {
                204: { description: "The password is set. All logins of the account were revoked." },
                303: {
                  description: "The same for a form of a page: redirects to the next page.",
                  headers: { Location: "A path of this service." },
                },
              },
              problems: ["invalid_link", "cross_site", "too_many_attempts"],
            },
            handle: (context) => confirm({ changing, purpose, ownOrigins }, context),
          }),
        ],
        tags: { passwords: "Choosing a new password." },
      };
    },
  });
}

interface ResetParts {
  readonly changing: Pick<ChangingContract, "passwordChanges">;
  readonly purpose: Purpose;
  readonly ownOrigins: readonly string[];
}

/**
 * Checks the code of a form that has no password yet, so that the page asks for the password only after a right code.
 * A right code is not used up: the draft then requires the password.
 */
async function requireProofOfPage(purpose: Purpose, context: Context): Promise<void> {
  const { body } = context;
  if (body?.mediaType !== formType || !isObject(body.value) || Object.hasOwn(body.value, "password")) return;
  const { values } = requireDraft(codeAlone, context, { id: null, current: null });
  await purpose.redeem(context, requireGivenProof(values));
}

async function confirm({ changing, purpose, ownOrigins }: ResetParts, context: Context): Promise<Reply> {
  requireOwnForm(context, ownOrigins);
  await requireProofOfPage(purpose, context);
  const { values } = requireDraft(newPassword, context, { id: null, current: null });
  const proof = await purpose.redeem(context, requireGivenProof(values));
  if (proof.user === null) throw problem("invalid_link");
  const changes = await changing.passwordChanges(context, {
    account: proof.user,
    password: values.password,
    endKeys: values.end_keys !== false,
    provesAddress: true,
  });
  // A changed password does not end the other links of an address that was never proved, but the proof does.
  const outcome = await context.write({
    changes: [...proof.changes, ...purpose.end({ user: proof.user }), ...changes],
  });
  requireUnused(outcome);
  // Another request ended the logins of the account at the same time. This also deletes the links of the account.
  if (outcome.kind === "refused" && outcome.name === OVERTAKEN) throw problem("invalid_link");
  if (outcome.kind !== "written") throw new Error(`The store answered ${outcome.kind} to a reset password.`);
  return prefersRedirect(context) ? redirect(nextPage(context, values.next)) : { status: 204, cache: "no-store" };
}
