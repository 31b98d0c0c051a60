import { ConfigError } from "../../service/settings/error.ts";
import { findSecret } from "../../service/settings/own-secret.ts";
import type { Readings } from "../../service/settings/reading.ts";
import {
  changeKeyFile,
  derivedKey,
  makeKey,
  readKeyFile,
  signingKey,
  describeState,
  type StoredKey,
} from "../input/key-file.ts";
import { CommandFailed, show, showList, type Output } from "../output.ts";
import { requireSettings } from "../settings.ts";

/** The options of `latchkey key new`. */
export interface NewKeyOptions extends Output {
  readonly alg: "EdDSA" | "ES256";
}

// The maximum difference between the clocks of several machines. The check of `iat` allows the same difference.
const SLACK_SECONDS = 60;

/**
 * Adds a key to the key file. The first key in the file signs, and the others only verify. If the file has no key and
 * there is a secret, a service may be signing with the key that is derived from the secret. This derived key is then
 * stored first, so that its tokens stay valid when the service starts to use the file.
 */
export async function addKey({ alg, json = false }: NewKeyOptions): Promise<void> {
  const { file, readings, problems } = await requireKeySettings();
  const shown = await changeKeyFile(file, async (before) => {
    const made = await makeKey(alg);
    const keys = [...(before.length > 0 ? before : formerKeys(readings, problems)), made];
    return { keys, result: describe(made, keys) };
  });
  const next =
    shown.state === "signs"
      ? "It signs."
      : `It verifies, and the previous key still signs. When all verifiers have loaded it, let it sign: latchkey key activate ${shown.kid}`;
  show(json, shown, `Key ${shown.kid} (${alg}) was made. ${next}`);
}

function formerKeys(readings: Readings, problems: string[]): readonly StoredKey[] {
  const countBefore = problems.length;
  const secret = findSecret(readings, problems);
  const { secret: secretReading, secretFile, database } = readings;
  // If one of these settings is wrong, the derived key is unknown. A key file without the derived key would make the
  // tokens of that key invalid.
  if (problems.length > countBefore || secretReading.isWrong || secretFile.isWrong || database.isWrong)
    throw new ConfigError(problems);
  return secret === null ? [] : [derivedKey(secret)];
}

/** Makes a key the signing key. */
export async function activate(kid: string, { json = false }: Output): Promise<void> {
  const { file } = await requireKeySettings();
  const shown = await changeKeyFile(file, async (before) => {
    const found = requireKey(before, kid);
    if (found.jwk.d === undefined)
      throw new CommandFailed(`The file has only the public part of ${kid}, so it cannot sign.`);
    const former = signingKey(before);
    if (former === found) return { keys: before, result: describe(found, before) };
    const { stopped_signing_at: _, ...jwk } = found.jwk;
    const activated: StoredKey = { kid: found.kid, jwk };
    const rest = before.filter((each) => each !== found).map((each) => (each === former ? stopped(each) : each));
    const keys = [activated, ...rest];
    return { keys, result: describe(activated, keys) };
  });
  show(json, shown, `Key ${shown.kid} signs.`);
}

/** Removes a key that no longer signs. */
export async function retire(
  kid: string,
  { force = false, json = false }: Output & { readonly force?: boolean },
): Promise<void> {
  const { file, accessSeconds } = await requireKeySettings();
  const shown = await changeKeyFile(file, async (before) => {
    const found = requireKey(before, kid);
    if (found === signingKey(before))
      throw new CommandFailed(`${kid} is the signing key. Let another key sign first: latchkey key activate KID`);
    if (!force) requireUnused(found, accessSeconds);
    return { keys: before.filter((each) => each !== found), result: { kid: found.kid, retired: true } };
  });
  show(json, shown, `Key ${shown.kid} was removed.`);
}

/** Prints the keys. */
export async function list({ json = false }: Output): Promise<void> {
  const { file } = await requireKeySettings();
  const keys = await readKeyFile(file);
  await showList(json, [keys.map((key) => describe(key, keys))], ["kid", "alg", "state", "stopped_signing_at"]);
}

function describe(key: StoredKey, keys: readonly StoredKey[]) {
  return {
    kid: key.kid,
    alg: key.jwk.kty === "OKP" ? "EdDSA" : "ES256",
    state: describeState(key, keys),
    stopped_signing_at: key.jwk.stopped_signing_at ?? null,
  };
}

function stopped({ kid, jwk }: StoredKey): StoredKey {
  return { kid, jwk: { ...jwk, stopped_signing_at: new Date().toISOString() } };
}

/** Returns the key whose `kid` begins with the given text. Throws unless exactly one key matches. */
function requireKey(keys: readonly StoredKey[], kid: string): StoredKey {
  const found = keys.filter((key) => key.kid.startsWith(kid));
  if (found.length === 1) return found[0]!;
  if (found.length > 1)
    throw new CommandFailed(`${found.length} keys begin with ${kid}. Write more characters of the one you mean.`);
  throw new CommandFailed(`There is no key ${kid}. latchkey key list shows them.`, "not_found");
}

/**
 * Throws if tokens of the key may still be valid. Its last token expires one token lifetime after the key stopped
 * signing.
 */
function requireUnused(key: StoredKey, accessSeconds: number): void {
  const since = key.jwk.stopped_signing_at;
  if (since === undefined) return;
  const free = Date.parse(since) + (accessSeconds + SLACK_SECONDS) * 1000;
  if (free <= Date.now()) return;
  throw new CommandFailed(
    `Tokens that ${key.kid} has signed are valid until ${new Date(free).toISOString()}. Wait until then, or invalidate them with --force.`,
    "in_use",
  );
}

interface KeySettings {
  readonly file: string;
  readonly accessSeconds: number;
  readonly readings: Readings;
  /** The mistakes in the other settings, which only some commands need. */
  readonly problems: string[];
}

/**
 * Reads only the settings for keys, because the operator may make the first key before the other settings are complete.
 */
async function requireKeySettings(): Promise<KeySettings> {
  const { readings, problems } = await requireSettings("signingKeys", "accessSeconds");
  const { signingKeys, accessSeconds } = readings;
  if (signingKeys.value === null)
    throw new ConfigError([
      "LATCHKEY_SIGNING_KEYS names no file, so the key is derived from the server's secret. Set it to the path of a file; the file need not exist yet.",
    ]);
  return { file: signingKeys.value, accessSeconds: accessSeconds.value, readings, problems };
}
