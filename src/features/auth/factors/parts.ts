import type { LoginThrottle } from "../../../access/throttle/throttle.ts";
import type { Call } from "../../../core/call/call.ts";
import { formatNetwork } from "../../../core/call/trusted-proxies.ts";
import type { Eventually } from "../../../core/eventually.ts";
import type { Change, Store } from "../../../store/store.ts";
import type { FactorSuccess, FindOutsideWays, Notice } from "../gate/contract.ts";
import type { Factors } from "../gate/factors.ts";
import type { Gate } from "../gate/gate.ts";
import type { PendingLogins } from "../gate/pending.ts";
import type { RecoveryCodes } from "../gate/recovery.ts";
import type { FactorTries } from "../gate/tries.ts";
import type { OutsideLogin } from "../gate/ways.ts";
import type { Passwords } from "../passwords/passwords.ts";
import type { Account, Accounts } from "../records/accounts.ts";
import type { Revocations } from "../records/revocation.ts";

/** The dependencies of the login endpoints. The gate is the code that completes every login. */
export interface GateEndpointsParts {
  readonly store: Store;
  readonly accounts: Accounts;
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
  readonly revocations: Revocations;
  readonly gate: Gate;
  readonly pending: PendingLogins;
  readonly factors: Factors;
  readonly tries: FactorTries;
  /** Makes and checks recovery codes. Null if no kind of factor is registered. */
  readonly recovery: RecoveryCodes | null;
  /** The name of the cookie of a waiting login. */
  readonly cookie: string;
  /** Returns the changes that send a notice. */
  notify(notice: Notice, account: Account, now: number): readonly Change[];
  /** The tables with external identities of accounts: at a proxy, an outside issuer or an identity provider. */
  readonly outsideLogins: OutsideLogin[];
  /** Finds the pages of other parties that confirm a login, one function for each feature that has some. */
  readonly outsideWays: FindOutsideWays[];
  /** Returns the page that asks for a second factor, without the base path. Returns null if the service has none. */
  factorPage(): string | null;
  /** True if users prove their own address by a mail (`POST /users/{id}/email`). */
  provesAddresses(): boolean;
  /** Returns the challenge of a 401 for this call. */
  challenge(call: Call): string;
}

/**
 * Returns the key under which wrong codes of an account are counted. An address from which the account logged in before
 * has a separate key, so that wrong codes from other addresses do not block it.
 */
async function findSubject({ throttle }: GateEndpointsParts, call: Call, account: Account): Promise<string> {
  const isKnown = await throttle.isKnown(call, account.username);
  return isKnown ? `${account.id} ${formatNetwork(call.client.address)}` : String(account.id);
}

/**
 * Checks the answer of a factor. Counts a try before the check, and removes this try again if the answer is right. Returns null if the
 * answer is wrong. Ends the request with 429 after too many wrong answers. The tenth wrong answer in an hour sends a notice.
 */
export async function tryAnswer(
  parts: GateEndpointsParts,
  call: Call,
  account: Account,
  check: () => Eventually<FactorSuccess | null>,
): Promise<FactorSuccess | null> {
  const { store, tries, notify } = parts;
  const subject = await findSubject(parts, call, account);
  const { isLast } = await tries.count(subject, call.now);
  const success = await check();
  if (success !== null) await tries.takeBack(subject, call.now);
  else if (isLast) await store.write({ changes: notify("factor_guessed", account, call.now) });
  return success;
}
