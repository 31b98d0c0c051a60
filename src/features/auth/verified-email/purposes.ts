import { isObject, isText } from "../../../core/checking/members.ts";
import type { JSONValue } from "../../../store/store.ts";
import type { Mailbox, Purpose } from "../mailbox/contract.ts";
import type { Newcomer } from "../records/verifying.ts";

/** The proofs of an address that this feature asks for. */
export interface EmailPurposes {
  readonly signUp: Purpose;
  readonly invitation: Purpose;
  readonly change: Purpose;
}

const HOUR_SECONDS = 3600;

/** The page of accounts that a link leads to. It shows a button, and asks for a password if the link needs one. */
const path = "verify";

export function emailPurposes(mailbox: Mailbox): EmailPurposes {
  return {
    signUp: mailbox.purpose({
      name: "sign-up",
      linkSeconds: 24 * HOUR_SECONDS,
      codes: true,
      template: "sign_up",
      path,
    }),
    invitation: mailbox.purpose({
      name: "invitation",
      linkSeconds: 7 * 24 * HOUR_SECONDS,
      codes: true,
      template: "invitation",
      path,
    }),
    change: mailbox.purpose({
      name: "email-change",
      linkSeconds: HOUR_SECONDS / 2,
      codes: true,
      template: "email_change",
      path,
      query: "change=1",
      address: "new",
    }),
  };
}

/** The mails that only inform the owner of an address. */
export const notices = { known: "account_exists", taken: "address_taken" } as const;

/** Returns the data of a sign-up that is stored with its proof. */
export function storedNewcomer({ name, fields }: Newcomer): JSONValue {
  return { name, fields };
}

/**
 * Reads the data of a sign-up, as `storedNewcomer` wrote it. Leaves out the username that an earlier version stored
 * with it.
 */
export function readNewcomer(email: string, data: JSONValue): Newcomer {
  const { name, fields } = isObject(data) ? data : {};
  if (!isText(name) || !isObject(fields)) throw new TypeError("The data of a sign-up has no name and no fields.");
  return { name, email, fields };
}
