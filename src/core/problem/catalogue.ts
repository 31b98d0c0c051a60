import type { ExtensionMembers } from "./extensions.ts";

/** One kind of problem that a caller can receive. */
export interface CatalogueEntry {
  /** The HTTP status it is answered with. */
  readonly status: number;
  /** The same for every occurrence (RFC 9457 §3.1.3). */
  readonly title: string;
  /** What the caller reads where the thrower has nothing more exact to say. */
  readonly detail: string;
  /** Why it happens, for the problem's page. */
  readonly why: string;
  /** What to do about it, for the problem's page. */
  readonly cure: string;
  /** Extension members of the problem (RFC 9457 §3.2). No problem of the catalogue has any. */
  readonly extensions?: ExtensionMembers;
}

function entry(status: number, title: string, detail: string, why: string, cure: string): CatalogueEntry {
  return { status, title, detail, why, cure };
}

/** Every problem there is. A code never changes its meaning. */
export const catalogue = {
  malformed: entry(
    400,
    "Malformed request",
    "The request could not be understood.",
    "The body, a header or the query is not written in the syntax that it claims.",
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
    "Prefer says handling=strict, which asks to be told of preferences that nobody here follows, and names one.",
    "Leave out the preference that the detail names, or leave out handling=strict and it is passed over.",
  ),
  invalid_patch: entry(
    400,
    "Malformed patch",
    "The patch is malformed.",
    "The body is not a JSON Patch document (RFC 6902).",
    "Send an array of operations, each with op, path and what that operation needs.",
  ),
  duplicate_credentials: entry(
    400,
    "Two credentials of one kind",
    "The request carries the same kind of credential twice.",
    "Which of the two was meant cannot be known, and guessing would let one of them hide the other.",
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
    "The user does not exist, the password is wrong, or the account is not active. Which of them is not told.",
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
  authentication_failed: entry(
    403,
    "Authentication failed",
    "Invalid or missing credentials.",
    "The endpoint needs to know who is calling, and none of its schemes has a challenge that could be answered.",
    "Ask the operator of the service which credential this endpoint takes.",
  ),
  insecure_transport: entry(
    403,
    "Insecure transport",
    "Basic credentials are not accepted over an unencrypted connection.",
    "A password that travels without TLS can be read by anyone on the way.",
    "Use https. Behind a proxy that ends TLS, name it among the trusted proxies and let it set X-Forwarded-Proto.",
  ),
  cross_site: entry(
    403,
    "Cross-site request refused",
    "The request came from another site and carries a cookie.",
    "A browser sends cookies along whoever made the page, so a change asked for by another site is refused.",
    "Send the request from the same origin, or name the origin among the allowed ones.",
  ),
  identity_not_bound: entry(
    403,
    "Identity not bound",
    "You are known to whoever vouches for you, but your name or e-mail belongs to another account here.",
    "A proxy or an issuer elsewhere vouches for the caller, who is seen for the first time, and the username or the e-mail is already that of an account which nobody may claim by its name.",
    "Ask the operator of the service, who can bind the identity to its account.",
  ),
  permission_denied: entry(
    403,
    "Permission denied",
    "You do not have permission to perform this action.",
    "The service knows who is calling, and this identity may not do that.",
    "Use an account that may, or ask an administrator.",
  ),
  not_found: entry(
    404,
    "Not found",
    "Not found.",
    "There is nothing at this address, or nothing that you may know of.",
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
    "The service answers in application/json, and in application/xml where that is not left out, and Accept excludes what it has.",
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
    "Another value, or another request, stands in the way: errors says where.",
    "Read the resource again and decide anew.",
  ),
  taken: entry(
    409,
    "Already taken",
    "A value that must be unique is already taken.",
    "Another record has this value, in this spelling or in one that counts as the same.",
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
    "The last active administrator cannot be deleted, demoted or deactivated.",
    "Without an active administrator nobody could administer the service any more.",
    "Make another user an administrator first.",
  ),
  patch_conflict: entry(
    409,
    "Patch does not apply",
    "The patch does not apply to the present state.",
    "A test operation failed, or an operation names a place that is not there. Nothing was changed.",
    "Read the resource again and make the patch anew.",
  ),
  precondition_failed: entry(
    412,
    "Precondition failed",
    "The resource is not in the state that the request requires.",
    "If-Match or If-None-Match does not hold: somebody changed, made or removed the resource meanwhile.",
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
    "A key stands for one request: the same method, path and body.",
    "Use a new key for a new request.",
  ),
  precondition_required: entry(
    428,
    "Precondition required",
    "The request must carry If-Match.",
    "The resource is declared so that nobody can overwrite a state they have not seen.",
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
    "What a write with an Idempotency-Key has left is kept for a day, and of one caller no more than 10,000 are kept.",
    "Wait for the seconds in Retry-After, or send the request without the header.",
  ),
  headers_too_large: entry(
    431,
    "Header fields too large",
    "The header block is larger than 16 KiB or has more than 100 fields.",
    "Headers are limited so that no caller can exhaust the service.",
    "Send fewer or shorter header fields; old cookies are often the cause.",
  ),
  internal: entry(
    500,
    "Internal server error",
    "Something went wrong on our side.",
    "A fault in the service. It is in the log under the request id; nothing about it is told here.",
    "Try again. If it stays, give the operator the request id.",
  ),
  not_implemented: entry(
    501,
    "Not implemented",
    "The body is in a transfer coding that is not read here.",
    "Transfer-Encoding names something else than chunked alone.",
    "Send Transfer-Encoding: chunked, or a Content-Length. Content is not compressed on its way here.",
  ),
  unavailable: entry(
    503,
    "Service unavailable",
    "The service cannot answer at the moment.",
    "The database or an issuer of tokens does not answer, too much is waiting, the request has taken too long, or the process is being stopped.",
    "Try again after the seconds in Retry-After.",
  ),
  insufficient_storage: entry(
    507,
    "Insufficient storage",
    "There is no room left to store this. Nothing was changed.",
    "The disk of the database is full. What is stored can still be read.",
    "Tell the operator to make room, and send the request again after the seconds in Retry-After.",
  ),
} as const satisfies Record<string, CatalogueEntry>;

/** The code of a problem: a key of the catalogue. */
export type ProblemCode = keyof typeof catalogue;
