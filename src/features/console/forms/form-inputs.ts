import type { Offer, View } from "../../../http/request/view.ts";
import { caller } from "../../../resource/declaration/field.ts";
import { USERS_PATH } from "../login-methods.ts";
import { collectInputs, type Input } from "./inputs.ts";

type RecordValues = Readonly<Record<string, unknown>>;

/** Fields of users for their creation only. */
const OF_CREATION: ReadonlySet<string> = new Set(["invite"]);

/** Fields of a user that the page of the account has, with everything that a change of them needs. */
const OF_ACCOUNT: ReadonlySet<string> = new Set(["email", "username", "password", "current_password", "end_keys"]);

/** The label and the hint of the built-in fields of a user. Their descriptions are for programs. */
const userWords: Readonly<Record<string, readonly [label: string, hint?: string]>> = {
  name: ["Name"],
  email: ["E-mail"],
  username: ["Username", "For logging in. Without one, the e-mail is used."],
  password: ["Password", "At least 8 characters. A few words are good."],
  current_password: ["Your password", "To change your own login."],
  end_keys: ["End the keys for programs", "With a new password. Programs that use a key stop working."],
  invite: ["Invite by mail", "A mail leads to a page for choosing a password."],
};

/**
 * Returns the inputs of a form for people: the fields that the caller may send, without those that the service fills in
 * or that the call would refuse.
 */
export function formInputs(offer: Offer, view: View, record: RecordValues | null): readonly Input[] {
  const isOfUsers = offer.resource?.path === USERS_PATH && offer.name === null;
  const isOwn = isOfUsers && record !== null && record["id"] === view.identity?.id;
  const inputs = collectInputs(offer).map((input) => (isOfUsers ? withUserWords(input) : input));
  return inputs.filter(({ name, field }) => {
    if (isOfUsers && offer.method !== "POST" && OF_CREATION.has(name)) return false;
    if (isOwn && OF_ACCOUNT.has(name)) return false;
    // The service fills in the caller. An id of a user is nothing that a person types.
    return field === null || field.kind.references !== undefined || field.options.default !== caller;
  });
}

function withUserWords(input: Input): Input {
  const words = Object.hasOwn(userWords, input.name) ? userWords[input.name] : undefined;
  return words === undefined ? input : { ...input, label: words[0], description: words[1] };
}
