import { anyone } from "../../../access/permission/permission.ts";
import type { Reply } from "../../../core/call/call.ts";
import { Problem, problem, type Issue } from "../../../core/problem/problem.ts";
import { prefersRedirect } from "../../../http/answer/choosing-format.ts";
import { builtInEndpoint, type Endpoint } from "../../../http/declarations/endpoint.ts";
import { requireDraft } from "../../../http/mount/writes/drafting.ts";
import { invalid, type Context } from "../../../http/request/exchange.ts";
import { Flaw } from "../../../resource/declaration/field.ts";
import { text } from "../../../resource/kinds/fields.ts";
import { defineResource } from "../../../resource/resource.ts";
import type { Outcome } from "../../../store/store.ts";
import { requireNewId } from "../../../store/written.ts";
import {
  nextField,
  nextPage,
  openPost,
  proofFields,
  redirect,
  requireGivenProof,
  requireOwnForm,
} from "../mailbox/asking.ts";
import type { GivenProof, RedeemedProof } from "../mailbox/contract.ts";
import type { Account } from "../records/accounts.ts";
import { userSchema } from "../requests/documentation.ts";
import { ownPassword } from "../requests/fresh-login.ts";
import { readNewcomer } from "./purposes.ts";
import type { EmailParts } from "./requesting.ts";

const confirmation = defineResource({
  name: "confirmation",
  fields: {
    ...proofFields,
    password: text({
      ...ownPassword,
      minLength: 8,
      description: "For sign-ups and invitations: the password of the user.",
    }),
    username: text({
      maxLength: 254,
      optional: true,
      description: "For sign-ups: the login name. Default: the e-mail address.",
    }),
    next: nextField,
  },
});

/**
 * Returns `POST /api/email/confirm/`: the person who reads the mailbox completes a sign-up, an invitation or a changed
 * address.
 */
export function confirmEndpoint(parts: EmailParts): Endpoint {
  return builtInEndpoint({
    ...openPost,
    path: "/api/email/confirm/",
    access: anyone,
    // The handler decides about a rejected credential, because only a changed address needs a caller. A sign-up ignores
    // a rejected credential.
    refusals: "reported",
    documentation: {
      summary: "Confirm an e-mail address with the link or the code of a mail",
      tag: "email",
      request: confirmation,
      responses: {
        200: { description: "The invited user, or the user with another address.", schema: userSchema },
        201: { description: "The new user.", schema: userSchema, headers: { Location: "The path of the user." } },
        303: {
          description: "The same for a form of a page: redirects to the next page.",
          headers: { Location: "A path of this service." },
        },
      },
      problems: ["invalid_link", "taken", "conflict", "not_authenticated", "permission_denied", "too_many_attempts"],
    },
    handle: (context) => confirm(parts, context),
  });
}

/** The body of a confirmation. */
interface ConfirmationInput {
  readonly proof: GivenProof;
  readonly password: string | undefined;
  readonly username: string | null;
  readonly next: string | null;
}

async function confirm(parts: EmailParts, context: Context): Promise<Reply> {
  const { values, transient } = requireDraft(confirmation, context, { id: null, current: null });
  requireOwnForm(context, parts.ownOrigins);
  const { token, email, code, next, username } = values;
  const input: ConfirmationInput = {
    proof: requireGivenProof({ token, email, code }),
    password: transient.password,
    username,
    next,
  };
  const { purposes, mailbox } = parts;
  const all = [purposes.signUp, purposes.invitation, purposes.change];
  const redeem = () => mailbox.redeem(context, all, input.proof);
  const proof = await redeem();
  const steps = { [purposes.signUp.name]: signUp, [purposes.invitation.name]: acceptInvitation };
  const done = await (steps[proof.purpose] ?? changeAddress)(parts, context, proof, input);
  if (done.kind === "written") return done.reply;
  // If another request has used the same link in the meantime, this ends the request with the answer for a used link.
  await redeem();
  throw done.refusal;
}

type ConfirmationResult =
  | { readonly kind: "written"; readonly reply: Reply }
  | { readonly kind: "refused"; readonly refusal: Error };

async function signUp(
  parts: EmailParts,
  context: Context,
  proof: RedeemedProof,
  input: ConfirmationInput,
): Promise<ConfirmationResult> {
  const password = requirePassword(input);
  // The page of the link sends the address, which is the default and may be longer than a chosen username.
  const username = input.username === proof.address ? null : readUsername(parts, input);
  const newcomer = readNewcomer(proof.address, proof.data);
  const also = [...proof.changes, ...parts.purposes.signUp.end({ address: proof.address })];
  let outcome: Outcome;
  try {
    outcome = await parts.changing.createUser(context, { ...newcomer, password, username }, also);
  } catch (error) {
    // Another request may have used the same link. The answer is then the one for a used link.
    if (!(error instanceof Problem)) throw error;
    if (error.code === "too_many_attempts") return { kind: "refused", refusal: error };
    if (error.code !== "taken") throw error;
    const issues = error.issues.map(nameTaken);
    return { kind: "refused", refusal: problem("taken", { issues }) };
  }
  return createResult(parts, context, outcome, { next: input.next, status: 201 });
}

