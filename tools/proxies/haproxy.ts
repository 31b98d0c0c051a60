import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import { freePort } from "../../tests/harness/free-port.ts";
import { ask, type Answered, type Asking } from "./asking.ts";
import { requireBlock } from "./page.ts";
import { makeCertificate, runProgram } from "./program.ts";

/** A haproxy with the configuration of docs/proxies.md. */
export interface Haproxy {
  ask(target: string, asking?: Asking): Promise<Answered>;
  /** The ports that it listens on instead of 80 and 443. */
  readonly ports: { readonly clear: number; readonly tls: number };
}

export interface HaproxyOptions {
  /** The ports of the replicas, instead of 8001 and 8002. */
  readonly replicas: readonly [one: number, two: number];
}

/** Starts haproxy in a separate folder, not as a system service, and stops it with the test. */
export async function startHaproxy(t: TestContext, { replicas: [one, two] }: HaproxyOptions): Promise<Haproxy> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-haproxy-"));
  const ports = { clear: await freePort(), tls: await freePort() };
  const ca = makeCertificate(folder);
  const both = ["api.pem", "api.key"].map((name) => readFileSync(path.join(folder, name), "utf8")).join("");
  writeFileSync(path.join(folder, "both.pem"), both);
  const text = requireBlock("haproxy", "replicas")
    .replaceAll("/etc/haproxy/api.pem", path.join(folder, "both.pem"))
    .replaceAll("127.0.0.1:8001", `127.0.0.1:${one}`)
    .replaceAll("127.0.0.1:8002", `127.0.0.1:${two}`)
    .replaceAll("bind :443", `bind 127.0.0.1:${ports.tls}`)
    .replaceAll("bind :80", `bind 127.0.0.1:${ports.clear}`);
  writeFileSync(path.join(folder, "haproxy.cfg"), text);

  await runProgram(t, {
    name: "haproxy",
    args: ["-db", "-f", path.join(folder, "haproxy.cfg")],
    port: ports.clear,
    folder,
  });
  return { ports, ask: (target, asking = {}) => ask(target, asking, ports, ca) };
}
