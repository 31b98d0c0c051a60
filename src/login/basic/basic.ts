import { basic } from "../../auth/basic/basic.ts";
import { defineFeature, type Feature } from "../../feature/feature.ts";
import type { AccountsFeature } from "../login.ts";

/** Username and password with every request (RFC 7617), over TLS or from this machine. */
export function basicLogin(people: AccountsFeature): Feature {
  return defineFeature({
    name: "basic-login",
    needs: [people],
    setUp: (host) => ({ offer: null, schemes: [basic(host.use(people))] }),
  });
}
