import { problem } from "../../core/problem/problem.ts";
import type { Context } from "../../http/exchange.ts";
import { text } from "../../resource/kinds/fields.ts";

/** What a field is like in which somebody sends their own password, to show again who they are. */
export const ownPassword = {
  maxLength: 256,
  trim: false,
  optional: true,
  writeOnly: true,
  transient: true,
  confidential: true,
} as const;

/** The field by which somebody shows again who they are. */
export const proofField = text({
  ...ownPassword,
  description: "The caller's own password, where the login is older than ten minutes.",
});

/** Ends the request of whoever came with a key: a key with seconds to live would mint one without an end. */
export function withoutKey(context: Context): void {
  if (context.requireIdentity().keyId !== undefined)
    throw problem("permission_denied", { detail: "A key makes no credentials." });
}
