import type { Reply } from "../../../core/call/call.ts";
import type { Identity } from "../../../core/identity.ts";
import { problem } from "../../../core/problem/problem.ts";
import type { JSONSchema } from "../../../http/declarations/documentation.ts";
import { builtInEndpoint, type Endpoint, type EndpointDocumentation } from "../../../http/declarations/endpoint.ts";
import { defineResponse, listOf } from "../../../http/declarations/response.ts";
import { requireDraft } from "../../../http/mount/writes/drafting.ts";
import { invalid, type Context } from "../../../http/request/exchange.ts";
import { boolean, dateTime, integer, json, text } from "../../../resource/kinds/fields.ts";
import { array } from "../../../resource/kinds/lists.ts";
import { defineResource } from "../../../resource/resource.ts";
import type { JSONValue } from "../../../store/store.ts";
import type { StoredFactor } from "../gate/contract.ts";
import { proofOf, RECOVERY } from "../gate/factors.ts";
import type { GateParts } from "../gate/parts.ts";
import { changesLogins } from "../people/changing-logins.ts";
import { requireConfirmed, requireFreshLogin } from "../people/fresh-proof.ts";
import { requireAccount } from "../people/requiring.ts";
import type { Account } from "../records/accounts.ts";
import { ownOrAny } from "../requests/access.ts";
import { codeField } from "../requests/codes.ts";
import { proofBody, proofField } from "../requests/fresh-login.ts";
import { activate, enrol, isByRecovery, replaceCodes, requireKind, requireProvedAddress } from "./enrolling.ts";
import { removeFactor } from "./removing.ts";
import { renewLogin } from "./renewing.ts";
import { tryAnswer } from "./trying.ts";

const path = "/users/{id}/factors";

const newFactor = defineResource({
  name: "new_factor",
  plural: "new_factors",
  fields: {
    kind: text({ maxLength: 40, description: "`totp` or `passkey`." }),
    label: text({ maxLength: 100, optional: true }),
    current_password: proofField,
  },
});

const confirmation = defineResource({
  name: "confirmation",
  fields: {
    code: codeField("A code of the TOTP app."),
    credential: json({ optional: true }),
    end_keys: boolean({
      optional: true,
      description: "`true` with the first factor: the API token and the keys are revoked too.",
    }),
  },
});

/** `/users/{id}/factors`: the second factors and passkeys of a user. */
export function factorEndpoints(parts: GateParts): readonly Endpoint[] {
  const target = (context: Context) => requireAccount(parts, context);
  return [
    builtInEndpoint({
      method: "GET",
      path,
      access: ownOrAny,
      documentation: documentation.list,
      responses: { 200: listedFactors },
      handle: (context) => list(parts, context),
    }),
    builtInEndpoint({
      ...changesLogins,
      method: "POST",
      path,
      target,
      documentation: documentation.add,
      responses: { 201: startedFactor },
      handle: (context) => add(parts, context),
    }),
    builtInEndpoint({
      ...changesLogins,
      method: "POST",
      path: `${path}/recovery`,
      bodyOptional: true,
      target,
      documentation: documentation.recovery,
      responses: { 201: newCodes },
      handle: (context) => makeCodes(parts, context),
    }),
    builtInEndpoint({
      ...changesLogins,
      method: "POST",
      path: `${path}/{factor_id}/confirm`,
      target: (context) => requireFactor(parts, context),
      documentation: documentation.confirm,
      responses: { 200: confirmedFactor },
      handle: (context) => confirm(parts, context),
    }),
    builtInEndpoint({
      ...changesLogins,
      method: "DELETE",
      takesForms: true,
      path: `${path}/{factor_id}`,
      bodyOptional: true,
      target: (context) => requireFactor(parts, context),
      documentation: documentation.remove,
      handle: (context) => remove(parts, context),
    }),
  ];
}

type FactorContext = Context<{ readonly id: number; readonly factor_id: number }>;

