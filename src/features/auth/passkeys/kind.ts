import { randomBytes } from "node:crypto";
import type { Call } from "../../../core/call/call.ts";
import { hmac } from "../../../core/crypto/secret.ts";
import type { Observer, PasskeyRefusal } from "../../../core/observation.ts";
import type { JSONValue } from "../../../store/store.ts";
import type { FactorKind, FactorSuccess, StoredFactor } from "../gate/contract.ts";
import type { Account } from "../records/accounts.ts";
import { algorithms, type PublicKeyJWK } from "./cose.ts";
import { formatOldHandle, type UserHandles } from "./handles.ts";
import {
  readAssertion,
  readCredentialId,
  readRegistration,
  readUserHandle,
  type PasskeyExpectations,
  type KnownCredential,
} from "./webauthn.ts";

/** The name of the kind of factor. */
export const PASSKEY = "passkey";

/** The time that the browser may take, in milliseconds. */
const TIMEOUT_MS = 300_000;

/** The service for which passkeys are valid. */
export interface RelyingParty {
  /** The host that the passkeys are bound to. */
  readonly id: string;
  /** Shown by the browser. */
  readonly name: string;
  /** True if a page of this origin may use the passkeys. `call` is the request that carries the answer. */
  isOrigin(origin: string, call: Call): boolean;
}

/** The stored data of a passkey, as JSON. */
export type StoredPasskey = {
  readonly credential: string;
  readonly publicKey: PublicKeyJWK;
  readonly algorithm: number;
  readonly counter: number;
  readonly verifiesUser: boolean;
  /** Missing in passkeys that are older than this member. */
  readonly backupEligible?: boolean;
  readonly transports: readonly string[];
  /** The user handle for which it was made. Missing in passkeys that are older than random handles. */
  readonly userHandle?: string;
  /** The host that it is bound to. Missing in passkeys that are older than this member, until their next login. */
  readonly rpId?: string;
};

/** The stored data of an unconfirmed passkey. */
type PasskeyChallenge = { readonly challenge: string; readonly until: number; readonly userHandle?: string };
type PasskeyData = PasskeyChallenge | StoredPasskey;

/** True if a factor is a passkey. Only this kind writes the data of passkeys. */
export function isPasskey(factor: StoredFactor): factor is StoredFactor<PasskeyData> {
  return factor.kind === PASSKEY;
}

/** The parts that check passkeys. */
export interface PasskeyParts {
  readonly party: RelyingParty;
  readonly handles: UserHandles;
  readonly observe: Observer;
}

/** Passkeys as a kind of factor. `key` derives the challenge of a pending login from its id. */
export function passkeyKind(parts: PasskeyParts, key: Uint8Array): FactorKind<PasskeyData> {
  const { party, handles } = parts;
  const deriveChallenge = (pendingId: string): string => hmac(key, `login ${pendingId}`).toString("base64url");

  return {
    name: PASSKEY,
    method: "hwk",
    answeredBy: "credential",
    async enrol({ now }, account, _label, others) {
      const challenge = randomBytes(32).toString("base64url");
      const userHandle = await handles.require(account.id);
      const data = { challenge, until: now + TIMEOUT_MS, userHandle };
      return { data, shown: { options: creationOptions(party, account, { challenge, userHandle }, others) } };
    },
    confirm(call, account, { id: factorId, data }, { credential }) {
      if (!("challenge" in data)) return null;
      const { challenge, until, userHandle } = data;
      const expected = expect(parts, call, challenge, { userId: account.id, factorId });
      if (call.now >= until) {
        expected.refused?.("expired");
        return null;
      }
      const made = readRegistration(credential, expected);
      if (made === null) return null;
      const { id, publicKey, algorithm, counter, verifiesUser, backupEligible, transports } = made;
      const stored: StoredPasskey = {
        credential: id,
        publicKey: { ...publicKey },
        algorithm,
        counter,
        verifiesUser,
        backupEligible,
        transports,
        ...(userHandle === undefined ? {} : { userHandle }),
        rpId: party.id,
      };
      return { proof: { method: "hwk", ...(verifiesUser ? { verifiesUser } : {}) }, data: stored, handle: id };
    },
    ask: (_call, _account, factors, pendingId) =>
      requestOptions(party, deriveChallenge(pendingId), factors, "preferred"),
    check: (call, account, factor, { credential }, pendingId) =>
      assert(parts, call, { factor, account, credential, challenge: deriveChallenge(pendingId) }),
    find(factors, { credential }) {
      const id = readCredentialId(credential);
      return factors.find(({ data }) => "credential" in data && data.credential === id) ?? null;
    },
    logsInAlone: ({ data }) => "verifiesUser" in data && data.verifiesUser,
  };
}

