import type { Call } from "../../../core/call/call.ts";
import { problem } from "../../../core/problem/problem.ts";
import type { Change } from "../../../store/store.ts";
import type { AccountsContract } from "../people/contracts/accounts.ts";
import { readProxyText } from "./scheme.ts";

/**
 * Returns a function that makes the changes for a user that only the proxy knows so far. The e-mail address comes from
 * `X-Remote-Email`. The function returns null if this header is missing or invalid. The name comes from `X-Remote-Name`
 * or is the username.
 */
export function createRemoteUser(
  { users, insertUser }: Pick<AccountsContract, "users" | "insertUser">,
  { trustEmail }: { readonly trustEmail: boolean },
): (username: string, call: Call) => readonly Change[] | null {
  const emailOrigin = trustEmail ? "vouched" : "chosen";
  const { fields } = users.resource;
  return (username, call) => {
    const email = fields.email.kind.parse(proxyText(call, "x-remote-email"));
    const proxyName = proxyText(call, "x-remote-name") ?? "";
    const name = fields.name.kind.parse(proxyName.trim() === "" ? username : proxyName);
    if (typeof email !== "string" || typeof name !== "string") return null;
    return insertUser({ name, email, username, role: "user", passwordHash: null, emailOrigin, now: call.now });
  };
}

/**
 * Returns the text of a header of the proxy. Ends the request if the header is sent twice, because one of the two may
 * come from the client.
 */
function proxyText(call: Call, header: string): string | undefined {
  const values = call.headers(header);
  if (values.length > 1) throw problem("duplicate_credentials");
  return values[0] === undefined ? undefined : readProxyText(values[0]);
}
