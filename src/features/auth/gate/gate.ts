import type { Scheme, AssuranceCheck } from "../../../access/scheme/scheme.ts";
import { rejected, type Rejection } from "../../../access/scheme/scheme.ts";
import type { Call } from "../../../core/call/call.ts";
import { DeclarationError } from "../../../core/checking/declaration-error.ts";
import { markHash } from "../../../core/crypto/password-hash.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import type { Identity, Proof } from "../../../core/identity.ts";
import { computeLevel, provedBy } from "../../../core/levels.ts";
import { problem, type Problem } from "../../../core/problem/problem.ts";
import { updateAll, type ChangedIn } from "../../../http/declarations/table.ts";
import type { Context } from "../../../http/request/exchange.ts";
import { requireInTime } from "../../../http/request/in-time.ts";
import { StoreUnavailable, type Change } from "../../../store/store.ts";
import { accountsCollection, type Account, type Accounts } from "../records/accounts.ts";
import { equals, timeText } from "../records/conditions.ts";
import { refuseLoginCSRF } from "../requests/cookies.ts";
import { admit, type Admission } from "./admission.ts";
import { isBuiltInScheme } from "./built-in-schemes.ts";
import type { Beginning, FactorKind, FirstProof, LoginAttempt } from "./contract.ts";
import { endWeakLoginsOf } from "./ending-weak.ts";
import { proofOf } from "./factors.ts";
import type { Gate, GateParts, ProvedLogin, WaitingLogin } from "./parts.ts";
import { neededByIdentity, neededLevel } from "./policy.ts";

/** The parts of a service that the gate needs. */
type Parts = Pick<
  GateParts,
  "store" | "accounts" | "throttle" | "revocations" | "rule" | "pending" | "factors" | "challenge"
>;

/**
 * Makes the gate of one service: the code that completes every login. `askFor` returns the problem that asks the client
 * of a waiting login for the next proof.
 */
export function makeGate(parts: Parts, askFor: (context: Context, waiting: WaitingLogin) => Promise<Problem>): Gate {
  const { accounts, rule, pending } = parts;
  const beginnings = new Map<string, Beginning>();
  const kinds = new Map<string, FactorKind>();
  const firstProofs: FirstProof[] = [];

  const isEnough = (account: Account, proofs: readonly Proof[]): boolean =>
    computeLevel(proofs) >= neededLevel(account, rule);

  const checkAssurance: AssuranceCheck = (scheme, identity, call) =>
    after(decide(scheme, identity), (decided) => {
      const isLogin = identity.sessionId !== undefined || identity.family !== undefined;
      if (decided !== insufficient || !isLogin || identity.actor !== undefined) return decided;
      // A refused login stays refused, also after the rule is taken away.
      return endWeakLoginsOf(parts, identity.id, call.now).then(() => decided);
    });

  const decide = (scheme: Scheme, identity: Identity): Eventually<Identity | Rejection> => {
    if (scheme.proves === "program") return withoutProofs(identity);
    const isBuiltIn = isBuiltInScheme(scheme);
    if (scheme.proves === "each" && identity.actor !== undefined) {
      const acting: Identity = { ...withoutProofs(identity), level: 1 };
      // An acting token needs no factor of the user: its administrator already proved one when it was issued.
      return isBuiltIn ? acting : after(findNeeds(accounts, identity), (needs) => judge(acting, needs));
    }
    const proved = withProofs(scheme, identity);
    if (isBuiltIn && identity.needs !== undefined) return judge(proved, identity.needs);
    // No kind of factor is registered, so no account needs one.
    if (rule === "optional" && kinds.size === 0) return proved;
    return after(findNeeds(accounts, identity), (needs) => judge(proved, needs));
  };

  const judge = (identity: Identity, needs: 0 | 1 | 2): Identity | Rejection =>
    (identity.level ?? 1) >= neededByIdentity(identity, needs, rule) ? identity : insufficient;

  return {
    mail: { step: null },
    beginnings,
    kinds,
    isEnough,
    checkAssurance,
    async beginLogin(context, attempt) {
      requireInTime(context);
      const { account, begin, options } = attempt;
      const proofs = attempt.proofs.map((proof) => withHold(attempt, proof));
      const carriedIn = begin.carriedIn(options);
      if (carriedIn === "cookie") refuseLoginCSRF(context);
      if (!account.active) throw refused(parts, context.call, "invalid_credentials");
      if (!isEnough(account, proofs)) {
        const login = { purpose: "login", proofs, beginning: begin.name, options, holder: null } as const;
        const created = await pending.create(account, login, context.call);
        throw await askFor(context, { account, carriedIn, ...created });
      }
      const { used } = attempt;
      const changes = used === undefined ? [] : [parts.factors.use(used.factor, used.data, context.call.now)];
      const admission = await admitLogin(parts, context.call, { ...attempt, proofs }, changes);
      if (admission === null) throw refused(parts, context.call, "invalid_credentials");
      return begin.start(context, admission, options);
    },
    async admitLogin(call, login, more) {
      if (!isEnough(login.account, login.proofs)) throw refused(parts, call, "factor_required", oneKind);
      return admitLogin(parts, call, login, more);
    },
    async admitConfirmed(call, { account, proofs }, changes) {
      if (!isEnough(account, proofs)) throw refused(parts, call, "factor_required", oneKind);
      const { kind } = await parts.store.write({ changes });
      return kind === "written" ? admit(account, proofs) : null;
    },
    registerLogin(kind) {
      register(beginnings, kind, "logins");
      return kind;
    },
    registerFirstProof: (proof) => void firstProofs.push(proof),
    findFirstProof: (body) =>
      firstProofs.find(({ members }) => members.every((member) => body[member] !== null)) ?? null,
    registerFactorKind: (kind) => register(kinds, kind, "factors"),
  };
}

