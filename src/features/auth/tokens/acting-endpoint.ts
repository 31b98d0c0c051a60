import { administrator, allOf, unlimited } from "../../../access/permission/permission.ts";
import { problem } from "../../../core/problem/problem.ts";
import { builtInEndpoint, type Endpoint } from "../../../http/declarations/endpoint.ts";
import { defineResponse } from "../../../http/declarations/response.ts";
import { requireDraft } from "../../../http/mount/writes/drafting.ts";
import type { Context } from "../../../http/request/exchange.ts";
import { integer, text } from "../../../resource/kinds/fields.ts";
import { Admission } from "../gate/admission.ts";
import type { AccountsContract } from "../people/contracts/accounts.ts";
import type { LoginsContract } from "../people/contracts/logins.ts";
import { proofBody, withoutKey } from "../requests/fresh-login.ts";
import type { AccessTokens } from "./access.ts";
import { ACTING_SECONDS } from "./acting.ts";

/** The parts that make tokens with which an administrator acts for a user. */
export interface ActingParts {
  readonly accounts: Pick<AccountsContract, "find" | "requireAccount">;
  readonly logins: Pick<LoginsContract, "vouch">;
  readonly access: Pick<AccessTokens, "issueActing">;
}

/** `POST /users/{id}/act`: returns a token of 15 minutes with which an administrator acts for a user. */
export function actingEndpoint(parts: ActingParts): Endpoint {
  return builtInEndpoint({
    method: "POST",
    path: "/users/{id}/act",
    access: allOf(unlimited, administrator),
    logsIn: true,
    guard: withoutKey,
    bodyOptional: true,
    consumes: ["application/json"],
    target: (context) => parts.accounts.requireAccount(context),
    documentation: {
      summary: "Act for a user for 15 minutes",
      tag: "tokens",
      request: proofBody,
      responses: {
        201: {
          description:
            "An access token with the claim `act`. It cannot be refreshed, and it has no access to credentials.",
        },
      },
      problems: ["conflict", "confirmation_required"],
    },
    responses: { 201: acting },
    handle: (context) => act(parts, context),
  });
}

const acting = defineResponse({
  name: "token",
  fields: { access: text(), token_type: text(), expires_in: integer() },
});

async function act({ accounts, logins, access }: ActingParts, context: Context) {
  const { transient } = requireDraft(proofBody, context, { id: null, current: null });
  const user = await accounts.requireAccount(context);
  const { id, family = null } = context.requireIdentity();
  const actor = await accounts.find(id);
  if (user.role === "admin" || actor === null)
    throw problem("permission_denied", { detail: "A token cannot act for an administrator." });
  const account = Admission.spend(await logins.vouch(context, user, transient.current_password));
  const token = await access.issueActing(account, { account: actor, family }, context.call.now);
  const value = { access: token, token_type: "Bearer", expires_in: ACTING_SECONDS };
  return acting.reply(201, value, { cache: "no-store" });
}
