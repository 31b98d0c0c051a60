import type { Call } from "../../../core/call/call.ts";
import { formatNetwork } from "../../../core/call/trusted-proxies.ts";
import type { Eventually } from "../../../core/eventually.ts";
import type { FactorSuccess } from "../gate/contract.ts";
import type { GateParts } from "../gate/parts.ts";
import type { Account } from "../records/accounts.ts";

/**
 * Returns the key under which wrong codes of an account are counted. An address from which the account logged in before
 * has a separate key, so that wrong codes from other addresses do not block it.
 */
async function findSubject({ throttle }: GateParts, call: Call, account: Account): Promise<string> {
  const isKnown = await throttle.isKnown(call, account.username);
  return isKnown ? `${account.id} ${formatNetwork(call.client.address)}` : String(account.id);
}

/**
 * Checks the answer of a factor. Counts a try before the check, and removes this try again if the answer is right.
 * Returns null if the answer is wrong. Ends the request with 429 after too many wrong answers. The tenth wrong answer
 * in an hour sends a notice.
 */
export async function tryAnswer(
  parts: GateParts,
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
