import type { Call } from "../../../core/call/call.ts";
import { markHash } from "../../../core/crypto/password-hash.ts";
import { problem } from "../../../core/problem/problem.ts";
import { storedOf, update } from "../../../http/declarations/table.ts";
import { invalid, type Context } from "../../../http/request/exchange.ts";
import type { Change, JSONValue } from "../../../store/store.ts";
import { requireWrittenRow } from "../../../store/written.ts";
import type { FactorKind, FactorSuccess, StoredFactor } from "../gate/contract.ts";
import { factorsCollection, MOST_FACTORS, RECOVERY } from "../gate/factors.ts";
import type { GateParts } from "../gate/parts.ts";
import { isConfirmed } from "../people/fresh-proof.ts";
import { isPrepared } from "../people/proved-address.ts";
import { accountsCollection, type Account } from "../records/accounts.ts";
import { equals, ofUser } from "../records/conditions.ts";

/** The members of the response to a new factor: its id, its kind, and data that is shown only once. */
export type ShownEnrolment = { readonly id: string; readonly kind: string } & Readonly<Record<string, JSONValue>>;

/** Returns the kind of this name. Ends the request with 400 if the service has none. */
export function requireKind({ gate }: GateParts, name: string): FactorKind {
  const kind = gate.kinds.get(name);
  if (kind !== undefined) return kind;
  const kindNames = [...gate.kinds.keys()];
  throw invalid([
    {
      pointer: "/kind",
      code: "invalid",
      detail:
        kindNames.length === 0 ? "This service has no second factors." : `The kind is one of ${kindNames.join(", ")}.`,
    },
  ]);
}

/**
 * Ends the request with 409 if the account gets its first factor while its user chose the address and never proved it.
 * The owner of the mailbox may be another person, whose first proof would end the factor. An address without a mailbox
 * has no owner.
 */
export async function requireProvedAddress(parts: GateParts, account: Account): Promise<void> {
  if ((account.factors ?? 0) > 0 || !isPrepared(account) || !parts.verifiesAddresses()) return;
  if ((await parts.gate.mail.step?.reaches(account)) === false) return;
  throw problem("unverified_email", {
    detail: `The e-mail address of this account is not proved yet. Prove it first: POST /users/${account.id}/email with the same address sends a mail.`,
  });
}

/**
 * True if the caller has no recent proof of a factor apart from a recovery code, or from a factor that such a login
 * added. Then the new factor confirms no change of factors for a day. Otherwise a recovery code would change all
 * factors after all, in two steps.
 */
export function isByRecovery({ call, identity }: Context, account: Account): boolean {
  return (account.factors ?? 0) > 0 && !isConfirmed(identity!, call.now, { allowsRecovery: false });
}

/**
 * Starts a new factor. The factor is active after its first right answer. `pending` is the waiting login that adds it.
 */
export async function enrol(
  parts: GateParts,
  call: Call,
  account: Account,
  request: {
    readonly kind: string;
    readonly label: string | null;
    readonly pending: string | null;
    /** True if a login by recovery code adds the factor. */
    readonly isHeld: boolean;
  },
): Promise<ShownEnrolment> {
  const kind = requireKind(parts, request.kind);
  const all = await parts.factors.list(account.id);
  const others = all.filter((factor) => factor.kind === kind.name);
  const label = request.label ?? kind.name;
  const { data, shown } = await kind.enrol(call, account, label, others);
  const { id: userId } = account;
  const inserted = parts.factors.insert(
    { userId, kind: kind.name, label, active: false, data, pending: request.pending, isHeld: request.isHeld },
    call.now,
  );
  const changes = [...parts.factors.keepRoom(userId, request.pending), inserted];
  const outcome = await parts.store.write({ changes });
  switch (outcome.kind) {
    case "written":
      return { id: String(storedOf(requireWrittenRow(inserted, changes, outcome)).id), kind: kind.name, ...shown };
    case "refused":
      throw problem("too_many", { detail: `An account has at most ${MOST_FACTORS} factors. Delete one first.` });
    default:
      throw problem("not_found");
  }
}

/** The changes that activate a factor, and the recovery codes of the first one. */
export interface Activation {
  readonly changes: readonly Change[];
  /**
   * The account after these changes, for the login that continues. It is computed and not read again. So if the
   * password changes at the same time, this account has the older generation, and the login ends too.
   */
  readonly account: Account;
  /** Shown once, if this is the first factor. */
  readonly recoveryCodes: readonly string[] | null;
}

/**
 * Activates a factor. The first one ends every other login of the account. `endKeys` also ends its API token and keys.
 */
export function activate(
  parts: GateParts,
  account: Account,
  factor: StoredFactor,
  { data, handle }: FactorSuccess,
  { now, endKeys }: { readonly now: number; readonly endKeys: boolean },
): Activation {
  const isFirst = (account.factors ?? 0) === 0;
  const codes = isFirst ? (parts.recovery()?.make(account.id) ?? null) : null;
  const { id: userId } = account;
  const factors = (account.factors ?? 0) + 1;
  const where = { all: [equals("id", userId), equals("factors", factors - 1)] };
  // `endAccount` refuses the transaction if the password has changed since the account was read.
  const marked =
    isFirst && account.passwordHash !== null ? { passwordHash: markHash(account.passwordHash, factors) } : {};
  const values = { factors, ...("passwordHash" in marked ? { password_hash: marked.passwordHash } : {}) };
  const changes: readonly Change[] = [
    { kind: "require", collection: accountsCollection, where, atLeast: 1, name: "factors" },
    update(accountsCollection, { key: userId, values }),
    parts.factors.activate(factor, data, handle ?? null, now),
    ...(isFirst ? parts.revocations.endAccount(account, now, endKeys) : []),
    ...(codes === null ? [] : replaceCodes(parts, userId, codes.data, now)),
    ...parts.notify("factor_added", account, now),
  ];
  const ended = isFirst ? { generation: account.generation + 1, remainingFamily: null } : {};
  return { changes, account: { ...account, ...marked, factors, ...ended }, recoveryCodes: codes?.codes ?? null };
}

/** Returns the changes that replace the recovery codes of an account with new ones. */
export function replaceCodes(parts: GateParts, userId: number, data: JSONValue, now: number): readonly Change[] {
  return [
    dropCodes(userId),
    parts.factors.insert({ userId, kind: RECOVERY, label: "Recovery code", active: true, data }, now),
  ];
}

/** Returns the change that deletes the recovery codes of an account. */
export function dropCodes(userId: number): Change {
  return {
    kind: "deleteAll",
    collection: factorsCollection,
    where: { all: [ofUser(userId), equals("kind", RECOVERY)] },
  };
}
