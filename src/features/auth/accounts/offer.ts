import type { Host } from "../../../feature/feature.ts";
import { confirmFromOutside, findHeldLogin, isLiveLogin, requireConfirmation } from "../factors/outside.ts";
import type { Notify } from "../gate/contract.ts";
import { keepOtherLogin } from "../gate/login-methods.ts";
import type { DeclaredNames } from "../people/contracts/accounts.ts";
import type { LoginSource } from "../people/contracts/endings.ts";
import { outsideEnd, requireFreshLogin, requireMayChange, vouch } from "../people/fresh-proof.ts";
import type { AccountsParts } from "../people/parts.ts";
import type { People } from "../people/people.ts";
import { proveAddress } from "../people/proved-address.ts";
import { requireAccount, requireUser } from "../people/requiring.ts";
import type { makeEndings } from "./endings.ts";
import { noProof, proveFirst } from "./first-proof.ts";
import { insertUser } from "./new-user.ts";
import { changePassword, passwordChanges } from "./passwords/changing.ts";
import { createVerified, moveAddress } from "./verified.ts";

/** Some options of `accounts()`, and the state that the features of the service change during their setup. */
export interface Collected {
  readonly sources: LoginSource[];
  readonly needs: { revocationSeconds: number; outside: boolean };
  readonly notifiers: Notify[];
  readonly endings: ReturnType<typeof makeEndings>;
  readonly declared: DeclaredNames;
}

/** Returns the contracts that `accounts()` offers to every login feature. */
export function buildOffer(host: Host, parts: AccountsParts, collected: Collected): People {
  const { gate, revocations } = parts;
  const { sources, needs, notifiers, endings, declared } = collected;
  return {
    accounts: {
      ...parts.accounts,
      requireAccount: (context) => requireAccount(parts, context),
      requireUser: (id, identity = null) => requireUser(parts, host.now(), id, identity),
      insertUser: (user, at) => insertUser(parts.users, user, at),
      users: parts.users,
      bindings: parts.bindings,
      declared,
      announceOutsideLogins() {
        needs.outside = true;
      },
    },
    logins: {
      registerLogin: gate.registerLogin,
      registerFirstProof: gate.registerFirstProof,
      prove: (context, body) => proveFirst(parts, context, { ...noProof, ...body }, host.service().schemes),
      beginLogin: gate.beginLogin,
      vouch: (context, account, password) => vouch(parts, context, account, password),
      isEnough: gate.isEnough,
      checkAssurance: gate.checkAssurance,
      findHeldLogin: (context) => findHeldLogin(gate, context),
      isLiveLogin: (login, now) => isLiveLogin(gate, login, now),
      passwords: parts.passwords,
    },
    factors: {
      registerFactorKind: gate.registerFactorKind,
      registerMailStep: (step) => void (gate.mail.step = step),
      findFactor: parts.factors.findByHandle,
    },
    confirming: {
      requireFreshLogin: (context, ...more) => requireFreshLogin(parts, context, ...more),
      async requireProof(context, account, password) {
        await requireMayChange(parts, context, account, ["password", "email", "username"], password);
      },
      registerOutsideConfirmation: (find) => void parts.outsideConfirmations.push(find),
      requireConfirmation: (context) => requireConfirmation(parts, context),
      confirmFromOutside: (context, waiting, proof) => confirmFromOutside(parts, context, waiting, proof),
      registerOutsideLogin: (login) => void parts.outsideLogins.push(login),
      keepOtherLogin: (account, leaving) => keepOtherLogin(parts, account, leaving),
      endLoginsBy: revocations.endLoginsBy,
      registerNotices: (notifier) => void notifiers.push(notifier),
      notify: parts.notify,
    },
    endings: {
      isRevoked: revocations.isRevoked,
      endFamily: revocations.endFamily,
      endAccess: revocations.endAccess,
      endAccount: revocations.endAccount,
      endLogins: revocations.endLogins,
      registerTable: endings.add,
      registerLoginSource: (source) => void sources.push(source),
      rememberRevocations(seconds) {
        needs.revocationSeconds = Math.max(needs.revocationSeconds, seconds);
      },
      outsideEnd: (context) => outsideEnd(parts, context),
    },
    changing: {
      unlock: parts.throttle.unlock,
      changePassword: (account, password, { endKeys = false } = {}) =>
        changePassword(parts, { account, password, endKeys }, host.now()),
      passwordChanges: (context, newPassword) => passwordChanges(parts, context, newPassword, context.call.now),
      proveAddress: (account, now) => proveAddress(parts, account, now),
      registerAddressVerifier: parts.verifier.set,
      acceptsSignUps: parts.registration !== "closed",
      createUser: (context, newcomer, also) => createVerified(parts, context, newcomer, also),
      changeAddress: (context, user, also) => moveAddress(parts, context, user, also),
    },
  };
}
