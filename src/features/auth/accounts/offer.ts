import type { Host } from "../../../feature/feature.ts";
import { confirmFromOutside, findHeldLogin, isLiveLogin, requireConfirmation } from "../factors/outside.ts";
import type { GateEndpointsParts } from "../factors/parts.ts";
import type { Notify } from "../gate/contract.ts";
import { keepOtherLogin } from "../gate/ways.ts";
import { outsideEnd, requireFreshLogin, requireMayChange, vouch } from "../people/fresh-proof.ts";
import type { AccountsParts } from "../people/parts.ts";
import type { LoginSource, People } from "../people/people.ts";
import { proveAddress } from "../people/proved-address.ts";
import type { makeEndings } from "./endings.ts";
import { insertUser } from "./new-user.ts";
import { changePassword, passwordChanges } from "./passwords/changing.ts";
import { requireAccount, requireLogin, requireNameAndPassword, requireUser } from "./people.ts";
import { createVerified, moveAddress } from "./verified.ts";

/** Some options of `accounts()`, and the state that the features of the service change during their setup. */
export interface Collected {
  readonly sources: LoginSource[];
  readonly needs: { revocationSeconds: number; outside: boolean; mails: boolean };
  readonly notifiers: Notify[];
  readonly endings: ReturnType<typeof makeEndings>;
  readonly identityFields: readonly string[];
  readonly issuer: string;
  readonly tokenPrefix: string;
}

/** Returns the members that `accounts()` offers to every login feature. */
export function buildOffer(
  host: Host,
  parts: AccountsParts,
  gateParts: GateEndpointsParts,
  collected: Collected,
): People {
  const { accounts, bindings, passwords, throttle, revocations, users, roles, gate } = parts;
  const { sources, needs, notifiers, endings, identityFields, issuer, tokenPrefix } = collected;
  return {
    accounts,
    bindings,
    passwords,
    throttle,
    revocations,
    users,
    roles,
    identityFields,
    issuer,
    tokenPrefix,
    requireUser: (id) => requireUser(parts, id),
    requireAccount: (context) => requireAccount(parts, context),
    requireLogin: (context, username, password) =>
      requireLogin(parts, context, { username, password }, host.service().schemes),
    beginLogin: gate.beginLogin,
    begins: gate.begins,
    factorKind: gate.factorKind,
    firstProof: gate.firstProof,
    mailStep: (step) => void (gate.mail.step = step),
    findFactor: parts.findFactor,
    async prove(context, body) {
      const first = gate.findFirstProof(body);
      if (first !== null && body.username === null && body.password === null) return first.prove(context, body);
      const { username, password } = requireNameAndPassword(body);
      return requireLogin(parts, context, { username, password }, host.service().schemes);
    },
    isEnough: gate.isEnough,
    standing: gate.standing,
    outsideConfirmation: (find) => void gateParts.outsideWays.push(find),
    requireConfirmation: (context) => requireConfirmation(gateParts, context),
    confirmFromOutside: (context, waiting, proof) => confirmFromOutside(gateParts, context, waiting, proof),
    findHeldLogin: (context) => findHeldLogin(gate, context),
    isLiveLogin: (login, now) => isLiveLogin(gate, login, now),
    vouch: (context, account, password) => vouch(parts, context, account, password),
    notify: parts.notify,
    notices: (notifier) => void notifiers.push(notifier),
    requireFreshLogin: (context, ...more) => requireFreshLogin(parts, context, ...more),
    outsideEnd: (context) => outsideEnd(parts, context),
    insertUser: (user, at) => insertUser(users, user, at),
    changePassword: (account, password, { endKeys = false } = {}) =>
      changePassword(parts, { account, password, endKeys }, host.now()),
    passwordChanges: (context, newPassword) => passwordChanges(parts, context, newPassword, context.call.now),
    proveAddress: (account, now) => proveAddress(parts, account, now),
    outsideLogin: (login) => void parts.outsideLogins.push(login),
    keepOtherLogin: (account, leaving) => keepOtherLogin(parts, account, leaving),
    verifyAddresses: parts.verifier.set,
    createUser: (context, newcomer, also) => createVerified(parts, context, newcomer, also),
    changeAddress: (context, user, also) => moveAddress(parts, context, user, also),
    async requireProof(context, account, password) {
      await requireMayChange(parts, context, account, ["password", "email", "username"], password);
    },
    endsWith: endings.add,
    listLogins: (source) => void sources.push(source),
    rememberRevocations(seconds) {
      needs.revocationSeconds = Math.max(needs.revocationSeconds, seconds);
    },
    takeOutsideLogins() {
      needs.outside = true;
    },
    takeMailProofs() {
      needs.mails = true;
    },
  };
}