async function acceptInvitation(
  parts: EmailParts,
  context: Context,
  proof: RedeemedProof,
  input: ConfirmationInput,
): Promise<ConfirmationResult> {
  const account = proof.user;
  requireNoUsername(input);
  // The user has already set a password in another way, so the invitation no longer counts.
  if (account === null || account.passwordHash !== null) throw problem("invalid_link");
  const password = requirePassword(input);
  const changes = await parts.changing.passwordChanges(context, { account, password, provesAddress: true });
  const ended = parts.purposes.invitation.end({ address: proof.address });
  const outcome = await context.write({ changes: [...proof.changes, ...ended, ...changes] });
  return createResult(parts, context, outcome, { next: input.next, status: 200, id: account.id });
}

async function changeAddress(
  parts: EmailParts,
  context: Context,
  proof: RedeemedProof,
  input: ConfirmationInput,
): Promise<ConfirmationResult> {
  const account = proof.user;
  if (account === null) throw problem("invalid_link");
  requireSameUser(context, account);
  requireNoUsername(input);
  if (input.password !== undefined) throw invalid([noPassword]);
  const addressChange = { account, email: proof.address };
  const outcome = await parts.changing.changeAddress(context, addressChange, proof.changes);
  if (outcome === null) throw problem("invalid_link");
  return createResult(parts, context, outcome, { next: input.next, status: 200, id: account.id });
}

/**
 * Ends the request with 401 if the caller is unknown. Ends it with 403 if the caller is another user, uses a key with
 * scopes, or is an administrator who acts for the user.
 */
function requireSameUser(context: Context, account: Account): void {
  if (context.identity === null && context.refusal !== null) throw context.refusal.problem;
  const identity = context.requireIdentity();
  if (identity.id !== account.id || identity.scopes !== null || identity.actor !== undefined)
    throw problem("permission_denied", { detail: "Log in as the user whose address changes." });
}

async function createResult(
  { accounts }: EmailParts,
  context: Context,
  outcome: Outcome,
  { next, status, id }: { readonly next: string | null; readonly status: 200 | 201; readonly id?: number },
): Promise<ConfirmationResult> {
  if (outcome.kind !== "written") return { kind: "refused", refusal: createRefusal(outcome) };
  const userId = id ?? requireNewId(outcome);
  if (prefersRedirect(context)) return { kind: "written", reply: redirect(nextPage(context, next)) };
  const user = await accounts.requireUser(userId);
  const headers = status === 201 ? [["Location", context.at(`/users/${userId}`)] as const] : [];
  const reply: Reply = { status, cache: "no-store", headers, body: { kind: "data", value: user, element: "user" } };
  return { kind: "written", reply };
}

function createRefusal(outcome: Exclude<Outcome, { readonly kind: "written" }>): Error {
  const issues = findTaken(outcome);
  if (issues !== null) return problem("taken", { issues });
  return problem("conflict", {
    detail: "Something has changed since the mail was sent. Try again, or ask for a new mail.",
  });
}

/** Names the field whose value is taken. Returns null if the outcome has another reason. */
function findTaken(outcome: Outcome): readonly Issue[] | null {
  if (outcome.kind === "refused" && outcome.name === "taken") return (outcome.issues ?? []).map(nameTaken);
  if (outcome.kind !== "taken") return null;
  return outcome.column === null ? [] : [nameTaken({ ...valueTaken, pointer: `/${outcome.column}` })];
}

function nameTaken(issue: Issue): Issue {
  if (issue.pointer === "/email") return addressTaken;
  return issue.pointer === "/username" ? usernameTaken : issue;
}

const addressTaken: Issue = {
  pointer: "/email",
  code: "taken",
  detail: "An account with this address exists now. Log in to it, or reset its password.",
};

const valueTaken: Omit<Issue, "pointer"> = {
  code: "taken",
  detail: "This value is already taken. Sign up again with another one.",
};

const usernameTaken: Issue = {
  pointer: "/username",
  code: "taken",
  detail: "An account with this username exists now. Choose a different username.",
};

function requirePassword({ password }: ConfirmationInput): string {
  if (password !== undefined) return password;
  throw invalid([{ pointer: "/password", code: "required", detail: "This field is required." }]);
}

/** Returns the chosen username. Ends the request (400) if it does not fit the field of users. */
function readUsername({ accounts }: EmailParts, { username }: ConfirmationInput): string | null {
  if (username === null) return null;
  const read = accounts.users.resource.fields.username.kind.parse(username);
  if (read instanceof Flaw) throw invalid([{ pointer: "/username", code: read.code, detail: read.detail }]);
  return read;
}

function requireNoUsername({ username }: ConfirmationInput): void {
  if (username !== null) throw invalid([noUsername]);
}

const noUsername: Issue = {
  pointer: "/username",
  code: "read_only",
  detail: "Only a sign-up chooses the username here. Leave it out.",
};

const noPassword: Issue = {
  pointer: "/password",
  code: "read_only",
  detail: "The password does not change with the address. Leave it out.",
};