/** An answer of a stored passkey to a challenge. */
interface PasskeyAnswer {
  readonly factor: StoredFactor<PasskeyData>;
  readonly account: Pick<Account, "id">;
  readonly credential: JSONValue;
  readonly challenge: string;
}

/**
 * Checks an assertion of a stored passkey. A signature counter that goes back is refused and logged: the passkey may be
 * a copy.
 */
export async function assert(
  parts: PasskeyParts,
  call: Call,
  { factor, account, credential, challenge }: PasskeyAnswer,
): Promise<FactorSuccess<StoredPasskey> | null> {
  const stored = factor.data;
  if (!("credential" in stored)) return null;
  const { id: userId } = account;
  const knownCredential: KnownCredential = {
    id: stored.credential,
    publicKey: stored.publicKey,
    algorithm: stored.algorithm,
    counter: stored.counter,
    userHandle: stored.userHandle ?? (await findHandle(parts, userId, credential)),
    backupEligible: stored.backupEligible,
  };
  const expected = expect(parts, call, challenge, { userId, factorId: factor.id });
  const asserted = readAssertion(credential, knownCredential, expected);
  if (asserted === null) return null;
  if (asserted.isClone) {
    parts.observe({ kind: "passkey_counter_went_back", requestId: call.requestId, userId, factorId: factor.id });
    return null;
  }
  const { counter, verifiesUser } = asserted;
  const rpId = parts.party.id;
  const data: StoredPasskey = { ...stored, counter, verifiesUser: stored.verifiesUser || verifiesUser, rpId };
  return { proof: { method: "hwk", ...(verifiesUser ? { verifiesUser } : {}) }, data };
}

/**
 * Returns the handle of a passkey that is stored without one. It is an old passkey, or an older process has confirmed
 * it during an upgrade: then it has the handle of the account.
 */
async function findHandle({ handles }: PasskeyParts, userId: number, credential: JSONValue): Promise<string> {
  const old = formatOldHandle(userId);
  const presented = readUserHandle(credential);
  if (presented === null || presented === old) return old;
  return (await handles.find(userId)) ?? old;
}

/** The passkey that a refusal is about, as far as it is known. */
interface RefusedPasskey {
  readonly userId: number | null;
  readonly factorId: number | null;
}

/** Logs why a passkey was refused. */
export function refusePasskey(
  { observe }: Pick<PasskeyParts, "observe">,
  { requestId }: Call,
  reason: PasskeyRefusal,
  { userId, factorId }: RefusedPasskey,
): void {
  observe({ kind: "passkey_refused", requestId, userId, factorId, reason });
}

function expect(parts: PasskeyParts, call: Call, challenge: string, refused: RefusedPasskey): PasskeyExpectations {
  return {
    challenge,
    rpId: parts.party.id,
    isOrigin: (origin) => parts.party.isOrigin(origin, call),
    refused: (reason) => refusePasskey(parts, call, reason, refused),
  };
}

/** Returns the `PublicKeyCredentialCreationOptionsJSON` (WebAuthn §5.4). */
function creationOptions(
  party: RelyingParty,
  { username }: Account,
  { challenge, userHandle }: Pick<Required<PasskeyChallenge>, "challenge" | "userHandle">,
  others: readonly StoredFactor<PasskeyData>[],
): JSONValue {
  return {
    rp: { id: party.id, name: party.name },
    user: { id: userHandle, name: username, displayName: username },
    challenge,
    pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key", alg })),
    timeout: TIMEOUT_MS,
    excludeCredentials: buildDescriptors(others),
    authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "preferred" },
    attestation: "none",
  };
}

/**
 * Returns the `PublicKeyCredentialRequestOptionsJSON` (WebAuthn §5.5). Without factors, any passkey of this host may
 * answer.
 */
export function requestOptions(
  party: RelyingParty,
  challenge: string,
  factors: readonly StoredFactor<PasskeyData>[],
  userVerification: "required" | "preferred",
): JSONValue {
  return {
    challenge,
    timeout: TIMEOUT_MS,
    rpId: party.id,
    allowCredentials: buildDescriptors(factors),
    userVerification,
  };
}

function buildDescriptors(factors: readonly StoredFactor<PasskeyData>[]): JSONValue {
  return factors.flatMap(({ data }) => {
    if (!("credential" in data)) return [];
    const { credential: id, transports } = data;
    return [{ type: "public-key", id, ...(transports.length === 0 ? {} : { transports }) }];
  });
}
