import { entry, type CatalogueEntry } from "./entry.ts";
import type { ExtensionMembers } from "./extensions.ts";
import { loginProblems } from "./login-problems.ts";
import { serverProblems } from "./server-problems.ts";

/** A problem of your own: the result of `defineProblem`, for `throw problem(outOfStock)`. */
export interface ProblemDefinition<E extends ExtensionMembers = ExtensionMembers> extends CatalogueEntry {
  /**
   * Lower-case words joined by underscores, different from every code of the catalogue. It never changes its meaning.
   */
  readonly code: string;
  /**
   * Extension members (RFC 9457 §3.2) by name: `{ balance: decimal({ scale: 2 }) }`. Pass their values to `problem`. A
   * field with `optional: true` may be left out. Names are lower-case words joined by underscores, of three characters
   * or more.
   */
  readonly extensions?: E;
}

/** A problem of the catalogue by its code, or a custom one. */
export type AnyProblem = ProblemCode | ProblemDefinition;

/** All problems of a service by code: first the problems of the catalogue, then the custom problems. */
export type Catalogue = Readonly<Record<string, CatalogueEntry>>;

/** Returns the catalogue with the custom problems at the end. */
export function catalogueWith(own: readonly ProblemDefinition[]): Catalogue {
  return { ...catalogue, ...Object.fromEntries(own.map((each) => [each.code, each])) };
}

/** Returns the code of a problem of the catalogue, or of a custom one. */
export function resolveCode(each: AnyProblem): string {
  return typeof each === "string" ? each : each.code;
}

/** Returns the custom problems, each once. */
export function ownAmong(some: readonly AnyProblem[]): readonly ProblemDefinition[] {
  return [...new Set(some.filter((each) => typeof each !== "string"))];
}

export type { CatalogueEntry } from "./entry.ts";

