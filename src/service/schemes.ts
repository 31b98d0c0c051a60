import { basic, bearer, customHeader, outsideBearer, remoteUser, session, token, type Scheme } from "../index.ts";
import type { Parts } from "./parts.ts";
import { createRemoteUser } from "./remote-users.ts";

/** The schemes that the settings turn on. */
export function chosenSchemes(parts: Parts): readonly Scheme[] {
  const { settings, accounts, passwords, sessions, apiTokens, namedKeys, access, issuers } = parts;
  return settings.schemes.flatMap((name): Scheme | readonly Scheme[] => {
    switch (name) {
      case "basic":
        return basic({ accounts, passwords });
      case "session":
        return session({ sessions, accounts });
      case "token":
        return [token({ tokens: apiTokens, accounts }), token({ tokens: namedKeys, accounts })];
      case "bearer":
        return [bearer({ access }), ...(issuers === null ? [] : [outsideBearer({ issuers })])];
      case "remote-user": {
        const { header, secret, create } = settings.remoteUser;
        return remoteUser({
          header,
          bindings: parts.bindings,
          ...(secret === null ? {} : { secret }),
          ...(create ? { create: createRemoteUser(parts) } : {}),
        });
      }
      case "custom-header": {
        const { token: secret, username } = settings.customToken!;
        return customHeader({ token: secret, account: () => accounts.findByUsername(username) });
      }
    }
  });
}
