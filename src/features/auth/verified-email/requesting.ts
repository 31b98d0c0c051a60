import { administrator, allOf, unlimited } from "../../../access/permission/permission.ts";
import { problem } from "../../../core/problem/problem.ts";
import { builtInEndpoint, type Endpoint } from "../../../http/declarations/endpoint.ts";
import { storedOf } from "../../../http/declarations/table.ts";
import { requireDraft } from "../../../http/mount/writes/drafting.ts";
import type { Context } from "../../../http/request/exchange.ts";
import { email, text } from "../../../resource/kinds/fields.ts";
import { defineResource } from "../../../resource/resource.ts";
import type { Store } from "../../../store/store.ts";
import { accepted, mailResponses, nextField, openPost, requireOwnForm } from "../mailbox/asking.ts";
import type { Mailbox } from "../mailbox/contract.ts";
import type { AccountsContract } from "../people/contracts/accounts.ts";
import type { ChangingContract } from "../people/contracts/changing.ts";
import type { ConfirmingContract } from "../people/contracts/confirming.ts";
import { ownOrAnyUnlimited } from "../requests/access.ts";
import { ownPassword } from "../requests/fresh-login.ts";
import { notices, type EmailPurposes } from "./purposes.ts";

/** The parts of verified addresses of one service. */
export interface EmailParts {
  readonly accounts: Pick<AccountsContract, "requireAccount" | "requireUser" | "users">;
  readonly changing: Pick<ChangingContract, "createUser" | "passwordChanges" | "changeAddress">;
  readonly confirming: Pick<ConfirmingContract, "requireProof">;
  readonly mailbox: Mailbox;
  readonly purposes: EmailPurposes;
  readonly store: Store;
  /** The service's origins, compared exactly. */
  readonly ownOrigins: readonly string[];
}

const newAddress = defineResource({
  name: "new_address",
  plural: "new_addresses",
  fields: {
    email: email({ description: "The new address. It replaces the old one when its owner confirms it." }),
    current_password: text({ ...ownPassword, description: "Needed to change your own address." }),
    next: nextField,
  },
});

const invitation = defineResource({ name: "invitation", fields: { next: nextField } });

/** Returns the endpoints that send mails about the address of one user. */
export function requestEndpoints(parts: EmailParts): readonly Endpoint[] {
  const common = {
    ...openPost,
    target: (context: Context) => parts.accounts.requireAccount(context),
    responses: mailResponses,
  } as const;
  const responses = {
    202: { description: "The mail is queued." },
    303: {
      description: "The same for a form of a page: redirects to the next page.",
      headers: { Location: "A path of this service." },
    },
  } as const;
  return [
    builtInEndpoint({
      ...common,
      path: "/users/{id}/invitation",
      access: allOf(unlimited, administrator),
      bodyOptional: true,
      documentation: {
        summary: "Invite a user who has no password yet",
        tag: "email",
        request: invitation,
        responses,
        problems: ["conflict", "cross_site", "insecure_transport"],
      },
      handle: (context) => invite(parts, context),
    }),
    builtInEndpoint({
      ...common,
      path: "/users/{id}/email",
      access: ownOrAnyUnlimited,
      documentation: {
        summary: "Change the e-mail address of a user",
        tag: "email",
        request: newAddress,
        responses,
        problems: ["confirmation_required", "cross_site", "insecure_transport", "too_many_attempts"],
      },
      handle: (context) => requestChange(parts, context),
    }),
  ];
}

async function invite(parts: EmailParts, context: Context) {
  const { accounts, purposes, store } = parts;
  const { next } = requireDraft(invitation, context, noRecord).values;
  requireOwnForm(context, parts.ownOrigins);
  const account = await accounts.requireAccount(context);
  if (!account.active) throw problem("conflict", { detail: "The account is not active." });
  if (account.passwordHash !== null) throw problem("conflict", { detail: "The user has a password already." });
  const user = await store.find(accounts.users.collection, account.id);
  if (user === null) throw problem("not_found");
  await purposes.invitation.send(context, { address: storedOf(user).email, user: account });
  return accepted(context, next);
}

async function requestChange(parts: EmailParts, context: Context) {
  const { accounts, confirming, purposes, store } = parts;
  const { values, transient } = requireDraft(newAddress, context, noRecord);
  requireOwnForm(context, parts.ownOrigins);
  const account = await accounts.requireAccount(context);
  await confirming.requireProof(context, account, transient.current_password);
  const owner = await store.findBy(accounts.users.collection, "email", values.email);
  const isTaken = owner !== null && storedOf(owner).id !== account.id;
  // For a taken address, the mail goes to the stored spelling. Another spelling may be another mailbox. Both proofs
  // belong to the caller's account, so the same events end them.
  await purposes.change.send(context, {
    address: isTaken ? storedOf(owner).email : values.email,
    user: account,
    data: {},
    ...(isTaken ? { notice: notices.taken } : {}),
  });
  return accepted(context, values.next, values.email);
}

const noRecord = { id: null, current: null } as const;
