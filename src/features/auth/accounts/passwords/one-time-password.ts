import { randomBytes } from "node:crypto";
import { administrator, allOf, unlimited } from "../../../../access/permission/permission.ts";
import { problem } from "../../../../core/problem/problem.ts";
import { builtInEndpoint, type Endpoint } from "../../../../http/declarations/endpoint.ts";
import { defineResponse } from "../../../../http/declarations/response.ts";
import { updateAll } from "../../../../http/declarations/table.ts";
import { requireStillKnown } from "../../../../http/identifying/identifying.ts";
import { requireDraft } from "../../../../http/mount/writes/drafting.ts";
import type { Context } from "../../../../http/request/exchange.ts";
import { dateTime, text } from "../../../../resource/kinds/fields.ts";
import { requireMayChange } from "../../people/fresh-proof.ts";
import { loginColumns } from "../../people/login-change.ts";
import type { AccountsParts } from "../../people/parts.ts";
import { requireAccount } from "../../people/requiring.ts";
import { accountsCollection } from "../../records/accounts.ts";
import { equals } from "../../records/conditions.ts";
import { proofBody, withoutKey } from "../../requests/fresh-login.ts";

/** The lifetime of an unused one-time password, in days. */
const DAYS = 7;

/** 120 bits. */
const SECRET_BYTES = 15;

/**
 * `POST /users/{id}/password`: an administrator creates a password for a user who has none or has lost it. The response
 * shows it once, and it is valid for one login. After that, it only proves the user's identity again
 * (`current_password`), mainly to choose another password.
 */
export function oneTimePasswordEndpoint(parts: AccountsParts): Endpoint {
  return builtInEndpoint({
    method: "POST",
    takesForms: true,
    path: "/users/{id}/password",
    logsIn: true,
    access: allOf(unlimited, administrator),
    target: (context) => requireAccount(parts, context),
    consumes: ["application/json"],
    bodyOptional: true,
    guard: withoutKey,
    documentation: {
      summary: "Create a one-time password, which is shown only once",
      tag: "users",
      request: proofBody,
      responses: {
        201: {
          description:
            "Valid for one login within seven days. After that login, it is valid only as `current_password`, to choose another password. The former password is no longer valid, and all logins of the user are revoked.",
        },
      },
      problems: ["conflict", "confirmation_required"],
    },
    responses: { 201: oneTimePassword },
    handle: (context) => draw(parts, context),
  });
}

const oneTimePassword = defineResponse({
  name: "password",
  fields: { username: text(), password: text(), expires_at: dateTime() },
});

async function draw(parts: AccountsParts, context: Context) {
  const { transient } = requireDraft(proofBody, context, { id: null, current: null });
  const { call } = context;
  const account = await requireAccount(parts, context);
  const { id, username, active, generation } = account;
  const caller = context.requireIdentity();
  if (id === caller.id) throw problem("conflict", { detail: "Choose your own password: PATCH it to your user." });
  if (!active) throw problem("conflict", { detail: "The account is not active." });
  const change = await requireMayChange(parts, context, account, ["password"], transient.current_password);
  const password = randomBytes(SECRET_BYTES).toString("base64url");
  const expiresAt = new Date(call.now + DAYS * 86_400_000).toISOString();
  const values = loginColumns(change, id, {
    password_hash: await parts.passwords.hashFor(account, call, password, String(caller.id)),
    password_until: expiresAt,
    password_once: "unused",
  });
  // Refused if the account was changed in the meantime. A password that was already replaced is not shown.
  const { kind } = await parts.store.write({
    changes: [
      ...parts.revocations.endAccount({ id, generation }, call.now),
      updateAll(accountsCollection, { where: equals("id", id), values }),
      ...parts.notify("password_changed", account, call.now),
    ],
  });
  if (kind !== "written") throw problem("conflict", { detail: "The account was changed at the same time. Try again." });
  await requireStillKnown(context);
  return oneTimePassword.reply(201, { username, password, expires_at: expiresAt }, { cache: "no-store" });
}
