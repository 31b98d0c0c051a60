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
import { readErrorCode } from "../../service/settings/error.ts";
import { CommandFailed } from "../output.ts";

/** A key in the form of the file. */
export interface StoredKey {
  /** The id of the key: the `kid` in the file, otherwise its RFC 7638 thumbprint. */
  readonly kid: string;
  readonly jwk: FileJWK;
}

/** A JWK with an additional member, which other programs ignore (RFC 7517 §4). */
interface FileJWK extends JWK {
  /** The time when the key stopped signing, RFC 3339. */
  readonly stopped_signing_at?: string;
}

/** The use of a key. */
export type KeyState = "signs" | "verifies" | "verifies (public part only)";

/**
 * Reads the keys of a JWK Set file, in their order. Returns an empty list if the file does not exist. Throws
 * `SigningKeysError` if the service could not use the file.
 */
export async function readKeyFile(file: string): Promise<readonly StoredKey[]> {
  if (isAbsent(file)) return [];
  readSigningKeys(file);
  const { keys } = JSON.parse(readFileSync(file, "utf8")) as { readonly keys: readonly FileJWK[] };
  return Promise.all(keys.map(async (jwk) => ({ kid: jwk.kid ?? (await calculateJwkThumbprint(jwk)), jwk })));
}

/** Returns true if the file certainly does not exist. Returns false if its folder cannot be read. */
function isAbsent(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** Returns the key that signs: the first private one. */
export function signingKey(keys: readonly StoredKey[]): StoredKey | undefined {
  return keys.find(({ jwk }) => jwk.d !== undefined);
}

export function describeState(key: StoredKey, keys: readonly StoredKey[]): KeyState {
  if (key === signingKey(keys)) return "signs";
  return key.jwk.d === undefined ? "verifies (public part only)" : "verifies";
}

/** Makes a new key for an algorithm. */
export async function makeKey(alg: "EdDSA" | "ES256"): Promise<StoredKey> {
  const { privateKey } =
    alg === "EdDSA" ? generateKeyPairSync("ed25519") : generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = privateKey.export({ format: "jwk" }) as JWK;
  const kid = await calculateJwkThumbprint(jwk);
  // A command would take a `kid` with a hyphen at its start for an option, so another key is made.
  if (kid.startsWith("-")) return makeKey(alg);
  return { kid, jwk: { ...jwk, kid, alg, use: "sig" } };
}

/** Returns the signing key that a service without a key file derives from its secret. */
export function derivedKey(secret: Secret): StoredKey {
  const { kid, alg, privateKey } = derivedSigningKeys(secret).signing;
  return { kid, jwk: { ...(privateKey.export({ format: "jwk" }) as JWK), kid, alg, use: "sig" } };
}

/**
 * Reads the file, changes its keys and replaces the file in one step, so that no process reads an incomplete file.
 * Throws if another command is changing the file at the same time.
 */
export async function changeKeyFile<T>(
  named: string,
  change: (keys: readonly StoredKey[]) => Promise<{ readonly keys: readonly StoredKey[]; readonly result: T }>,
): Promise<T> {
  // If the path is a symbolic link, replaces the file that it leads to and keeps the link.
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
    if (readErrorCode(error) === "EEXIST")
      throw new CommandFailed(
        `Another command is changing the keys. If no such command runs, remove ${draft} and try again.`,
      );
    throw new CommandFailed(
      `${draft} cannot be created (${readErrorCode(error)}). Give this process write permission for its folder, and check the free space.`,
    );
  }
}

/**
 * Gives the new file the owner and the mode of the old one, because the service must still be able to read it if
 * another user runs the command.
 */
function keepOwner(file: string, draft: string): void {
  const { uid, gid, mode } = statSync(file);
  const own = statSync(draft);
  if (own.uid !== uid || own.gid !== gid) chownSync(draft, uid, gid);
  chmodSync(draft, mode & 0o777);
}
