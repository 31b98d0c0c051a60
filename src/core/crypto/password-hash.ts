import { pbkdf2, scrypt } from "node:crypto";
import { promisify } from "node:util";
import { digest, sameBytes } from "./secret.ts";

/** The cost of an Argon2id hash. */
export interface PasswordCost {
  readonly memoryKiB: number;
  readonly passes: number;
  readonly lanes: number;
}

/** The cost that OWASP recommends (Password Storage Cheat Sheet). */
export const usualCost: PasswordCost = { memoryKiB: 19_456, passes: 2, lanes: 1 };

/** The minimum costs that OWASP considers equally strong: less memory needs more passes. */
const least = [
  [47_104, 1],
  [19_456, 2],
  [12_288, 3],
  [9_216, 4],
  [7_168, 5],
] as const;

/**
 * Parses `m=19456,t=2,p=1`, as in a hash. Returns null if the text is invalid, below OWASP's minimum, or above the
 * limit for verifying.
 */
export function parsePasswordCost(text: string): PasswordCost | null {
  const found = /^m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})$/.exec(text);
  if (found === null) return null;
  const [memoryKiB, passes, lanes] = toNumbers(found) as [number, number, number];
  const isEnough = least.some(([memory, times]) => memoryKiB >= memory && passes >= times);
  return isEnough && isBearable(memoryKiB, passes, lanes) && lanes >= 1 ? { memoryKiB, passes, lanes } : null;
}

/** Returns the hash of a random unknown password. Verifying it takes as long as a real hash of this cost. */
export function decoyHash(cost: PasswordCost): string {
  return `${formatPrefix(cost)}aJ28384/Zlyri9TFXg/3aA$+PzhKhO5o57imvbZjk7fBqq1QSgYP6vFrOXq5aMGsww`;
}

function formatPrefix({ memoryKiB, passes, lanes }: PasswordCost): string {
  return `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${lanes}$`;
}

/** An accepted format of password hashes. `read` returns null for another format, or for too high a cost. */
interface Format {
  read(hash: string): PasswordCheck | null;
}

type PasswordCheck = (password: string) => Promise<boolean>;

/** Hashes a password byte for byte (UTF-8), outside of the main thread, into an Argon2id PHC string. */
export async function hashPassword(password: string, cost: PasswordCost = usualCost): Promise<string> {
  const argon2 = await loadArgon2();
  const { memoryKiB: memoryCost, passes: timeCost, lanes: parallelism } = cost;
  return argon2.hash(Buffer.from(password), { memoryCost, timeCost, parallelism });
}

/**
 * Prefix of the hash of an account that has a second factor. Versions that do not know it refuse the password, so they
 * never log the user in without the factor.
 */
export const FACTOR_MARK = "factor$";

/** Returns a hash in the form in which an account with this number of active factors stores it. */
export function markHash(hash: string, factors: number): string {
  return factors > 0 ? FACTOR_MARK + unmarked(hash) : unmarked(hash);
}

function unmarked(hash: string): string {
  return hash.startsWith(FACTOR_MARK) ? hash.slice(FACTOR_MARK.length) : hash;
}

/** Returns true if the password is right. An unknown format, or a hash with a hostile cost, matches no password. */
export async function verifyPassword(hash: string, password: string): Promise<boolean> {
  const check = readHash(hash);
  if (check === null) return false;
  try {
    return await check(password);
  } catch {
    // The library throws for a text that only looks like a hash. Such a text matches no password.
    return false;
  }
}

/**
 * Returns true if the next login should replace the hash: its format or cost differs from the setting, so the response
 * time of a login would reveal that the account exists.
 */
export function needsUpgrade(hash: string, cost: PasswordCost = usualCost): boolean {
  return !unmarked(hash).startsWith(formatPrefix(cost));
}

/** Returns true if a hash can be verified, for imports. */
export function isKnownFormat(hash: string): boolean {
  return readHash(hash) !== null;
}

function readHash(stored: string): PasswordCheck | null {
  if (stored.length > 1024) return null;
  const hash = unmarked(stored);
  for (const format of formats) {
    const check = format.read(hash);
    if (check !== null) return check;
  }
  return null;
}

/** A PHC string. Django writes `argon2` before it. */
const argon2: Format = {
  read(hash) {
    const phc = hash.startsWith("argon2$") ? hash.slice("argon2".length) : hash;
    const found =
      /^\$argon2i?d?\$(?:v=(?:16|19)\$)?m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$[A-Za-z0-9+/]{11,128}\$[A-Za-z0-9+/]{16,171}$/.exec(
        phc,
      );
    if (found === null || !/^\$argon2(?:i|id)\$/.test(phc)) return null;
    const [memoryKiB, passes, lanes] = toNumbers(found);
    if (!isBearable(memoryKiB!, passes!, lanes!)) return null;
    return async (password) => (await loadArgon2()).verify(phc, Buffer.from(password));
  },
};

