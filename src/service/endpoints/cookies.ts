import { formatClearedCookie } from "../../door/http.ts";
import type { Context } from "../../door/index.ts";

/** The cookies of the service's own logins that go everywhere. The refresh token's is not among them: it may be as good as ever. */
const ours = new Set(["session", "access_token"]);

/** Clears those of our cookies that were refused, by their names without a prefix. */
export function clearedCookies({ call }: Context, names: readonly string[]): readonly (readonly [string, string])[] {
  const { encrypted, loopback } = call.client;
  return names
    .filter((name) => ours.has(name))
    .map((name) => {
      const cookie = { name: encrypted ? `__Host-${name}` : name, path: "/", secure: encrypted || !loopback } as const;
      return ["Set-Cookie", formatClearedCookie({ ...cookie, sameSite: "lax" })];
    });
}
