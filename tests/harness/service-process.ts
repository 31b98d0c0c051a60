import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { command } from "./command.ts";

/** A service in a separate process with a separate database. */
export interface ServiceProcess extends AsyncDisposable {
  /** The address of the service: `http://127.0.0.1:PORT`. */
  readonly address: string;
  /** The password of its administrator, `admin`. */
  readonly password: string;
  readonly pid: number;
  /** The database file, if the settings name no other. */
  readonly file: string;
  /** The exit status after the process has exited. Null if a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Returns the standard output so far. It contains the log if the settings enable it. */
  said(): string;
}

/** Starts the command on a free port and waits until it prints its address. */
export async function startService(
  settings: Readonly<Record<string, string>> = {},
  started: readonly string[] = [process.execPath, command],
): Promise<ServiceProcess> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-"));
  const password = randomBytes(12).toString("base64url");
  const [file = "", ...args] = started;
  const child = spawn(file, args, {
    cwd: folder,
    env: {
      ...process.env,
      LATCHKEY_PORT: "0",
      LATCHKEY_LOG: "silent",
      LATCHKEY_DATABASE: `sqlite:${path.join(folder, "latchkey.db")}`,
      LATCHKEY_ADMIN_PASSWORD: password,
      ...settings,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit").then(([status]) => status as number | null);

  let said = "";
  let address: string | undefined;
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    said += String(chunk);
    address = /https?:\/\/[\w.[\]:]+:\d+/.exec(said)?.[0];
    if (address !== undefined) break;
  }
  if (address === undefined) throw new Error(`The service did not say where it answers:\n${said}`);
  child.stdout.on("data", (chunk) => (said += String(chunk)));

  return {
    address,
    password,
    pid: child.pid!,
    file: path.join(folder, "latchkey.db"),
    ended,
    said: () => said,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
