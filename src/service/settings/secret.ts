import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import type { Secret } from "../../door/index.ts";
import { readErrorCode } from "./error.ts";
import { serverSecret, wrong, type Parsed } from "./values.ts";

const maxFileBytes = 4096;

/**
 * The number of tries to get the lock, and the pause between them in milliseconds. The lock is held for the duration of
 * a rename.
 */
const mostTries = 200;
const pauseMs = 10;

/** Returns the secret in a file. Returns null if the file does not exist. Reports mistakes in whole sentences. */
export function readSecretFile(file: string): Parsed<Secret> | null {
  try {
    const stats = statSync(file);
    if (!stats.isFile() || stats.size > maxFileBytes) {
      return wrong(`${file} is not a file of 32 to ${maxFileBytes} bytes. Name the file of the server's secret.`);
    }
    const mode = stats.mode & 0o777;
    // Windows has no such modes. Node returns made-up ones there.
    if ((mode & 0o077) !== 0 && process.platform !== "win32") {
      return wrong(`${file} is open to others (mode 0${mode.toString(8)}). Close it with: chmod 600 ${quoted(file)}`);
    }
    return parseSecret(readFileSync(file), file);
  } catch (error) {
    if (readErrorCode(error) === "ENOENT") return null;
    return wrong(`${file} cannot be read (${readErrorCode(error)}). Give this process permission to read it.`);
  }
}

/**
 * Makes the secret of a server that starts for the first time. Processes that start at the same time all get the same
 * secret.
 */
export function makeSecretFile(file: string): Parsed<Secret> {
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    try {
      writeFileSync(draft, `${randomBytes(32).toString("base64url")}\n`, { flag: "wx", mode: 0o600, flush: true });
      putInPlace(draft, file);
      flushDirectory(path.dirname(file));
    } finally {
      rmSync(draft, { force: true });
    }
  } catch (error) {
    if (readErrorCode(error) !== "EEXIST") {
      const cure =
        readErrorCode(error) === "ENOSPC" ? "Free space on its disk" : "Give this process permission to write there";
      return wrong(`${file} cannot be created (${readErrorCode(error)}). ${cure}, or set LATCHKEY_SECRET.`);
    }
  }
  const made = readSecretFile(file);
  if (made === null && existsSync(resolveLockFile(file)))
    return wrong(
      `${file} is being created by another process. If no other process starts, remove ${resolveLockFile(file)} and start again.`,
    );
  return (
    made ??
    wrong(`${file} was removed while it was created, or is a link to a missing file. Start again, or remove the link.`)
  );
}

/** Puts the file in place. The first process wins, and no process sees a partly written file. */
function putInPlace(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    if (readErrorCode(error) === "EEXIST") throw error;
    // A disk without links, such as FAT, causes a different error on each system.
    renameUnderLock(draft, file);
  }
}

/** Renames the file under a lock, because a rename would replace an existing file. */
function renameUnderLock(draft: string, file: string): void {
  acquireLock(resolveLockFile(file));
  try {
    if (!existsSync(file)) renameSync(draft, file);
  } finally {
    rmSync(resolveLockFile(file), { force: true });
  }
}

function acquireLock(lockFile: string): void {
  for (let tries = 1; ; tries++)
    try {
      closeSync(openSync(lockFile, "wx", 0o600));
      return;
    } catch (error) {
      if (readErrorCode(error) !== "EEXIST" || tries === mostTries) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
}

function resolveLockFile(file: string): string {
  return `${file}.turn`;
}

function parseSecret(bytes: Uint8Array, file: string): Parsed<Secret> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes).trim();
  } catch {
    return wrong(`${file} is not a text. Create the secret with: openssl rand -base64 48`);
  }
  const parsed = serverSecret(text);
  return "value" in parsed ? parsed : wrong(...parsed.wrong.map((sentence) => `${file} ${sentence}`));
}

/** Flushes the directory, because a new name is on the disk only after that. Windows does this itself. */
function flushDirectory(directory: string): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(directory, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Quotes a text as one word for a POSIX shell. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
