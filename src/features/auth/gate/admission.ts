import type { Level, Proof } from "../../../core/identity.ts";
import { computeLevel } from "../../../core/levels.ts";
import type { Change } from "../../../store/store.ts";
import type { Account } from "../records/accounts.ts";

/** Only this module can pass it to the constructor, which JavaScript reaches through any admission. */
const gateKey = Symbol("gate");

let make: (account: Account, proofs: readonly Proof[], notices?: readonly Change[]) => Admission;

/**
 * The right to start one login of an account. Only the gate and `vouch` make an admission, after they have decided that
 * the proofs are enough. Code that starts a login must have an admission as a parameter and spend it once. TypeScript
 * code that skips the gate does not compile, and JavaScript code that skips it throws.
 */
export class Admission {
  readonly proofs: readonly Proof[];
  readonly level: Level;
  /** The user who logs in. */
  readonly userId: number;
  /**
   * The account's generation at the admission. It changes when the password changes or when all logins of the account
   * end for another reason.
   */
  readonly generation: number;
  /**
   * The changes that notify the user if another user makes a credential for this account. They are written in the
   * transaction that creates the credential. If the user already has an API token, they are written alone.
   */
  readonly notices: readonly Change[];
  readonly #account: Account;
  #isSpent = false;

  private constructor(key: symbol, account: Account, proofs: readonly Proof[], notices: readonly Change[] = []) {
    if (key !== gateKey) throw new TypeError("Only logins.beginLogin and logins.vouch make an Admission.");
    this.#account = account;
    this.userId = account.id;
    this.generation = account.generation;
    this.proofs = proofs;
    this.notices = notices;
    this.level = computeLevel(proofs);
    Object.freeze(this);
  }

  /** Returns the account, once. Throws a TypeError if the gate did not make the object, or if it was spent before. */
  static spend(admission: Admission): Account {
    if (typeof admission !== "object" || admission === null || !(#isSpent in admission))
      throw new TypeError(
        "This function starts a login and needs an Admission. Only logins.beginLogin and logins.vouch make it.",
      );
    if (admission.#isSpent) throw new TypeError("This Admission has started a login before. Each login needs its own.");
    admission.#isSpent = true;
    return admission.#account;
  }

  static {
    make = (...input) => new Admission(gateKey, ...input);
  }
}

/**
 * Makes an admission. Only the gate and `vouch` may call it: `tests/project/house.test.ts` has the list of files that
 * may import it.
 */
export function admit(account: Account, proofs: readonly Proof[], notices: readonly Change[] = []): Admission {
  return make(account, proofs, notices);
}

/**
 * Makes an admission for tests, as the operator of the machine. Its only proof is `operator`, which has level 2. `now`
 * in milliseconds since the epoch.
 *
 * @example
 * ```ts
 * import type { Account, SessionLogin } from "latchkey/auth";
 * import { admitAsOperator, callOf } from "latchkey/testing";
 *
 * export const startSession = ({ sessions }: SessionLogin, account: Account) =>
 *   sessions.create(admitAsOperator(account, 0), callOf());
 * ```
 */
export function admitAsOperator(account: Account, now: number): Admission {
  return make(account, [{ method: "operator", at: now }]);
}