async function list(parts: GateParts, context: Context) {
  const account = await requireAccount(parts, context);
  const value = (await parts.factors.list(account.id)).map((factor) => shown(parts, factor));
  return listedFactors.reply(200, value, { cache: "no-store" });
}

function shown(parts: GateParts, factor: StoredFactor) {
  const recovery = parts.recovery();
  const { kind, label, createdAt: created_at, lastUsedAt: last_used_at } = factor;
  const id = kind === RECOVERY ? RECOVERY : String(factor.id);
  const remaining = kind === RECOVERY && recovery !== null ? { remaining: recovery.count(factor.data) } : {};
  return { id, kind, label, created_at, last_used_at, ...remaining };
}

async function add(parts: GateParts, context: Context) {
  const { values, transient } = requireDraft(newFactor, context, { id: null, current: null });
  const account = await requireOwnAccount(parts, context);
  requireKind(parts, values.kind);
  await requireFreshLogin(parts, context, transient.current_password);
  await requireProvedAddress(parts, account);
  const value = await enrol(parts, context.call, account, {
    ...values,
    pending: null,
    isHeld: isByRecovery(context, account),
  });
  return startedFactor.reply(201, value, { cache: "no-store" });
}

async function confirm(parts: GateParts, context: FactorContext) {
  const { values } = requireDraft(confirmation, context, { id: null, current: null });
  const { code, credential, end_keys: endKeys } = values;
  const account = await requireOwnAccount(parts, context);
  const factor = await requireFactor(parts, context);
  if (factor.active) throw problem("conflict", { detail: "The factor is confirmed already." });
  await requireProvedAddress(parts, account);
  const { call } = context;
  const kind = requireKind(parts, factor.kind);
  const pointer = `/${kind.answeredBy}`;
  if ((kind.answeredBy === "code" ? code : credential) === null)
    throw invalid([{ pointer, code: "required", detail: "This field is required." }]);
  const answer = { code, credential: credential as JSONValue };
  const success = await tryAnswer(parts, call, account, () => kind.confirm(call, account, factor, answer));
  const wrong = invalid([{ pointer, code: "invalid", detail: "The answer of the factor is wrong." }]);
  if (success === null) throw wrong;
  const activation = activate(parts, account, factor, success, { now: call.now, endKeys: endKeys === true });
  const { recoveryCodes } = activation;
  const { kind: outcome } = await parts.store.write({ changes: activation.changes });
  // Another passkey has the same id. The response must not reveal that it exists.
  if (outcome === "taken") throw wrong;
  if (outcome !== "written")
    throw problem("conflict", { detail: "The account was changed at the same time. Try again." });
  const activated = { ...factor, active: true, lastUsedAt: new Date(call.now).toISOString() };
  const value = { ...shown(parts, activated), ...(recoveryCodes === null ? {} : { recovery_codes: recoveryCodes }) };
  const proved = proofOf(factor, success.proof, call.now);
  const renewed = recoveryCodes === null ? null : await renewLogin(parts, context, activation.account, proved);
  const headers = renewed?.headers ?? [];
  return confirmedFactor.reply(200, { ...value, ...renewed?.members }, { cache: "no-store", headers });
}

async function makeCodes(parts: GateParts, context: Context) {
  requireDraft(proofBody, context, { id: null, current: null });
  const account = await requireOwnAccount(parts, context);
  const recovery = parts.recovery();
  if ((account.factors ?? 0) === 0 || recovery === null)
    throw problem("conflict", { detail: "The account has no second factor." });
  requireConfirmed(context, context.requireIdentity(), { allowsRecovery: false });
  const { now } = context.call;
  const { codes, data } = recovery.make(account.id);
  await parts.store.write({
    changes: [...replaceCodes(parts, account.id, data, now), ...parts.notify("recovery_codes_made", account, now)],
  });
  return newCodes.reply(201, { recovery_codes: codes }, { cache: "no-store" });
}

