import type { Offer, View } from "../../../http/request/view.ts";
import { caller } from "../../../resource/declaration/field.ts";
import { USERS_PATH } from "../login-methods.ts";
import { collectInputs, type Input } from "./inputs.ts";

type RecordValues = Readonly<Record<string, unknown>>;

/** Fields of users for their creation only. */
const OF_CREATION: ReadonlySet<string> = new Set(["invite"]);

/** Fields of a user that the page of the account has, with everything that a change of them needs. */
const OF_ACCOUNT: ReadonlySet<string> = new Set(["email", "username", "password", "current_password", "end_keys"]);

/**
 * Returns the inputs of a form for people: the fields that the caller may send, without those that the service fills in
 * or that the call would refuse.
 */
export function formInputs(offer: Offer, view: View, record: RecordValues | null): readonly Input[] {
  const isOfUsers = offer.resource?.path === USERS_PATH && offer.name === null;
  const isOwn = isOfUsers && record !== null && record["id"] === view.identity?.id;
  return collectInputs(offer).filter(({ name, field }) => {
    if (isOfUsers && offer.method !== "POST" && OF_CREATION.has(name)) return false;
    if (isOwn && OF_ACCOUNT.has(name)) return false;
    // The service fills in the caller. An id of a user is nothing that a person types.
    return field === null || field.kind.references !== undefined || field.options.default !== caller;
  });
}
