import { generateKeyPairSync } from "node:crypto";
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { calculateJwkThumbprint, type JWK } from "jose";
import { derivedSigningKeys, readSigningKeys } from "../../door/auth.ts";
import type { Secret } from "../../door/index.ts";
import { codeOf } from "../../service/settings/error.ts";
import { CommandFailed } from "../exit.ts";

/** A key as the file has it. */
export interface StoredKey {
  /** By which the service names it: its own, else its RFC 7638 thumbprint. */
  readonly kid: string;
  readonly jwk: FileJWK;
}

/** A JWK with a member of ours, which others pass over (RFC 7517 §4). */
interface FileJWK extends JWK {
  /** When the key stopped signing, RFC 3339. */
  readonly stopped_signing_at?: string;
}

/** What a key does. */
export type KeyState = "signs" | "verifies" | "verifies (public part only)";

/** The keys of a JWK Set file, in its order; none where there is no file. Throws `SigningKeysError` where the service could not use it. */
export async function readKeyFile(file: string): Promise<readonly StoredKey[]> {
  if (isAbsent(file)) return [];
  readSigningKeys(file);
  const { keys } = JSON.parse(readFileSync(file, "utf8")) as { readonly keys: readonly FileJWK[] };
  return Promise.all(keys.map(async (jwk) => ({ kid: jwk.kid ?? (await calculateJwkThumbprint(jwk)), jwk })));
}

/** One that cannot be reached may be there. */
function isAbsent(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** The key that signs: the first private one. */
export function signingKey(keys: readonly StoredKey[]): StoredKey | undefined {
  return keys.find(({ jwk }) => jwk.d !== undefined);
}

export function stateOf(key: StoredKey, keys: readonly StoredKey[]): KeyState {
  if (key === signingKey(keys)) return "signs";
  return key.jwk.d === undefined ? "verifies (public part only)" : "verifies";
}

/** A new key of that algorithm. */
export async function makeKey(alg: "EdDSA" | "ES256"): Promise<StoredKey> {
  const { privateKey } =
    alg === "EdDSA" ? generateKeyPairSync("ed25519") : generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = privateKey.export({ format: "jwk" }) as JWK;
  const kid = await calculateJwkThumbprint(jwk);
  // Otherwise a command would take its name for an option.
  if (kid.startsWith("-")) return makeKey(alg);
  return { kid, jwk: { ...jwk, kid, alg, use: "sig" } };
}

/** The key with which a service signs that has a secret and no file of keys. */
export function derivedKey(secret: Secret): StoredKey {
  const { kid, alg, privateKey } = derivedSigningKeys(secret).signing;
  return { kid, jwk: { ...(privateKey.export({ format: "jwk" }) as JWK), kid, alg, use: "sig" } };
}

/** Reads the file, changes it and puts it in place in one step, so that nobody reads half of it. Of two commands at once, one has to wait. */
export async function changeKeyFile<T>(
  named: string,
  change: (keys: readonly StoredKey[]) => Promise<{ readonly keys: readonly StoredKey[]; readonly result: T }>,
): Promise<T> {
  // A link stays a link.
  const file = existsSync(named) ? realpathSync(named) : named;
  const draft = `${file}.new`;
  const descriptor = openDraft(draft);
  try {
    const { keys, result } = await change(await readKeyFile(file));
    writeSync(descriptor, `${JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }, null, 2)}\n`);
    fsyncSync(descriptor);
    if (existsSync(file)) keepOwner(file, draft);
    renameSync(draft, file);
    return result;
  } finally {
    closeSync(descriptor);
    rmSync(draft, { force: true });
  }
}

function openDraft(draft: string): number {
  try {
    return openSync(draft, "wx", 0o600);
  } catch (error) {
    if (codeOf(error) === "EEXIST")
      throw new CommandFailed(`Another command is changing the keys. Where none is, remove ${draft} and try again.`);
    throw new CommandFailed(
      `${draft} cannot be made (${codeOf(error)}). Let the user of this process write in its folder, and see that there is room.`,
    );
  }
}

/** The service must still be able to read what another user has changed. */
function keepOwner(file: string, draft: string): void {
  const { uid, gid, mode } = statSync(file);
  const own = statSync(draft);
  if (own.uid !== uid || own.gid !== gid) chownSync(draft, uid, gid);
  chmodSync(draft, mode & 0o777);
}
