import { entry } from "./entry.ts";

/** The JSON Schema of the member `login`. */
const pendingLoginSchema = {
  type: "object",
  properties: {
    pending: {
      type: "string",
      description: "Identifies the login at `/api/login/`. Missing if a cookie identifies it.",
    },
    needs: { type: "string", enum: ["factor", "enrolment"] },
    expires_at: { type: "string", format: "date-time" },
    factors: {
      type: "array",
      items: {
        type: "object",
        properties: {
          id: { type: "string" },
          kind: { type: "string" },
          label: { type: "string" },
          ask: {
            type: "object",
            description: "The data for the answer. For a passkey: PublicKeyCredentialRequestOptionsJSON.",
          },
        },
        required: ["id", "kind"],
      },
    },
  },
  required: ["needs", "expires_at", "factors"],
} as const;

/** The problems of logins that wait for a second factor or a confirmation, of factors, and of links in mails. */
export const loginProblems = {
  factor_required: {
    ...entry(
      401,
      "Second factor required",
      "The login is not complete. A second factor is required.",
      "The credential is right, and the account needs a second factor: it has one, or its role must have one.",
      "Send the answer of one factor of login.factors to /api/login/ with login.pending. Programs use an API token or a key instead.",
    ),
    extensions: {
      login: {
        kind: { schema: pendingLoginSchema, parse: (value: unknown) => value },
        options: {
          optional: true,
          description:
            "The login that waits for a factor. Missing if the scheme of the credential cannot ask for a factor.",
        },
      },
    },
  },
  login_expired: entry(
    401,
    "Login expired",
    "This login is unknown, complete or expired. Start again.",
    "A login that waits for a second factor lives for five minutes, works once, and ends after five wrong codes or with a changed password.",
    "Log in again with the first credential.",
  ),
  login_failed: entry(
    401,
    "Login failed",
    "The identity provider did not confirm the login.",
    "The answer of the identity provider does not belong to a login that this browser has started, or it is not valid.",
    "Start the login again.",
  ),
  confirmation_required: entry(
    401,
    "Confirmation required",
    "Confirm who you are, then send the request again.",
    "The request needs a login that was confirmed lately, and this one is too old or too weak (RFC 9470).",
    "POST to /api/login/confirm/ and complete it, or log in again. Programs with API tokens and keys cannot confirm.",
  ),
  last_factor: entry(
    409,
    "Last factor",
    "The last second factor of this account cannot be deleted. Add another one first. If it is lost, another administrator or the operator can delete it.",
    "The account must have a second factor, and this is its only one.",
    "Add another factor first. If it is lost, an administrator or the operator can delete it.",
  ),
  no_proof: entry(
    409,
    "Nothing to confirm with",
    "This account has nothing with which it can confirm a login here. Log in again.",
    "The account has neither a password nor a second factor, no linked provider says when its user logged in, and mail is off.",
    "Log out and log in again: a new login counts as confirmed. An administrator can create a password.",
  ),
  unverified_email: entry(
    409,
    "Unverified e-mail address",
    "The e-mail address of this account is not proved yet. Prove it first.",
    "The first proof of an address ends every way to log in that was added before it. So a second factor comes after the proof.",
    "POST the same address to /users/{id}/email, confirm the mail, then add the factor.",
  ),
  last_login: entry(
    409,
    "Last way to log in",
    "The last way to log in to this account cannot be deleted. Set a password, or add another passkey or identity first.",
    "Without this way to log in, the user could no longer log in.",
    "Set a password, or add another passkey or identity first.",
  ),
  invalid_link: entry(
    400,
    "Invalid link",
    "The link or the code is wrong, used or expired.",
    "A link works once and for a limited time. A newer mail ends older codes.",
    "Ask for a new mail.",
  ),
  too_many: entry(
    409,
    "Too many",
    "There are too many of these already.",
    "One account may have only a limited number of these.",
    "Delete one first.",
  ),
} as const;