/** Returns true if the cost is within the limit. No hash and no setting can make a login more expensive. */
function isBearable(memoryKiB: number, passes: number, lanes: number): boolean {
  return memoryKiB <= 262_144 && passes <= 64 && memoryKiB * passes <= 1_048_576 && lanes <= 16;
}

/** The format `pbkdf2_sha256$iterations$salt$hash` of Django. */
const djangoPbkdf2: Format = {
  read(hash) {
    const found = /^pbkdf2_sha256\$(\d{1,7})\$([^$]{1,128})\$([A-Za-z0-9+/]{43}=)$/.exec(hash);
    if (found === null) return null;
    const iterations = Number(found[1]);
    if (iterations < 1 || iterations > 5_000_000) return null;
    const expected = Buffer.from(found[3]!, "base64");
    return async (password) =>
      sameBytes(await derivePbkdf2(password, found[2]!, iterations, expected.length, "sha256"), expected);
  },
};

/** The format `scrypt$n$salt$r$p$hash` of Django. */
const djangoScrypt: Format = {
  read(hash) {
    const found = /^scrypt\$(\d{1,8})\$([^$]{1,128})\$(\d{1,3})\$(\d{1,3})\$([A-Za-z0-9+/]{22,171}={0,2})$/.exec(hash);
    if (found === null) return null;
    return checkScrypt(Number(found[1]), Number(found[3]), Number(found[4]), Buffer.from(found[2]!), found[5]!);
  },
};

/** The PHC string `$scrypt$ln=14,r=8,p=1$salt$hash`, Base64 without padding. */
const phcScrypt: Format = {
  read(hash) {
    const found =
      /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{2,171})\$([A-Za-z0-9+/]{22,171})$/.exec(hash);
    if (found === null) return null;
    return checkScrypt(
      2 ** Number(found[1]),
      Number(found[2]),
      Number(found[3]),
      Buffer.from(found[4]!, "base64"),
      found[5]!,
    );
  },
};

/**
 * The formats `$2a$`, `$2b$` and `$2y$`. Django writes `bcrypt$` before it, or `bcrypt_sha256$` if it hashes the
 * password's digest.
 */
const bcrypt: Format = {
  read(hash) {
    const found = /^(bcrypt\$|bcrypt_sha256\$)?(\$2[aby]\$(\d{2})\$[./A-Za-z0-9]{53})$/.exec(hash);
    if (found === null) return null;
    const cost = Number(found[3]);
    // Each step doubles the time: 12 takes a quarter of a second, 15 two seconds.
    if (cost < 4 || cost > 15) return null;
    const isDigested = found[1] === "bcrypt_sha256$";
    return async (password) =>
      (await loadBcrypt()).verify(Buffer.from(isDigested ? digest(password).toString("hex") : password), found[2]!);
  },
};

const formats: readonly Format[] = [argon2, djangoPbkdf2, djangoScrypt, phcScrypt, bcrypt];

function checkScrypt(
  cost: number,
  blockSize: number,
  parallelization: number,
  salt: Buffer,
  encoded: string,
): PasswordCheck | null {
  const memory = 128 * cost * blockSize;
  const isPowerOfTwo = cost > 1 && Number.isInteger(Math.log2(cost));
  if (!isPowerOfTwo || blockSize < 1 || parallelization < 1) return null;
  if (memory > 128 * 1024 * 1024 || cost * blockSize * parallelization > 8_388_608) return null;
  const expected = Buffer.from(encoded, "base64");
  const options = {
    cost,
    blockSize,
    parallelization,
    maxmem: memory + 128 * blockSize * parallelization + 1024 * 1024,
  };
  return async (password) => sameBytes(await deriveScrypt(password, salt, expected.length, options), expected);
}

const derivePbkdf2 = promisify(pbkdf2);

function deriveScrypt(password: string, salt: Buffer, length: number, options: object): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, length, options, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}

/**
 * Loads Argon2 when the first password arrives, not at the start, because a process that receives only tokens never
 * needs it.
 */
function loadArgon2() {
  return import("@node-rs/argon2");
}

/** Loads bcrypt when the first imported hash needs it. */
function loadBcrypt() {
  return import("@node-rs/bcrypt");
}

function toNumbers(found: RegExpExecArray): number[] {
  return found.slice(1).map(Number);
}
