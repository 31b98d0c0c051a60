import { problem, readProxyText, type Call, type Change } from "../index.ts";
import { insertUser } from "./new-user.ts";
import type { Parts } from "./parts.ts";
import { users } from "./users-resource.ts";

/** Makes the user whom only the proxy knows so far. E-mail from `X-Remote-Email`, which must be there; name from `X-Remote-Name` or the username. */
export function createRemoteUser(parts: Parts): (username: string, call: Call) => readonly Change[] | null {
  return (username, call) => {
    const email = users.fields.email.kind.parse(proxyText(call, "x-remote-email"));
    const name = users.fields.name.kind.parse(proxyText(call, "x-remote-name") ?? username);
    if (typeof email !== "string" || typeof name !== "string") return null;
    return insertUser(parts.users, { name, email, username, role: "user", passwordHash: null, now: call.now });
  };
}

/** Of two values one is not the proxy's. */
function proxyText(call: Call, header: string): string | undefined {
  const values = call.headers(header);
  if (values.length > 1) throw problem("duplicate_credentials");
  return values[0] === undefined ? undefined : readProxyText(values[0]);
}