/** All built-in problems. A code never changes its meaning. */
export const catalogue = {
  malformed: entry(
    400,
    "Malformed request",
    "The request could not be understood.",
    "The body, a header or the query breaks the rules of its syntax.",
    "Read the detail: it names the place. Send strict UTF-8 JSON without duplicate members, or well-formed XML without a DTD.",
  ),
  invalid: entry(
    400,
    "Invalid data",
    "The data is not valid.",
    "The body could be read, and one or more of its fields break a rule of the resource.",
    "Correct each field named in errors: pointer says where, code and detail say what. Nothing was stored.",
  ),
  invalid_query: entry(
    400,
    "Invalid query",
    "The query is not valid.",
    "A query parameter is unknown, given twice, out of its range, or a cursor does not belong to this query.",
    "Correct the parameters named in errors. Follow the links in the Link header instead of making cursors.",
  ),
  unknown_preference: entry(
    400,
    "Unknown preference",
    "A preference is not known.",
    "Prefer contains handling=strict, which makes unknown preferences an error, and one of the preferences is unknown.",
    "Leave out the preference that the detail names. Without handling=strict, it is ignored.",
  ),
  invalid_patch: entry(
    400,
    "Malformed patch",
    "The patch is malformed.",
    "The body is not a JSON Patch document (RFC 6902).",
    "Send an array of operations, each with op and path, and with value or from if the operation needs it.",
  ),
  duplicate_credentials: entry(
    400,
    "Two credentials of one kind",
    "The request carries the same kind of credential twice.",
    "The service cannot know which of the two is meant. If it guessed, one could hide the other.",
    "Send one Authorization header, and each other credential once.",
  ),
  conflicting_credentials: entry(
    400,
    "Conflicting credentials",
    "The request carries credentials of different users.",
    "Two schemes accepted the request, for two different users.",
    "Send the credentials of one user only. A browser may be adding a cookie to your Authorization header.",
  ),
  not_authenticated: entry(
    401,
    "Authentication required",
    "Authentication credentials were not provided.",
    "The endpoint needs to know who is calling and the request carries no credentials it accepts.",
    "Send credentials for one of the schemes in WWW-Authenticate.",
  ),
  invalid_credentials: entry(
    401,
    "Invalid credentials",
    "No active account found with the given credentials",
    "The user does not exist, the password is wrong, or the account is not active. The answer does not say which.",
    "Check the user name and the password.",
  ),
  invalid_token: entry(
    401,
    "Invalid token",
    "The token is invalid, expired or revoked.",
    "The API token, key, session or token of another issuer that was presented is unknown, malformed, expired or no longer valid.",
    "Get a new one, or log in again.",
  ),
  token_not_valid: entry(
    401,
    "Token not valid",
    "The token is invalid, expired or revoked.",
    "The access or refresh token of this service is malformed, expired, used up or no longer valid. Clients of SimpleJWT know this code.",
    "Refresh the access token, or log in again.",
  ),
  ...loginProblems,
  authentication_failed: entry(
    403,
    "Authentication failed",
    "Invalid or missing credentials.",
    "The endpoint needs to know who is calling, and no scheme of the service has a challenge (WWW-Authenticate) that a client could answer.",
    "Ask the operator of the service which credential this endpoint takes.",
  ),
  insecure_transport: entry(
    403,
    "Insecure transport",
    "Basic credentials are not accepted over an unencrypted connection.",
    "Without TLS, others on the network can read the password.",
    "Use https. If a proxy terminates TLS, add it to the trusted proxies and let it set X-Forwarded-Proto.",
  ),
  cross_site: entry(
    403,
    "Cross-site request refused",
    "The request came from another site and carries a cookie.",
    "A browser sends cookies with requests from any page, so a change from another site is refused.",
    "Send the request from the same origin, or add the origin to the allowed origins.",
  ),
  identity_not_bound: entry(
    403,
    "Identity not bound",
    "The proxy or issuer knows you, but your name or e-mail belongs to another account here.",
    "A proxy, an issuer or an identity provider vouches for a caller who is new here, and no account was created. For example, the provider has not confirmed the e-mail address, or an account already has the username or the e-mail: a new caller may not take over an account by its name.",
    "If the answer says that the address is not confirmed, confirm it at the provider and log in again. Otherwise ask the operator of the service, who can bind the identity to its account.",
  ),
  permission_denied: entry(
    403,
    "Permission denied",
    "You do not have permission to perform this action.",
    "The service knows who is calling, and this identity may not do that.",
    "Use an account that has this permission, or ask an administrator.",
  ),
  not_found: entry(
    404,
    "Not found",
    "Not found.",
    "There is nothing at this address, or you do not have permission to see it.",
    "Check the path and the id.",
  ),
  method_not_allowed: entry(
    405,
    "Method not allowed",
    "The method is not offered at this address.",
    "The address exists and does not offer this method.",
    "Use a method of the Allow header.",
  ),
  not_acceptable: entry(
    406,
    "Not acceptable",
    "No offered representation satisfies the Accept header.",
    "The service answers in application/json, and in application/xml unless that is turned off. Accept excludes these types.",
    "Send Accept: application/json, or leave the header out.",
  ),
  request_timeout: entry(
    408,
    "Request timeout",
    "The request was not complete in time.",
    "The headers must arrive within 10 seconds, the whole request within 30.",
    "Send the request again on a new connection.",
  ),
  conflict: entry(
    409,
    "Conflict",
    "The request conflicts with the present state.",
    "Another value or another request prevents the change: errors says where.",
    "Read the resource again, and decide with its present state.",
  ),
  taken: entry(
    409,
    "Already taken",
    "A value that must be unique is already taken.",
    "Another record has this value, in the same or an equivalent spelling.",
    "Choose another value for the field named in errors.",
  ),
  referenced: entry(
    409,
    "Still referenced",
    "The record is still referenced by others.",
    "Other records belong to this one, and deleting it would leave them without an owner.",
    "Delete or move those records first.",
  ),
  last_admin: entry(
    409,
    "Last administrator",
    "The last administrator who can log in cannot be deleted, demoted or deactivated. Make another user an administrator first.",
    "The service keeps an active administrator with a usable password, a passkey or an outside login.",
    "Make another user an administrator first. The user must be able to log in.",
  ),
  last_owner: entry(
    409,
    "Last owner",
    "The last owner of a group cannot leave it, be removed or change role. Make another member an owner first.",
    "The group would have no owner, so no member could manage it.",
    "Make another member an owner first, or delete the group.",
  ),
  patch_conflict: entry(
    409,
    "Patch does not apply",
    "The patch does not apply to the present state.",
    "A test operation failed, or an operation names a member that does not exist. Nothing was changed.",
    "Read the resource again, and make a new patch.",
  ),
  precondition_failed: entry(
    412,
    "Precondition failed",
    "The resource is not in the state that the request requires.",
    "If-Match or If-None-Match does not hold: the resource was changed, created or removed in the meantime.",
    "Read the resource again, apply your change to what is there now, and send it with the new ETag.",
  ),
  content_too_large: entry(
    413,
    "Content too large",
    "The body is larger than 1 MiB.",
    "Bodies are limited so that no caller can exhaust the service.",
    "Send less at a time.",
  ),
  uri_too_long: entry(
    414,
    "URI too long",
    "The request line is longer than 8 KiB.",
    "Addresses are limited so that no caller can exhaust the service.",
    "Shorten the query.",
  ),
  unsupported_media_type: entry(
    415,
    "Unsupported media type",
    "The body's media type is not accepted here.",
    "The endpoint does not read bodies of this Content-Type, or of this charset or Content-Encoding.",
    "Send one of the types in the Accept, Accept-Post, Accept-Patch or Accept-Query header, in UTF-8 and unencoded.",
  ),
  idempotency_mismatch: entry(
    422,
    "Idempotency key reused",
    "The Idempotency-Key was used for another request.",
    "A key belongs to one request: the same method, path and body.",
    "Use a new key for a new request.",
  ),
  precondition_required: entry(
    428,
    "Precondition required",
    "The request must carry If-Match.",
    "The resource requires If-Match, so that callers cannot overwrite a state that they have not seen.",
    "Read the resource and send its ETag in If-Match.",
  ),
  too_many_attempts: entry(
    429,
    "Too many attempts",
    "Too many failed attempts. Try again later.",
    "Wrong credentials came too often for this account or from this address, or too many names were tried.",
    "Wait for the seconds in Retry-After.",
  ),
  too_many_repeats: entry(
    429,
    "Too many repeatable writes",
    "Too many writes with an Idempotency-Key today.",
    "The result of a write with an Idempotency-Key is kept for a day. The service keeps at most 10,000 results and 64 MiB for one caller.",
    "Wait for the seconds in Retry-After, or send the request without the header.",
  ),
  headers_too_large: entry(
    431,
    "Header fields too large",
    "The header block is larger than 16 KiB or has more than 100 fields.",
    "Headers are limited so that no caller can exhaust the service.",
    "Send fewer or shorter header fields; old cookies are often the cause.",
  ),
  ...serverProblems,
} as const satisfies Record<string, CatalogueEntry>;

/** The code of a problem: a key of the catalogue. */
export type ProblemCode = keyof typeof catalogue;
