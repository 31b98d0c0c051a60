import { invalid, problem, text, type Context, type Identity } from "../index.ts";
import type { LoginParts } from "./parts.ts";
import { requirePassword } from "./users.ts";

/** How long a login counts as fresh. */
const FRESH_MS = 600_000;

/** The field by which somebody shows again who they are. */
export const proofField = text({
  maxLength: 256,
  trim: false,
  optional: true,
  writeOnly: true,
  transient: true,
  description: "The caller's own password, where the login is older than ten minutes.",
});

/** Ends the request of whoever came with a key: a key with seconds to live would mint one without an end. */
export function withoutKey(context: Context): void {
  if (context.requireIdentity().keyId !== undefined)
    throw problem("permission_denied", { detail: "A key makes no credentials." });
}

/** Ends the request unless the caller has just shown who they are: a credential must not make others that outlive it. */
export async function requireFreshLogin(parts: LoginParts, context: Context, proof: string | undefined): Promise<void> {
  const identity = context.requireIdentity();
  if (proof === undefined && isFresh(identity, context.call.now)) return;
  if (proof === undefined)
    throw invalid([
      {
        pointer: "/current_password",
        code: "required",
        detail: "The login is not fresh. Send your own password, or log in again.",
      },
    ]);
  const account = await parts.accounts.find(identity.id);
  await requirePassword(parts, context.call, account, proof);
}

function isFresh({ authTime }: Identity, now: number): boolean {
  return authTime !== undefined && now - authTime < FRESH_MS;
}

/**
 * The end of what is made through a login that others vouch for, in milliseconds since the epoch; null where it needs none. Ends the
 * request where nothing may be made through such a login.
 */
export function outsideEnd({ settings: { outsideCredentialsSeconds } }: LoginParts, context: Context): number | null {
  const { scheme, issuer } = context.requireIdentity();
  if (scheme !== "remote-user" && issuer === undefined) return null;
  if (outsideCredentialsSeconds === 0)
    throw problem("permission_denied", { detail: "A login that others vouch for makes no credentials here." });
  return context.call.now + outsideCredentialsSeconds * 1000;
}