function refused(
  { challenge }: Parts,
  call: Call,
  code: "invalid_credentials" | "factor_required",
  detail?: string,
): Problem {
  const headers = [["WWW-Authenticate", challenge(call)]] as const;
  return problem(code, { headers, ...(detail === undefined ? {} : { detail }) });
}

function register<T extends { readonly name: string }>(kinds: Map<string, T>, kind: T, of: "logins" | "factors"): void {
  if (kinds.has(kind.name)) throw new DeclarationError([`two kinds of ${of} are called ${kind.name}; rename one`]);
  kinds.set(kind.name, kind);
}

/**
 * Marks the proof of a factor that confirms no change of factors yet. So code that checks a first proof cannot forget
 * it.
 */
function withHold({ used }: Pick<LoginAttempt, "used">, proof: Proof): Proof {
  return used === undefined || proof.factor !== String(used.factor.id)
    ? proof
    : { ...proof, ...proofOf(used.factor, proof, proof.at) };
}

const oneKind =
  "The proofs of this login are of one kind. The account needs another kind of proof: log in with the password and a second factor, or with a passkey that checks the person.";

const insufficient: Rejection = {
  ...rejected(
    "insufficient",
    "This account needs a second factor, and this credential cannot be asked for one. Log in with the second factor, or use an API token or a key for programs.",
  ),
  code: "factor_required",
};

/**
 * Adds the proofs of the credential to the identity, as its scheme declares them. If the scheme does not declare its
 * proofs, the identity gets level 1 and no proof.
 */
function withProofs({ proves }: Scheme, identity: Identity): Identity {
  if (proves === "each") return withOwnProofs(identity);
  if (proves === undefined || proves === "program") return { ...withoutProofs(identity), level: 1 };
  // If a scheme does not report the time of its proof, the time is 0. So the login is never fresh.
  const at = identity.authTime ?? 0;
  const proofs = proves.map((method): Proof => ({ method, at }));
  return { ...identity, proofs, level: computeLevel(proofs) };
}

/** Returns the identity with the level of its proofs. Level 2 counts only with proofs of level 2. */
function withOwnProofs(identity: Identity): Identity {
  const { level, proofs = [] } = identity;
  if (level !== undefined && (level < 2 || computeLevel(proofs) === 2)) return identity;
  return { ...withoutProofs(identity), level: 1, ...(proofs.length === 0 ? {} : provedBy(proofs)) };
}

/** Returns the identity without proofs, for a credential that proves nothing about its user. */
function withoutProofs(identity: Identity): Identity {
  const { proofs, level, authTime, ...rest } = identity;
  return proofs === undefined && level === undefined && authTime === undefined ? identity : rest;
}

function findNeeds(accounts: Accounts, { id }: Identity): Eventually<1 | 2> {
  return after(accounts.find(id), (account) => ((account?.factors ?? 0) > 0 ? 2 : 1));
}

/**
 * Makes the admission of a complete login and writes its results: the time of the login, the known address, the cleared
 * failures and the used one-time password. Returns null if another request used up the same proof. The login belongs to
 * the given generation of the account. So if the account's logins are revoked at the same time, this login is revoked
 * too.
 */
async function admitLogin(
  parts: Parts,
  call: Call,
  { account, proofs, storedHash = account.passwordHash }: ProvedLogin,
  more: readonly Change[],
): Promise<Admission | null> {
  const withPassword = proofs.some(({ method }) => method === "pwd");
  // A password that was used in the meantime completes no other login. The change to a new one-time
  // password deleted the logins that waited before it.
  const isOnce = withPassword && (account.passwordOnce ?? null) !== null;
  // An older version may have written the hash without the mark, or with a mark that is no longer needed.
  const hash =
    withPassword && account.passwordHash !== null
      ? markHash(account.passwordHash, account.factors ?? 0)
      : account.passwordHash;
  const values: ChangedIn<typeof accountsCollection> = {
    last_login_at: timeText(call.now),
    ...(computeLevel(proofs) < 2 ? { weak_logins_ended: null } : {}),
    ...(storedHash === hash ? {} : { password_hash: hash }),
    ...(isOnce ? { password_once: "used" } : {}),
    // The user has logged in with the generated password, so it no longer expires.
    ...(withPassword && account.passwordUntil !== null && (account.passwordOnce ?? null) === null
      ? { password_until: null }
      : {}),
  };
  const collection = accountsCollection;
  // Writes nothing into the account if the password was changed after it was checked. The login then has an older
  // generation, which is not valid.
  const isSame = withPassword
    ? [equals("id", account.id), equals("password_hash", storedHash)]
    : [equals("id", account.id)];
  const isUnused = { all: [...isSame, equals("password_once", "unused")] };
  const changes: readonly Change[] = [
    ...more,
    ...(isOnce ? [{ kind: "require", collection, where: isUnused, atLeast: 1, name: "password_once" } as const] : []),
    updateAll(collection, { where: { all: isSame }, values }),
    ...(await parts.throttle.pass(call, account.username)),
  ];
  try {
    const { kind } = await parts.store.write({ changes });
    return kind === "written" ? admit(account, proofs) : null;
  } catch (error) {
    // With a full disk, a login with enough proofs is still accepted, unless this write must use up a proof. The store
    // has logged the error.
    if (!(error instanceof StoreUnavailable) || isOnce || more.length > 0) throw error;
    return admit(account, proofs);
  }
}
