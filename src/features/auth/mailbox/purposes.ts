import { randomBytes } from "node:crypto";
import { formatBlock, formatNetwork, formatSite } from "../../../core/call/trusted-proxies.ts";
import { hmac } from "../../../core/crypto/secret.ts";
import { problem } from "../../../core/problem/problem.ts";
import { storedOf } from "../../../http/declarations/table.ts";
import type { Context } from "../../../http/request/exchange.ts";
import { fold } from "../../../store/fold.ts";
import { OVERTAKEN, type Change, type Store } from "../../../store/store.ts";
import type { AccountsContract } from "../people/contracts/accounts.ts";
import type { Account } from "../records/accounts.ts";
import type { QueuedMail } from "./composing.ts";
import type { GivenProof, MailRequest, Purpose, PurposeDeclaration, RedeemedProof } from "./contract.ts";
import { countMail, limitOfClient, limitOfMailbox, limitOfSite, type MailLimits } from "./limits.ts";
import {
  countTry,
  endProofs,
  findProof,
  insertProof,
  takeBackTry,
  useProof,
  type MailProof,
  type NewMailProof,
} from "./proofs.ts";
import type { ProofTokens } from "./tokens.ts";

const CODE_MS = 600_000;

/** The largest number of attempts to write a request for a mail while other requests count theirs. */
const MOST_ATTEMPTS = 100;

/** The parts of proofs by mail of one service. */
export interface PurposeParts {
  readonly store: Store;
  readonly accounts: Pick<AccountsContract, "find" | "users">;
  readonly tokens: ProofTokens;
  /** The secret key of the digests that replace addresses in stored rows. */
  readonly key: Uint8Array;
  /** Returns the changes that queue the mail of a stored proof. */
  queue(about: QueuedMail, now: number): readonly Change[];
}

/** Makes the proofs of one purpose. */
export function makePurpose(parts: PurposeParts, declaration: PurposeDeclaration): Purpose {
  const { name } = declaration;
  const purpose: Purpose = {
    name,
    request: (context, mailRequest) => request(parts, declaration, context, mailRequest),
    send: (context, mailRequest) => send(purpose, context, mailRequest),
    find: (context, givenProof) => redeem(parts, [declaration], context, givenProof),
    redeem: (context, givenProof) => requireProof(redeem(parts, [declaration], context, givenProof)),
    end: (of) => [endProofs(name, "user" in of ? { userId: of.user.id } : { mailbox: hashMailbox(parts, of.address) })],
  };
  return purpose;
}

async function request(
  parts: PurposeParts,
  { name, linkSeconds, codes, outlivesPassword = false }: PurposeDeclaration,
  context: Context,
  mailRequest: MailRequest,
): Promise<readonly Change[]> {
  const { address, user, data = null, notice = null } = mailRequest;
  const { now } = context.call;
  const counted = await countMail(parts.store, collectLimits(parts, name, context, mailRequest), now);
  if (counted === null) return [];
  const id = randomBytes(16).toString("base64url");
  const codesUntil = codes ? now + CODE_MS : now;
  const proof: NewMailProof = {
    id,
    purpose: name,
    userId: user !== null && "id" in user ? user.id : user,
    mailbox: hashMailbox(parts, address),
    address,
    data,
    generation: user !== null && "id" in user ? user.generation : null,
    outlives: outlivesPassword && (user === null || !("id" in user) || (user.emailVerifiedAt ?? null) === null),
    notice,
    createdAt: now,
    codesUntil,
    expiresAt: now + linkSeconds * 1000,
  };
  // The mail for an address without a user is queued too, but it is not sent. So the response takes the same time for
  // every address. A mailbox that has got too many mails gets the row of an address without a user. The row is of no
  // mailbox, so older codes stay valid.
  const stored = counted.isAllowed
    ? proof
    : { ...proof, userId: null, data: null, generation: null, notice: null, mailbox: hashSubject(parts, "none", id) };
  return [...counted.changes, ...insertProof(stored), ...parts.queue({ proof: id, until: proof.expiresAt }, now)];
}

/**
 * Returns the limits of a mail: of its mailbox for this purpose, of the client's address, and of the /48 of that
 * address.
 */
function collectLimits(
  parts: PurposeParts,
  purpose: string,
  { call, identity }: Context,
  { address, user, data = null, notice }: MailRequest,
): MailLimits {
  // Requests without a mail count for their spelling only. Otherwise a stranger could use up the mails of `ann@` with
  // requests for `ann+x@`.
  const [kind, name] = user === null && data === null ? ["requests", fold(address)] : ["mails", formatMailbox(address)];
  const mailbox = limitOfMailbox(hashSubject(parts, kind, `${purpose} ${name}`));
  const isForSelf = user !== null && "id" in user && user.id === identity?.id;
  // Administrators may invite many users at once.
  if (identity?.role === "admin" && !isForSelf && notice === undefined) return { mailbox, client: [] };
  const [network, site] = [formatNetwork(call.client.address), formatSite(call.client.address)];
  const client = [limitOfClient(hashSubject(parts, "client", network))];
  if (site !== network) client.push(limitOfSite(hashSubject(parts, "site", site)));
  return { mailbox, client };
}

