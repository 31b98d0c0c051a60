import type { Call } from "../../../core/call/call.ts";
import type { Observer } from "../../../core/observation.ts";
import { problem, type Problem } from "../../../core/problem/problem.ts";
import { keyOf, type Store } from "../../../store/store.ts";
import { requireNewId } from "../../../store/written.ts";
import type { AccountsContract } from "../people/contracts/accounts.ts";
import type { Account } from "../records/accounts.ts";
import { timeText } from "../records/conditions.ts";
import { isTaken } from "../records/given-names.ts";
import type { UsersMount } from "../records/users.ts";
import type { Header } from "../requests/cookies.ts";
import type { Claims } from "./claims.ts";
import { ProviderFault, type ConfirmedLogin } from "./client.ts";
import type { IdentityProvider } from "./declaration.ts";
import type { Identities, LinkedIdentity } from "./identities.ts";

/** The parts that find the account of an identity. */
export interface AccountsOfIdentities {
  readonly store: Store;
  readonly accounts: Pick<AccountsContract, "find" | "insertUser" | "users" | "requireAccount">;
  readonly identities: Identities;
  readonly observe: Observer;
}

/** The request, and the header fields of every answer to it. */
export interface AnswerContext {
  readonly call: Call;
  readonly headers: readonly Header[];
}

/**
 * Maximum number of attempts. Two processes may see the same new identity. One of them then retries and finds the user
 * that the other process created.
 */
const ATTEMPTS = 5;

/**
 * Returns a linked identity and its account. Creates a user for an unknown identity if the provider is declared
 * with `create` and the address is verified and free. Otherwise ends the request (403 `identity_not_bound`, with these
 * headers). Never finds an account by an e-mail address or a username.
 */
export async function requireLinkedAccount(
  parts: AccountsOfIdentities,
  provider: IdentityProvider,
  confirmed: ConfirmedLogin,
  answer: AnswerContext,
): Promise<{ readonly account: Account; readonly identity: LinkedIdentity }> {
  const identified = { issuer: provider.issuer, subject: confirmed.claims.sub };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const linked = await parts.identities.findLinked(identified);
    const account = linked === null ? null : await parts.accounts.find(linked.userId);
    if (linked !== null && account !== null) return { account, identity: linked };
    if (linked === null) await makeUser(parts, provider, confirmed, answer);
  }
  throw problem("unavailable", { headers: [["Retry-After", "1"], ...answer.headers] });
}

/** Creates the user of a new identity, unless another request has just done it. */
async function makeUser(
  { store, accounts, identities, observe }: AccountsOfIdentities,
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
  const newcomer = await findNewcomer(accounts.users, provider, confirmed);
  if (newcomer.kind !== "newcomer") {
    const [reason, detail] = unusable[newcomer.kind];
    throw refused(`the identity is not linked, and ${reason}`, `${detail} ${otherWay}`);
  }
  const { name, email } = newcomer;
  // The address is unique, so it becomes the username. Because of `chosen`, a login through a proxy or another issuer
  // cannot claim the account by its username.
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
  const changes = [...accounts.insertUser(user), identities.link({ issuer, subject }, keyOf(0), now)];
  const outcome = await store.write({ changes });
  if (outcome.kind === "written") {
    return observe({ kind: "identity_bound", issuer, subject, userId: requireNewId(outcome) });
  }
  if (!isTaken(outcome)) throw new Error(`The store answered ${outcome.kind} to a user of a provider.`);
  if ((await identities.findLinked({ issuer, subject })) === null)
    throw refused("the identity is not linked, and another user has its address");
}

const notLinked = "This login is not connected with an account, and no account was created for it.";

const otherWay = "If you have an account, log in another way and link the identity on the page of your account.";

/**
 * The reasons why the claims make no user, for the log and for the caller. The detail depends only on the claims, so it
 * does not reveal whether an account has the address.
 */
const unusable = {
  missing: [
    "the provider sends no address",
    "The provider has sent no e-mail address, so no account was created. Allow the provider to send it and log in again.",
  ],
  unverified: [
    "the provider does not say that its address is verified",
    "The provider has not confirmed your e-mail address, so no account was created. Confirm the address there and log in again.",
  ],
  unfit: [
    "its address cannot be used here",
    "Your e-mail address at the provider cannot be used here, so no account was created.",
  ],
} as const;

type FoundNewcomer =
  | { readonly kind: "newcomer"; readonly name: string; readonly email: string }
  | { readonly kind: keyof typeof unusable };

/**
 * Reads the name and the address of a new user. Asks the userinfo endpoint for the claims that the ID token lacks
 * (OpenID Connect Core §5.4). If it fails, the ID token alone may be enough.
 */
async function findNewcomer(
  users: UsersMount,
  provider: IdentityProvider,
  login: ConfirmedLogin,
): Promise<FoundNewcomer> {
  const { email, email_verified, name } = login.claims;
  const signed = readNewcomer(users, provider, login.claims);
  if (email !== undefined && email_verified !== undefined && name !== undefined) return signed;
  try {
    return readNewcomer(users, provider, await login.complete());
  } catch (error) {
    if (!(error instanceof ProviderFault) || signed.kind !== "newcomer") throw error;
    return signed;
  }
}

function readNewcomer(
  users: UsersMount,
  { trustEmail }: IdentityProvider,
  { email, email_verified, name }: Claims,
): FoundNewcomer {
  if (typeof email !== "string") return { kind: "missing" };
  // Some providers send the text instead of the boolean that the standard requires (OpenID Connect Core §5.1).
  if (email_verified !== true && email_verified !== "true" && !trustEmail) return { kind: "unverified" };
  const { fields } = users.resource;
  const address = fields.email.kind.parse(email);
  if (typeof address !== "string") return { kind: "unfit" };
  const called = typeof name === "string" && name.trim() !== "" ? fields.name.kind.parse(name) : null;
  return { kind: "newcomer", name: typeof called === "string" ? called : address, email: address };
}
