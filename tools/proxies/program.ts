import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

export interface Program {
  /** The name of the command, and of the Debian package that contains it. */
  readonly name: string;
  readonly args: readonly string[];
  /** The port that it listens on when it runs. */
  readonly port: number;
  /** Its working folder, which is deleted with the test. */
  readonly folder: string;
  /** The signal that stops the program. Default: `SIGTERM`. */
  readonly endedBy?: NodeJS.Signals;
}

/**
 * Runs a proxy, not as a system service, and stops it with the test. Resolves when it listens, with a function that
 * stops it earlier.
 */
export async function runProgram(
  t: TestContext,
  { name, args, port, folder, endedBy = "SIGTERM" }: Program,
): Promise<() => Promise<void>> {
  // On Debian, the command is in /usr/sbin, which is not on every user's path.
  const env = { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin` };
  const child = spawn(name, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const ended = new Promise<string>((resolve) => {
    const cure = `apt-get update && apt-get install -y --no-install-recommends ${name}`;
    child.once("error", () => resolve(`${name} is not installed. Install it: ${cure}`));
    child.once("exit", (code) => resolve(`${name} ended with ${code}: ${said}`));
  });
  const end = async (): Promise<void> => {
    child.kill(endedBy);
    await ended;
  };
  t.after(async () => {
    await end();
    rmSync(folder, { recursive: true, force: true });
  });
  const failed = await Promise.race([ended, answers(name, port)]);
  if (failed !== null) throw new Error(failed);
  return end;
}

async function answers(name: string, port: number): Promise<null> {
  for (let attempt = 0; attempt < 250; attempt++) {
    const socket = connect(port, "127.0.0.1");
    const connected = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (connected) return null;
    await wait(20);
  }
  throw new Error(`${name} does not answer.`);
}

/** Makes `api.pem` and `api.key` in the folder. Returns the certificate. */
export function makeCertificate(folder: string): string {
  const file = path.join(folder, "api.pem");
  const args = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost".split(" ");
  const subject = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", path.join(folder, "api.key"), "-out", file];
  execFileSync("openssl", [...args, ...subject], { stdio: "ignore" });
  return readFileSync(file, "utf8");
}
