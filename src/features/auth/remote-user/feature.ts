import type { Call } from "../../../core/call/call.ts";
import { aBoolean, aLevel, optional, text } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { aSecret, type Secret } from "../../../core/crypto/secret.ts";
import { problem } from "../../../core/problem/problem.ts";
import { defineFeature, type Feature } from "../../../feature/feature.ts";
import type { Change } from "../../../store/store.ts";
import type { AccountsContract } from "../people/contracts/accounts.ts";
import type { AccountsFeature } from "../people/people.ts";
import { remoteUser, readProxyText } from "./scheme.ts";

/** Options of `remoteUserLogin()`: the headers of the proxy, and the secret that proves that the proxy sent them. */
export interface RemoteUserLoginOptions {
  /** The header in which a trusted proxy sends the username. Default: `X-Remote-User`. */
  readonly header?: string;
  /** The secret that the proxy must send in `X-Remote-User-Secret`. Default: none is required. */
  readonly secret?: Secret;
  /** 2 if the proxy has checked a second factor, which satisfies accounts that need one. Default: 1. */
  readonly level?: 1 | 2;
  /** True to create a user that only the proxy knows, with the e-mail address that the proxy sends. Default: false. */
  readonly create?: boolean;
  /**
   * True if the proxy vouches for the addresses that it sends. Otherwise, the first proof of such an address by mail
   * ends every other login method of the account. Default: false.
   */
  readonly trustEmail?: boolean;
}

const checks: ChecksOf<RemoteUserLoginOptions> = {
  header: optional(text),
  secret: optional(aSecret),
  create: optional(aBoolean),
  trustEmail: optional(aBoolean),
  level: optional(aLevel),
};

/** Accepts the user that a trusted proxy has already identified. The service's `trustedProxies` name these proxies. */
export function remoteUserLogin(people: AccountsFeature, options: RemoteUserLoginOptions = {}): Feature {
  return defineFeature({
    name: "remote-user-login",
    needs: [people],
    setUp(host) {
      requireOptions(options, checks);
      const { create = false, trustEmail = false, ...more } = options;
      const { accounts } = host.use(people);
      accounts.announceOutsideLogins();
      const making = create ? { create: createRemoteUser(accounts, { trustEmail }) } : {};
      return { offer: null, schemes: [remoteUser({ ...more, ...making, bindings: accounts.bindings })] };
    },
  });
}

/**
 * Returns a function that makes the changes for a user that only the proxy knows so far. The e-mail address comes from
 * `X-Remote-Email`. The function returns null if this header is missing or invalid. The name comes from `X-Remote-Name`
 * or is the username.
 */
function createRemoteUser(
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
