import { entry } from "./entry.ts";

/** The problems of the catalogue that are not the fault of the caller: those with a status from 500. */
export const serverProblems = {
  internal: entry(
    500,
    "Internal server error",
    "Something went wrong on our side.",
    "A fault in the service. The log has the details under the request id.",
    "Try again. If the error stays, give the operator the request id.",
  ),
  not_implemented: entry(
    501,
    "Not implemented",
    "The body is in a transfer coding that is not read here.",
    "Transfer-Encoding is not chunked alone.",
    "Send Transfer-Encoding: chunked, or a Content-Length. Do not compress the content.",
  ),
  unavailable: entry(
    503,
    "Service unavailable",
    "The service cannot answer at the moment.",
    "The database or an issuer of tokens does not answer, too many requests are waiting, the request has taken too long, or the process is being stopped.",
    "Try again after the seconds in Retry-After.",
  ),
  insufficient_storage: entry(
    507,
    "Insufficient storage",
    "There is no room left to store this. Nothing was changed.",
    "The disk of the database is full. Stored records can still be read.",
    "Tell the operator to make room, and send the request again after the seconds in Retry-After.",
  ),
} as const;
