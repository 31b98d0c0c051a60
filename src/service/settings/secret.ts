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
import { codeOf } from "./error.ts";
import { serverSecret, wrong, type Parsed } from "./values.ts";

const maxFileBytes = 4096;

/** How often a turn is asked for, and what lies between, in milliseconds: it takes as long as a rename does. */
const mostTries = 200;
const pauseMs = 10;

/** The secret in a file; null where there is no file. What is wrong is said in whole sentences. */
export function readSecretFile(file: string): Parsed<Secret> | null {
  try {
    const stats = statSync(file);
    if (!stats.isFile() || stats.size > maxFileBytes) {
      return wrong(`${file} is no file of 32 to ${maxFileBytes} bytes. Name the file of the server's secret.`);
    }
    const mode = stats.mode & 0o777;
    // Windows has no such modes, and Node makes some up.
    if ((mode & 0o077) !== 0 && process.platform !== "win32") {
      return wrong(`${file} is open to others (mode 0${mode.toString(8)}). Close it with: chmod 600 ${quoted(file)}`);
    }
    return parseSecret(readFileSync(file), file);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    return wrong(`${file} cannot be read (${codeOf(error)}). Let the user of this process read it.`);
  }
}

/** Makes the secret of a server that starts for the first time. Of processes that start at once, all get the same. */
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
    if (codeOf(error) !== "EEXIST") {
      const cure = codeOf(error) === "ENOSPC" ? "Make room on its disk" : "Let the user of this process write there";
      return wrong(`${file} cannot be made (${codeOf(error)}). ${cure}, or give LATCHKEY_SECRET.`);
    }
  }
  const made = readSecretFile(file);
  if (made === null && existsSync(turnOf(file)))
    return wrong(`${file} is being made by another process. Where none is, remove ${turnOf(file)} and start again.`);
  return (
    made ??
    wrong(`${file} was removed while it was made, or is a link that leads nowhere. Start again, or remove the link.`)
  );
}

/** The first process wins, and nobody ever sees a file that is half written. */
function putInPlace(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw error;
    // Each system has another error for a disk without links, as FAT is.
    putInTurn(draft, file);
  }
}

/** Renames it, in a turn of this process alone: a rename replaces what stands there. */
function putInTurn(draft: string, file: string): void {
  takeTurn(turnOf(file));
  try {
    if (!existsSync(file)) renameSync(draft, file);
  } finally {
    rmSync(turnOf(file), { force: true });
  }
}

function takeTurn(turn: string): void {
  for (let tries = 1; ; tries++)
    try {
      closeSync(openSync(turn, "wx", 0o600));
      return;
    } catch (error) {
      if (codeOf(error) !== "EEXIST" || tries === mostTries) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
}

function turnOf(file: string): string {
  return `${file}.turn`;
}

function parseSecret(bytes: Uint8Array, file: string): Parsed<Secret> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes).trim();
  } catch {
    return wrong(`${file} is no text. Make the secret with: openssl rand -base64 48`);
  }
  const parsed = serverSecret(text);
  return "value" in parsed ? parsed : wrong(...parsed.wrong.map((sentence) => `${file} ${sentence}`));
}

/** A new name is on the disk only when its directory is; Windows sees to it itself. */
function flushDirectory(directory: string): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(directory, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** As a POSIX shell takes it for one word. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
