import { formatClearedCookie } from "../../door/http.ts";
import type { Context } from "../../door/index.ts";

/** Clears cookies by their names without `__Host-`. */
export function clearedCookies({ call }: Context, names: readonly string[]): readonly (readonly [string, string])[] {
  const { encrypted, loopback } = call.client;
  return names.map((name) => {
    const cookie = { name: encrypted ? `__Host-${name}` : name, path: "/", secure: encrypted || !loopback } as const;
    return ["Set-Cookie", formatClearedCookie({ ...cookie, sameSite: "lax" })];
  });
}
