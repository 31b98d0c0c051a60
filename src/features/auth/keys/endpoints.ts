import type { Reply } from "../../../core/call/call.ts";
import { problem } from "../../../core/problem/problem.ts";
import { readPage } from "../../../http/answer/paging.ts";
import { nullable, timeSchema } from "../../../http/declarations/documentation.ts";
import { builtInEndpoint, type Endpoint, type EndpointDocumentation } from "../../../http/declarations/endpoint.ts";
import { defineResponse, listOf } from "../../../http/declarations/response.ts";
import { requireStillKnown } from "../../../http/identifying/identifying.ts";
import { requireDraft } from "../../../http/mount/writes/drafting.ts";
import { type Context, invalid } from "../../../http/request/exchange.ts";
import { dateTime, json, text } from "../../../resource/kinds/fields.ts";
import { defineResource } from "../../../resource/resource.ts";
import type { AccountsContract } from "../people/contracts/accounts.ts";
import type { EndingsContract } from "../people/contracts/endings.ts";
import type { LoginsContract } from "../people/contracts/logins.ts";
import { ownOrAny, ownOrAnyUnlimited } from "../requests/access.ts";
import { proofSchema } from "../requests/documentation.ts";
import { proofField, withoutKey } from "../requests/fresh-login.ts";
import type { ListedKey, NamedKeys } from "./named-keys.ts";
import { scopeForm } from "./scopes.ts";

const newKey = defineResource({
  name: "key",
  description: "A key for a program.",
  fields: {
    name: text({ maxLength: 100 }),
    scopes: json({ optional: true }),
    expires_at: dateTime({ optional: true }),
    current_password: proofField,
  },
});

/** The dependencies of the endpoints of named keys. */
export interface KeysParts {
  readonly accounts: Pick<AccountsContract, "requireAccount">;
  readonly logins: Pick<LoginsContract, "vouch">;
  readonly endings: Pick<EndingsContract, "outsideEnd">;
  readonly keys: NamedKeys;
}

/**
 * Returns the endpoints of a user's named keys: one key for each program. A key is shown only in the response that
 * creates it.
 */
export function keyEndpoints(parts: KeysParts): readonly Endpoint[] {
  const path = "/users/{id}/keys";
  const one = `${path}/{key_id:text}`;
  return [
    builtInEndpoint({
      method: "POST",
      takesForms: true,
      path,
      logsIn: true,
      access: ownOrAnyUnlimited,
      target: (context) => parts.accounts.requireAccount(context),
      consumes: ["application/json"],
      documentation: documentation.create,
      responses: { 201: newKeyShape },
      guard: withoutKey,
      handle: (context) => create(parts, context),
    }),
    builtInEndpoint({
      method: "GET",
      path,
      access: ownOrAny,
      query: "read",
      documentation: documentation.list,
      responses: { 200: keyList },
      handle: (context) => list(parts, context),
    }),
    builtInEndpoint({
      method: "GET",
      path: one,
      access: ownOrAny,
      documentation: documentation.read,
      responses: { 200: keyShape },
      handle: (context) => read(parts, context),
    }),
    builtInEndpoint({
      method: "DELETE",
      takesForms: true,
      path: one,
      access: ownOrAnyUnlimited,
      target: (context) => read(parts, context),
      documentation: documentation.revoke,
      handle: (context) => revoke(parts, context),
    }),
  ];
}

const scopesSchema = {
  type: ["array", "null"],
  items: { type: "string", pattern: scopeForm, maxLength: 64 },
  minItems: 1,
  maxItems: 20,
  description: "The scopes of the key; null: no limit.",
} as const;
const fields = {
  id: text(),
  name: text(),
  prefix: text({ description: "How the key begins." }),
  scopes: scopesSchema,
  created_at: dateTime(),
  expires_at: dateTime({ optional: true }),
  last_used_at: dateTime({ optional: true }),
};
const keyShape = defineResponse({ name: "key", fields });
const newKeyShape = defineResponse({
  name: "key",
  fields: { ...fields, key: text({ description: "For `Authorization: Token`." }) },
});
const keyList = listOf(keyShape, "keys");

