import type { Reply } from "../../../core/call/call.ts";
import type { Proof } from "../../../core/identity.ts";
import { problem } from "../../../core/problem/problem.ts";
import { builtInEndpoint, type Endpoint, type EndpointDocumentation } from "../../../http/declarations/endpoint.ts";
import { defineResponse, listOf } from "../../../http/declarations/response.ts";
import { requireDraft } from "../../../http/mount/writes/drafting.ts";
import { invalid, type Context } from "../../../http/request/exchange.ts";
import { dateTime, text } from "../../../resource/kinds/fields.ts";
import { defineResource } from "../../../resource/resource.ts";
import { changesLogins } from "../people/changing-logins.ts";
import { ownOrAny } from "../requests/access.ts";
import { proofField } from "../requests/fresh-login.ts";
import { identitiesCollection, nameOfProof, type LinkedIdentity } from "./identities.ts";
import { requireNext } from "./login-endpoints.ts";
import { startPath, type ProviderLoginParts } from "./parts.ts";

const path = "/users/{id}/identities";

const newIdentity = defineResource({
  name: "new_identity",
  plural: "new_identities",
  fields: {
    provider: text({ maxLength: 40, description: "The id of a provider." }),
    next: text({ maxLength: 2048, optional: true, description: "The path of the page to show afterwards." }),
    current_password: proofField,
  },
});

const proof = defineResource({ name: "proof", fields: { current_password: proofField } });

type IdentityContext = Context<{ readonly id: number; readonly identity_id: number }>;

/** `/users/{id}/identities`: the identities at providers that are linked to a user. */
export function identityEndpoints(parts: ProviderLoginParts): readonly Endpoint[] {
  return [
    builtInEndpoint({
      method: "GET",
      path,
      access: ownOrAny,
      documentation: documentation.list,
      responses: { 200: identities },
      handle: (context) => list(parts, context),
    }),
    builtInEndpoint({
      ...changesLogins,
      method: "POST",
      path,
      target: (context) => parts.accounts.requireAccount(context),
      documentation: documentation.add,
      responses: { 200: link },
      handle: (context) => startLink(parts, context),
    }),
    builtInEndpoint({
      ...changesLogins,
      method: "DELETE",
      takesForms: true,
      path: `${path}/{identity_id}`,
      bodyOptional: true,
      target: (context) => requireLinkedIdentity(parts, context),
      documentation: documentation.remove,
      handle: (context) => unlink(parts, context),
    }),
  ];
}

async function list(parts: ProviderLoginParts, context: Context) {
  const { id } = await parts.accounts.requireAccount(context);
  const value = (await parts.identities.list(id)).map((identity) => shown(parts, identity));
  return identities.reply(200, value, { cache: "no-store" });
}

function shown({ clients }: ProviderLoginParts, identity: LinkedIdentity) {
  const { id, issuer, subject, createdAt: created_at } = identity;
  const provider = [...clients.values()].map((client) => client.provider).find((each) => each.issuer === issuer);
  return {
    id: String(id),
    provider: provider?.id ?? null,
    title: provider?.title ?? issuer,
    issuer,
    subject,
    created_at,
  };
}

/** Starts to link an identity. Only the browser that has the cookie can complete the link. */
async function startLink(parts: ProviderLoginParts, context: Context) {
  const { values, transient } = requireDraft(newIdentity, context, { id: null, current: null });
  const account = await parts.accounts.requireAccount(context);
  const { id, actor } = context.requireIdentity();
  if (id !== account.id || actor !== undefined)
    throw problem("permission_denied", { detail: "Users link their own identities." });
  const { provider } = values;
  if (!parts.clients.has(provider))
    throw invalid([{ pointer: "/provider", code: "invalid", detail: "There is no such provider." }]);
  const next = values.next === null ? context.at(`/users/${id}/account`) : requireNext(values.next, "/next");
  // An identity can prove as much as a factor, so a login by recovery code does not add one.
  await parts.confirming.requireFreshLogin(context, transient.current_password, { allowsRecovery: false });
  const startedBy = parts.logins.findHeldLogin(context);
  const purpose = { kind: "link", userId: id, generation: account.generation, startedBy } as const;
  const { flow, header } = parts.flows.start(context.call, { provider, next, purpose });
  const value = { start: `${startPath(context, provider)}?link=${flow.state}` };
  return link.reply(200, value, { cache: "no-store", headers: [header] });
}

async function unlink(parts: ProviderLoginParts, context: IdentityContext): Promise<Reply> {
  const { accounts, confirming, store, identities } = parts;
  const { transient } = requireDraft(proof, context, { id: null, current: null });
  const account = await accounts.requireAccount(context);
  const identity = await requireLinkedIdentity(parts, context);
  await confirming.requireFreshLogin(context, transient.current_password);
  const isOwn = context.requireIdentity().id === account.id;
  const removedLogin = { collection: identitiesCollection, id: identity.id };
  const conditions = isOwn ? await confirming.keepOtherLogin(account, removedLogin) : [];
  const { family = null, sessionId = null } = context.requireIdentity();
  const remaining = isOwn ? { family, sessionId } : { family: null, sessionId: null };
  const { now } = context.call;
  const changes = [
    ...conditions,
    identities.unlink(identity),
    ...(await confirming.endLoginsBy(account, (proofs) => isBegunBy(identity, proofs), remaining, now)),
    ...confirming.notify("identity_unlinked", account, now),
  ];
  const { kind } = await store.write({ changes });
  if (kind !== "written") throw problem("conflict", { detail: "The account was changed at the same time. Try again." });
  return { status: 204, cache: "no-store" };
}

/**
 * True for a login by this identity, and for a login by a provider of an earlier version, whose proofs name no
 * identity.
 */
function isBegunBy(identity: LinkedIdentity, proofs: readonly Proof[]): boolean {
  const own = nameOfProof(identity);
  return proofs.some(({ method, factor = own }) => method === "fed" && factor === own);
}

async function requireLinkedIdentity({ accounts, identities }: ProviderLoginParts, context: IdentityContext) {
  const { id } = await accounts.requireAccount(context);
  const identity = await identities.find(id, context.params.identity_id);
  if (identity === null) throw problem("not_found");
  return identity;
}

const identities = listOf(
  defineResponse({
    name: "identity",
    fields: {
      id: text(),
      provider: text({ optional: true }),
      title: text(),
      issuer: text(),
      subject: text({ description: "The name of the user at the provider (`sub`)." }),
      created_at: dateTime(),
    },
  }),
  "identities",
);
const link = defineResponse({ name: "link", fields: { start: text() } });

const documentation = {
  list: {
    summary: "List a user's identities at providers",
    tag: "providers",
    responses: {
      200: { description: "Oldest first." },
    },
  },
  add: {
    summary: "Start to link an identity at a provider",
    tag: "providers",
    request: newIdentity,
    responses: {
      200: {
        description: "Open `start` in the same browser.",
        headers: { "Set-Cookie": "Binds the flow to this browser." },
      },
    },
    problems: ["confirmation_required", "cross_site"],
  },
  remove: {
    summary: "Unlink an identity",
    tag: "providers",
    responses: { 204: { description: "Unlinked." } },
    problems: ["conflict", "confirmation_required", "last_login"],
  },
} satisfies Record<string, EndpointDocumentation>;
