import type { Call } from "../../../core/call/call.ts";
import type { Observer } from "../../../core/observation.ts";
import { problem, type Problem } from "../../../core/problem/problem.ts";
import { keyOf, type Store } from "../../../store/store.ts";
import type { Account } from "../accounts/stored-accounts.ts";
import { timeText } from "../conditions.ts";
import type { Header } from "../cookies.ts";
import type { People } from "../login.ts";
import type { Claims } from "./claims.ts";
import type { ConfirmedLogin } from "./client.ts";
import type { IdentityProvider } from "./declaration.ts";
import type { Identities } from "./identities.ts";

/** The parts that find the account of an identity. */
export interface AccountsOfIdentities {
  readonly store: Store;
  readonly people: People;
  readonly identities: Identities;
  readonly observe: Observer;
}

/** The request, and the header fields of every answer to it. */
export interface AnswerContext {
  readonly call: Call;
  readonly headers: readonly Header[];
}

/**
 * Maximum number of attempts. Two processes may see the same new identity. One of them then retries and finds the user that the other
 * process created.
 */
const ATTEMPTS = 5;

/**
 * Returns the account that an identity is linked to. Creates a user for an unknown identity if the provider is declared
 * with `create` and the address is verified and free. Otherwise ends the request (403 `identity_not_bound`, with these
 * headers). Never finds an account by an e-mail address or a username.
 */
export async function requireLinkedAccount(
  parts: AccountsOfIdentities,
  provider: IdentityProvider,
  confirmed: ConfirmedLogin,
  answer: AnswerContext,
): Promise<Account> {
  const identified = { issuer: provider.issuer, subject: confirmed.claims.sub };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const linked = await parts.identities.findLinked(identified);
    const account = linked === null ? null : await parts.people.accounts.find(linked.userId);
    if (account !== null) return account;
    if (linked === null) await makeUser(parts, provider, confirmed, answer);
  }
  throw problem("unavailable", { headers: [["Retry-After", "1"], ...answer.headers] });
}

/** Creates the user of a new identity, unless another request has just done it. */
async function makeUser(
  { store, people, identities, observe }: AccountsOfIdentities,
  provider: IdentityProvider,
  confirmed: ConfirmedLogin,
  { call, headers }: AnswerContext,
): Promise<void> {
  const { now, requestId } = call;
  const { issuer } = provider;
  const subject = confirmed.claims.sub;
  const refused = (reason: string, detail = notLinked): Problem => {
    observe({ kind: "provider_login_failed", requestId, provider: provider.id, reason });
    return problem("identity_not_bound", { detail, headers });
  };
  if (!provider.create) throw refused("the identity is not linked, and the provider creates no users");
  const { claims } = confirmed;
  const newcomer = readNewcomer(people, provider, claims.email === undefined ? await confirmed.complete() : claims);
  if (newcomer === null)
    throw refused("the identity is not linked, and its address is missing or not verified", notVerified);
  const { name, email } = newcomer;
  // The address is unique, so it becomes the username. Because of `chosen`, a login through a proxy or another issuer cannot claim the
  // account by its username.
  const user = {
    name,
    email,
    username: email,
    usernameOrigin: "chosen",
    // The provider has proved the address. With this time, a later mail login does not end the identity.
    emailVerifiedAt: timeText(now),
    role: "user",
    passwordHash: null,
    now,
  } as const;
  const changes = [...people.insertUser(user), identities.link({ issuer, subject }, keyOf(0), now)];
  const outcome = await store.write({ changes });
  if (outcome.kind === "written") {
    const userId = outcome.rows[0]!.record["id"] as number;
    return observe({ kind: "identity_bound", issuer, subject, userId });
  }
  if (outcome.kind !== "taken") throw new Error(`The store answered ${outcome.kind} to a user of a provider.`);
  if ((await identities.findLinked({ issuer, subject })) === null)
    throw refused("the identity is not linked, and another user has its address");
}

const notLinked =
  "This identity is not linked to an account, and no account was created for it. Log in another way and link it on the page of your account.";

/** The detail depends only on the claims, so it does not reveal whether an account has the address. */
const notVerified =
  "The provider has not confirmed your e-mail address, so no account was created. Confirm the address there and log in again. If you have an account, log in another way and link the identity on the page of your account.";

/** Returns the name and the address of a new user. Returns null if the address is missing or not verified. */
function readNewcomer(
  { users }: People,
  { trustEmail }: IdentityProvider,
  { email, email_verified, name }: Claims,
): { readonly name: string; readonly email: string } | null {
  if (email_verified !== true && !trustEmail) return null;
  const { fields } = users.resource;
  const address = typeof email === "string" ? fields.email.kind.parse(email) : null;
  if (typeof address !== "string") return null;
  const called = typeof name === "string" && name.trim() !== "" ? fields.name.kind.parse(name) : null;
  return { name: typeof called === "string" ? called : address, email: address };
}
