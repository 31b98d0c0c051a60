import { randomBytes } from "node:crypto";
import type { Call } from "../../../core/call/call.ts";
import { hmac } from "../../../core/crypto/secret.ts";
import type { Observer } from "../../../core/observation.ts";
import type { JSONValue } from "../../../store/store.ts";
import type { Account } from "../accounts/stored-accounts.ts";
import type { FactorKind, FactorSuccess, StoredFactor } from "../gate/contract.ts";
import {
  algorithms,
  readAssertion,
  readCredentialId,
  readRegistration,
  type PasskeyExpectations,
  type KnownCredential,
  type PublicKeyJWK,
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
  readonly publicKey: { readonly [name: string]: string };
  readonly algorithm: number;
  readonly counter: number;
  readonly verifiesUser: boolean;
  /** Missing in passkeys that are older than this member. */
  readonly backupEligible?: boolean;
  readonly transports: readonly string[];
};

/** The stored data of an unconfirmed passkey. */
type PasskeyChallenge = { readonly challenge: string; readonly until: number };

/** Passkeys as a kind of factor. `key` derives the challenge of a pending login from its id. */
export function passkeyKind(party: RelyingParty, key: Uint8Array, observe: Observer): FactorKind {
  const expected = (call: Call, challenge: string): PasskeyExpectations => ({
    challenge,
    rpId: party.id,
    isOrigin: (origin) => party.isOrigin(origin, call),
  });
  const deriveChallenge = (pendingId: string): string => hmac(key, `login ${pendingId}`).toString("base64url");

  return {
    name: PASSKEY,
    method: "hwk",
    answeredBy: "credential",
    enrol({ now }, account, _label, others) {
      const challenge = randomBytes(32).toString("base64url");
      const data: PasskeyChallenge = { challenge, until: now + TIMEOUT_MS };
      return { data, shown: { options: creationOptions(party, account, challenge, others) } };
    },
    confirm(call, _account, { data }, { credential }) {
      const { challenge, until } = data as PasskeyChallenge;
      if (call.now >= until) return null;
      const made = readRegistration(credential, expected(call, challenge));
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
      };
      return { proof: { method: "hwk", ...(verifiesUser ? { verifiesUser } : {}) }, data: stored, handle: id };
    },
    ask: (_call, _account, factors, pendingId) =>
      requestOptions(party, deriveChallenge(pendingId), factors, "preferred"),
    check: (call, account, factor, { credential }, pendingId) =>
      assert(factor, account, credential, expected(call, deriveChallenge(pendingId)), { call, observe }),
    find(factors, { credential }) {
      const id = readCredentialId(credential);
      return factors.find(({ data }) => (data as StoredPasskey).credential === id) ?? null;
    },
    logsInAlone: ({ data }) => (data as StoredPasskey).verifiesUser,
  };
}

/** Checks an assertion of a stored passkey. A signature counter that goes back is refused and logged: the passkey may be a copy. */
export function assert(
  factor: StoredFactor,
  account: Pick<Account, "id">,
  credential: JSONValue,
  expected: PasskeyExpectations,
  { call, observe }: { readonly call: Call; readonly observe: Observer },
): FactorSuccess | null {
  const stored = factor.data as StoredPasskey;
  const knownCredential: KnownCredential = {
    id: stored.credential,
    publicKey: stored.publicKey as unknown as PublicKeyJWK,
    algorithm: stored.algorithm,
    counter: stored.counter,
    userHandle: formatUserHandle(account.id),
    backupEligible: stored.backupEligible,
  };
  const asserted = readAssertion(credential, knownCredential, expected);
  if (asserted === null) return null;
  if (asserted.isClone) {
    observe({ kind: "passkey_counter_went_back", requestId: call.requestId, userId: account.id, factorId: factor.id });
    return null;
  }
  const { counter, verifiesUser } = asserted;
  const data: StoredPasskey = { ...stored, counter, verifiesUser: stored.verifiesUser || verifiesUser };
  return { proof: { method: "hwk", ...(verifiesUser ? { verifiesUser } : {}) }, data };
}

/** Returns the user handle for authenticators. It contains only the id of the user. */
export function formatUserHandle(userId: number): string {
  return Buffer.from(`user:${userId}`).toString("base64url");
}

/** Returns the id of the user. Returns null if the service did not make the handle. */
export function parseUserHandle(handle: string): number | null {
  const match = /^user:([1-9]\d{0,15})$/.exec(Buffer.from(handle, "base64url").toString());
  return match === null ? null : Number(match[1]);
}

/** Returns the `PublicKeyCredentialCreationOptionsJSON` (WebAuthn §5.4). */
function creationOptions(
  party: RelyingParty,
  { id, username }: Account,
  challenge: string,
  others: readonly StoredFactor[],
): JSONValue {
  return {
    rp: { id: party.id, name: party.name },
    user: { id: formatUserHandle(id), name: username, displayName: username },
    challenge,
    pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key", alg })),
    timeout: TIMEOUT_MS,
    excludeCredentials: buildDescriptors(others),
    authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "preferred" },
    attestation: "none",
  };
}

/** Returns the `PublicKeyCredentialRequestOptionsJSON` (WebAuthn §5.5). Without factors, any passkey of this host may answer. */
export function requestOptions(
  party: RelyingParty,
  challenge: string,
  factors: readonly StoredFactor[],
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

function buildDescriptors(factors: readonly StoredFactor[]): JSONValue {
  return factors.map(({ data }) => {
    const { credential: id, transports } = data as StoredPasskey;
    return { type: "public-key", id, ...(transports.length === 0 ? {} : { transports }) };
  });
}