const documentation = {
  create: {
    summary: "Create a key, which is shown only once",
    tag: "users",
    request: {
      type: "object",
      properties: {
        name: { type: "string", minLength: 1, maxLength: 100 },
        scopes: scopesSchema,
        expires_at: nullable(timeSchema),
        current_password: proofSchema,
      },
      required: ["name"],
      additionalProperties: false,
    },
    responses: {
      201: {
        description: "The key.",
        headers: { Location: "The path of the key." },
      },
    },
    problems: ["conflict", "confirmation_required"],
  },
  list: {
    summary: "List a user's keys",
    tag: "users",
    parameters: [{ $ref: "#/components/parameters/limit" }, { $ref: "#/components/parameters/cursor" }],
    responses: {
      200: {
        description: "The oldest first, without the keys themselves.",
        headers: { Link: "The pages around this one." },
      },
    },
    problems: ["invalid_query"],
  },
  read: {
    summary: "Show when a key was made and used",
    tag: "users",
    responses: { 200: { description: "Its data, without the key." } },
  },
  revoke: { summary: "Revoke a key", tag: "users", responses: { 204: { description: "Revoked." } } },
} satisfies Record<string, EndpointDocumentation>;

async function create(parts: KeysParts, context: Context) {
  const draft = requireDraft(newKey, context, { id: null, current: null });
  const input = draft.values;
  const { name } = input;
  const latest = parts.endings.outsideEnd(context);
  const expiresAt = input.expires_at ?? (latest === null ? null : new Date(latest).toISOString());
  const { now } = context.call;
  if (input.scopes !== null && !areScopes(input.scopes)) throw invalid([scopesIssue]);
  if (expiresAt !== null && Date.parse(expiresAt) <= now) throw invalid([pastIssue]);
  if (latest !== null && Date.parse(expiresAt!) > latest) throw invalid([lateIssue(latest)]);
  const account = await parts.accounts.requireAccount(context);
  const admission = await parts.logins.vouch(context, account, draft.transient.current_password);
  const { listed, key } = await parts.keys.create(admission, { name, scopes: input.scopes, expiresAt }, now);
  await requireStillKnown(context);
  const headers = [["Location", context.at(`/users/${account.id}/keys/${listed.id}`)]] as const;
  return newKeyShape.reply(201, { ...listed, key }, { cache: "no-store", headers });
}

const form = new RegExp(scopeForm);

function areScopes(value: unknown): value is readonly string[] {
  if (!Array.isArray(value) || value.length < 1 || value.length > 20 || new Set(value).size < value.length)
    return false;
  return value.every((scope) => typeof scope === "string" && scope.length <= 64 && form.test(scope));
}

const scopesIssue = {
  pointer: "/scopes",
  code: "invalid",
  detail: 'scopes is an array of 1 to 20 different scopes: "read", "write", or names with a colon like "notes:read".',
};
const pastIssue = { pointer: "/expires_at", code: "invalid", detail: "The time must be in the future." };

function lateIssue(latest: number) {
  const detail = `A key from this login may be valid until ${new Date(latest).toISOString()}.`;
  return { pointer: "/expires_at", code: "too_late", detail };
}

async function list(parts: KeysParts, context: Context) {
  const { id } = await parts.accounts.requireAccount(context);
  const { items: value, headers } = await readPage<ListedKey>(context, {
    placeOf: (key) => [key.created_at, key.id],
    read: (page) => parts.keys.list(id, page),
  });
  return keyList.reply(200, value, { cache: "no-store", headers });
}

async function read(parts: KeysParts, context: KeyContext) {
  const value = await parts.keys.find((await parts.accounts.requireAccount(context)).id, context.params.key_id);
  if (value === null) throw problem("not_found");
  return keyShape.reply(200, value, { cache: "no-store" });
}

type KeyContext = Context<{ readonly id: number; readonly key_id: string }>;

async function revoke(parts: KeysParts, context: KeyContext): Promise<Reply> {
  const revoked = await parts.keys.revoke((await parts.accounts.requireAccount(context)).id, context.params.key_id);
  if (!revoked) throw problem("not_found");
  return { status: 204, cache: "no-store" };
}