async function remove(parts: GateParts, context: FactorContext): Promise<Reply> {
  const { transient } = requireDraft(proofBody, context, { id: null, current: null });
  const account = await requireAccount(parts, context);
  const identity = context.requireIdentity();
  const factor = await requireFactor(parts, context);
  if (identity.id === account.id && factor.active) requireConfirmed(context, identity, { allowsRecovery: false });
  else if (identity.id !== account.id) await requireFreshLogin(parts, context, transient.current_password);
  await removeFactor(parts, {
    account,
    factor,
    own: identity.id === account.id ? identity : null,
    now: context.call.now,
  });
  return { status: 204, cache: "no-store" };
}

/**
 * Returns the account of the path. Ends the request with 403 if it is not the caller's own: only users themselves add
 * factors and make recovery codes.
 */
async function requireOwnAccount(parts: GateParts, context: Context): Promise<Account> {
  const account = await requireAccount(parts, context);
  const { id, actor }: Identity = context.requireIdentity();
  if (id !== account.id || actor !== undefined)
    throw problem("permission_denied", {
      detail: "Users add their own factors. An administrator may list and delete them.",
    });
  return account;
}

async function requireFactor(parts: GateParts, context: FactorContext): Promise<StoredFactor> {
  const { id } = await requireAccount(parts, context);
  const factor = await parts.factors.find(id, context.params.factor_id);
  if (factor === null || factor.kind === RECOVERY || factor.pending !== null) throw problem("not_found");
  return factor;
}

const factorFields = {
  id: text(),
  kind: text(),
  label: text(),
  created_at: dateTime(),
  last_used_at: dateTime({ optional: true }),
  remaining: integer({ description: "Number of unused recovery codes." }),
};
const codes = array(text(), { description: "Ten codes, shown once." });
const listedFactors = listOf(
  defineResponse({ name: "factor", fields: factorFields, optional: ["remaining"] }),
  "factors",
);
const shownText: JSONSchema = { type: "string" };
const shownObject: JSONSchema = { type: "object" };
const startedFactor = defineResponse({
  name: "factor",
  // Each kind of factor shows other data.
  fields: { id: text(), kind: text(), secret: shownText, uri: shownText, options: shownObject },
  optional: ["secret", "uri", "options"],
});
const confirmedFactor = defineResponse({
  name: "factor",
  fields: { ...factorFields, recovery_codes: codes, access: text(), refresh: text() },
  optional: ["remaining", "recovery_codes", "access", "refresh"],
});
const newCodes = defineResponse({ name: "recovery", fields: { recovery_codes: codes } });

const documentation = {
  list: {
    summary: "List a user's second factors and passkeys",
    tag: "factors",
    responses: {
      200: { description: "Oldest first." },
    },
  },
  add: {
    summary: "Start a second factor or a passkey",
    tag: "factors",
    request: newFactor,
    responses: {
      201: {
        description: "Not active yet. A TOTP factor has `secret` and `uri`, a passkey has `options`.",
      },
    },
    problems: ["confirmation_required", "too_many", "unverified_email"],
  },
  confirm: {
    summary: "Confirm a new factor with its first answer",
    tag: "factors",
    request: confirmation,
    responses: {
      200: {
        description:
          "Active. The first factor revokes all other logins. Its answer has recovery codes and a new login.",
        headers: { "Set-Cookie": "The session, if the caller has one." },
      },
    },
    problems: ["conflict", "too_many_attempts", "unverified_email"],
  },
  recovery: {
    summary: "Make ten new recovery codes",
    tag: "factors",
    request: proofBody,
    responses: {
      201: {
        description: "The new codes. The old codes are no longer valid.",
      },
    },
    problems: ["conflict", "confirmation_required"],
  },
  remove: {
    summary: "Delete a factor",
    tag: "factors",
    responses: { 204: { description: "Deleted." } },
    problems: ["confirmation_required", "last_factor", "last_login"],
  },
} satisfies Record<string, EndpointDocumentation>;
