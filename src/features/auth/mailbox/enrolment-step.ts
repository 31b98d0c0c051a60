import { storedOf } from "../../../http/declarations/table.ts";
import { isReserved } from "../../../resource/kinds/mailbox.ts";
import type { Store } from "../../../store/store.ts";
import type { MailStep, MailStepPurpose } from "../gate/contract.ts";
import type { AccountsContract } from "../people/contracts/accounts.ts";
import { verifyEmail } from "../people/proved-address.ts";
import type { Account } from "../records/accounts.ts";
import type { Purpose, PurposeDeclaration } from "./contract.ts";

/**
 * The code that a user enters before adding the first factor during a login. The mail has no link, because the login
 * waits in one browser.
 */
export const enrolment: PurposeDeclaration = {
  name: "enrolment",
  linkSeconds: 600,
  codes: true,
  template: "factor_code",
};

/** The code with which a user who has neither a password nor a factor confirms a login. */
export const confirmation: PurposeDeclaration = {
  name: "confirmation",
  linkSeconds: 600,
  codes: true,
  template: "confirm_code",
};

/** The parts of the step of the gate. */
export interface EnrolmentStepParts {
  readonly store: Store;
  readonly accounts: Pick<AccountsContract, "users">;
  readonly purposes: Readonly<Record<MailStepPurpose, Purpose>>;
}

/** Makes the step of the gate that asks for a code from the mailbox of the account's address. */
export function enrolmentStep({ store, accounts, purposes }: EnrolmentStepParts): MailStep {
  async function findAddress({ id }: Account): Promise<string | null> {
    const user = await store.find(accounts.users.collection, id);
    return user === null ? null : storedOf(user).email;
  }

  return {
    async reaches(user) {
      const address = await findAddress(user);
      return address !== null && !isReserved(address);
    },
    async send(context, user, purpose) {
      const address = await findAddress(user);
      if (address !== null) await purposes[purpose].send(context, { address, user });
    },
    async check(context, account, code, purpose) {
      const email = await findAddress(account);
      const proof = email === null ? null : await purposes[purpose].find(context, { email, code });
      if (proof?.user?.id !== account.id) return null;
      // The caller knows the password and reads the mailbox, so no other person has prepared the account.
      return [...proof.changes, ...verifyEmail(account, context.call.now)];
    },
  };
}