async function send(purpose: Purpose, context: Context, mailRequest: MailRequest): Promise<void> {
  for (let round = 0; round < MOST_ATTEMPTS; round++) {
    const changes = await purpose.request(context, mailRequest);
    if (changes.length === 0) return;
    const outcome = await context.write({ changes });
    // `dangling`: the account was deleted in the meantime. The answer is the same as for an unknown address.
    if (outcome.kind === "written" || outcome.kind === "dangling") return;
    if (outcome.kind !== "refused" || outcome.name !== OVERTAKEN)
      throw new Error(`The store answered ${outcome.kind} to a request for a mail.`);
  }
  throw problem("unavailable", { headers: [["Retry-After", "1"]] });
}

/** Returns a proof of one of these purposes. Returns null if it is wrong, used or expired. */
export async function redeem(
  parts: PurposeParts,
  purposes: readonly PurposeDeclaration[],
  context: Pick<Context, "call">,
  givenProof: GivenProof,
): Promise<RedeemedProof | null> {
  const names = purposes.map(({ name }) => name);
  const proof =
    "token" in givenProof
      ? await byToken(parts, names, givenProof.token)
      : await byCode(parts, names, context, givenProof);
  const purpose = purposes.find(({ name }) => name === proof?.purpose);
  if (proof === null || purpose === undefined || !isRedeemable(proof) || proof.expiresAt <= context.call.now)
    return null;
  const { address, data } = proof;
  const user = proof.userId === null ? null : await findUser(parts, purpose, proof.userId, proof);
  if (proof.userId !== null && user === null) return null;
  return { purpose: purpose.name, address, user, data, changes: useProof(proof) };
}

/** Returns a proof. Ends the request with 400 `invalid_link` if there is none. */
export async function requireProof(found: Promise<RedeemedProof | null>): Promise<RedeemedProof> {
  const proof = await found;
  if (proof === null) throw problem("invalid_link");
  return proof;
}

async function byToken({ store, tokens }: PurposeParts, names: readonly string[], token: string) {
  const id = tokens.read(token, names);
  return id === null ? null : findProof(store, id);
}

/**
 * Counts the try before it compares the code, so concurrent tries cannot exceed the limit together. Compares the code
 * with the newest mail of each purpose, so a mail for one purpose does not end the code of another one.
 */
async function byCode(
  parts: PurposeParts,
  purposes: readonly string[],
  { call }: Pick<Context, "call">,
  { email, code }: { readonly email: string; readonly code: string },
): Promise<MailProof | null> {
  const { store, tokens } = parts;
  const network = hashSubject(parts, "tries", formatBlock(call.client.address)).slice(0, 12);
  const mailbox = hashMailbox(parts, email);
  const proofs = await countTry(store, { mailbox, network, purposes, now: call.now });
  const right = proofs.filter((proof) => tokens.isRightCode(proof.id, code)).find(isRedeemable);
  if (right === undefined) return null;
  await takeBackTry(store, proofs, network);
  return right;
}

/** Returns false for the proof of a mail that only informs, or that was not sent because no user has the address. */
function isRedeemable({ notice, userId, data }: MailProof): boolean {
  return notice === null && (userId !== null || data !== null);
}

/** Returns the account of a proof. Returns null if it may not log in, or if it has another address or password now. */
async function findUser(
  { store, accounts }: PurposeParts,
  { address: kind = "current" }: PurposeDeclaration,
  userId: number,
  { address, generation, outlives }: MailProof,
): Promise<Account | null> {
  const account = await accounts.find(userId);
  if (account === null || !account.active) return null;
  // The password or the logins have changed since the request. The row of a link that outlives them is still stored,
  // and another row is if a process of an earlier version changed the password.
  const isOutlived = outlives && (account.emailVerifiedAt ?? null) === null;
  if (generation !== null && generation !== account.generation && !isOutlived) return null;
  if (kind === "new") return account;
  const row = await store.find(accounts.users.collection, userId);
  return row !== null && fold(storedOf(row).email) === fold(address) ? account : null;
}

/** Returns the digest of a mailbox. Two spellings of an address that are equal for the store are one mailbox. */
function hashMailbox(parts: PurposeParts, address: string): string {
  return hashSubject(parts, "mailbox", fold(address));
}

/** Returns the mailbox of an address for limits: `ann+x@` and `"Ann"@` are the mailbox `ann@`. */
function formatMailbox(address: string): string {
  const at = address.lastIndexOf("@");
  const local = address.slice(0, at);
  const unquoted = local.startsWith('"') ? local.slice(1, -1).replaceAll(/\\(.)/g, "$1") : local;
  // An address that begins with + has no other name than itself.
  const plus = unquoted.indexOf("+", 1);
  return fold(`${plus === -1 ? unquoted : unquoted.slice(0, plus)}${address.slice(at)}`);
}

function hashSubject({ key }: PurposeParts, kind: string, text: string): string {
  return hmac(key, `${kind}|${text}`).toString("base64url");
}
