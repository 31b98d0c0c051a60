import { randomBytes } from "node:crypto";
import { formatBlock, formatNetwork } from "../../../core/call/trusted-proxies.ts";
import { hmac } from "../../../core/crypto/secret.ts";
import { problem } from "../../../core/problem/problem.ts";
import type { Context } from "../../../http/exchange.ts";
import { fold } from "../../../store/fold.ts";
import { OVERTAKEN, type Change, type Store } from "../../../store/store.ts";
import type { Account } from "../accounts/stored-accounts.ts";
import type { People } from "../login.ts";
import type { QueuedMail } from "./composing.ts";
import type { GivenProof, MailRequest, Purpose, PurposeDeclaration, RedeemedProof } from "./contract.ts";
import { countMail, limitOfClient, limitOfMailbox } from "./limits.ts";
import {
  countTry,
  endProofs,
  findByCode,
  findProof,
  insertProof,
  takeBackTry,
  useProof,
  type MailProof,
} from "./proofs.ts";
import type { ProofTokens } from "./tokens.ts";

const CODE_MS = 600_000;

/** The largest number of attempts to write a request for a mail while other requests count theirs. */
const MOST_ATTEMPTS = 40;

/** The parts of proofs by mail of one service. */
export interface PurposeParts {
  readonly store: Store;
  readonly people: People;
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
  { name, linkSeconds, codes }: PurposeDeclaration,
  { call, identity }: Context,
  { address, user, data = null, notice }: MailRequest,
): Promise<readonly Change[]> {
  const { now } = call;
  const mailbox = hashMailbox(parts, address);
  const client = hashSubject(parts, "client", formatNetwork(call.client.address));
  // Administrators may invite many users at once.
  const isAdministrator = identity?.role === "admin";
  const limits = [limitOfMailbox(mailbox), ...(isAdministrator ? [] : [limitOfClient(client)])];
  const counted = await countMail(parts.store, limits, now);
  if (counted === null) return [];
  const id = randomBytes(16).toString("base64url");
  const proof = {
    id,
    purpose: name,
    userId: user !== null && "id" in user ? user.id : user,
    mailbox,
    address,
    data,
    notice: notice ?? null,
    createdAt: now,
    codesUntil: codes && notice === undefined ? now + CODE_MS : now,
    expiresAt: now + linkSeconds * 1000,
  };
  // The mail for an address without a user is queued too, but it is not sent. So the response takes the same time for every address.
  return [...counted, ...insertProof(proof), ...parts.queue({ proof: id, until: proof.expiresAt }, now)];
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
  context: Context,
  givenProof: GivenProof,
): Promise<RedeemedProof | null> {
  const names = purposes.map(({ name }) => name);
  const proof =
    "token" in givenProof
      ? await byToken(parts, names, givenProof.token)
      : await byCode(parts, names, context, givenProof);
  const purpose = purposes.find(({ name }) => name === proof?.purpose);
  if (proof === null || purpose === undefined || proof.notice !== null || proof.expiresAt <= context.call.now)
    return null;
  const { address, data } = proof;
  // Without a user and without data, no mail was sent.
  if (proof.userId === null && data === null) return null;
  const user = proof.userId === null ? null : await findUser(parts, purpose, proof.userId, address);
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

/** Counts the try before it compares the code, so concurrent tries cannot exceed the limit together. */
async function byCode(
  parts: PurposeParts,
  names: readonly string[],
  { call }: Context,
  { email, code }: { readonly email: string; readonly code: string },
): Promise<MailProof | null> {
  const { store, tokens } = parts;
  const proof = await findByCode(store, hashMailbox(parts, email), names, call.now);
  if (proof === null) return null;
  const network = hashSubject(parts, "tries", formatBlock(call.client.address)).slice(0, 12);
  if (!(await countTry(store, proof.id, network)) || !tokens.isRightCode(proof.id, code)) return null;
  await takeBackTry(store, proof.id, network);
  return proof;
}

/** Returns the account of a proof. Returns null if it may not log in, or if it has another address now. */
async function findUser(
  { store, people }: PurposeParts,
  { address: kind = "current" }: PurposeDeclaration,
  userId: number,
  address: string,
): Promise<Account | null> {
  const account = await people.accounts.find(userId);
  if (account === null || !account.active) return null;
  if (kind === "new") return account;
  const row = await store.find(people.users.collection, userId);
  return row !== null && fold(row.record["email"] as string) === fold(address) ? account : null;
}

/** Returns the digest of a mailbox. Two spellings of an address that are equal for the store are one mailbox. */
function hashMailbox(parts: PurposeParts, address: string): string {
  return hashSubject(parts, "mailbox", fold(address));
}

function hashSubject({ key }: PurposeParts, kind: string, text: string): string {
  return hmac(key, `${kind}|${text}`).toString("base64url");
}
