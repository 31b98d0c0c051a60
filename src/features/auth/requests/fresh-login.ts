import { problem } from "../../../core/problem/problem.ts";
import type { Context } from "../../../http/request/exchange.ts";
import { text } from "../../../resource/kinds/fields.ts";
import { defineResource } from "../../../resource/resource.ts";

/** Options of a field in which users send their own password to prove their identity again. */
export const ownPassword = {
  maxLength: 256,
  trim: false,
  optional: true,
  writeOnly: true,
  transient: true,
  confidential: true,
} as const;

/** The field in which users prove their identity again. */
export const proofField = text({
  ...ownPassword,
  description: "The caller's own password, if the login is older than ten minutes.",
});

/** The body of a request with which users prove only their identity again. */
export const proofBody = defineResource({ name: "proof", fields: { current_password: proofField } });

/**
 * Ends the request if the caller uses a key. Otherwise a key that expires soon could create a credential that never
 * expires.
 */
export function withoutKey(context: Context): void {
  if (context.requireIdentity().keyId !== undefined)
    throw problem("permission_denied", { detail: "A key cannot create credentials." });
}
