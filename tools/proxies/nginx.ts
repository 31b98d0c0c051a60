import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import { freePort } from "../../tests/harness/free-port.ts";
import { ask, type Answered, type Asking } from "./asking.ts";
import { requireBlock } from "./page.ts";
import { makeCertificate, runProgram } from "./program.ts";

/** An nginx with a configuration of docs/proxies.md. */
export interface Nginx {
  ask(target: string, asking?: Asking): Promise<Answered>;
  /** The ports that it listens on instead of 80 and 443. */
  readonly ports: { readonly clear: number; readonly tls: number };
}

export interface NginxOptions {
  /** The name of the block in docs/proxies.md. */
  readonly block: string;
  /** The address of the service. */
  readonly upstream: string;
  /** The address of the service that nginx asks who the caller is. */
  readonly signIn?: string;
  /** Changes the configuration, as a test needs. */
  readonly change?: (text: string) => string;
  /** Files that the configuration names. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Starts nginx in a separate folder, not as a system service, and stops it with the test. */
export async function startNginx(t: TestContext, options: NginxOptions): Promise<Nginx> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-nginx-"));
  const ports = { clear: await freePort(), tls: await freePort() };
  const ca = makeCertificate(folder);
  const adapt = (text: string): string =>
    text
      .replaceAll("/etc/nginx/", `${folder}/`)
      .replaceAll("http://127.0.0.1:8000", options.upstream)
      .replaceAll("http://127.0.0.1:9000", options.signIn ?? options.upstream)
      .replaceAll(/listen 443\b/g, `listen 127.0.0.1:${ports.tls}`)
      .replaceAll(/listen 80\b/g, `listen 127.0.0.1:${ports.clear}`);
  const write = (name: string, text: string): void =>
    writeFileSync(path.join(folder, name), (options.change ?? same)(adapt(text)));
  for (const name of ["latchkey.conf", "latchkey-user.conf"]) write(name, requireBlock("nginx", name));
  for (const [name, text] of Object.entries(options.files ?? {})) write(name, text);
  write("nginx.conf", configuration(folder, requireBlock("nginx", options.block)));

  await runProgram(t, {
    name: "nginx",
    args: ["-p", folder, "-e", `${folder}/error.log`, "-c", `${folder}/nginx.conf`],
    port: ports.clear,
    folder,
  });
  return { ports, ask: (target, asking = {}) => ask(target, asking, ports, ca) };
}

function same(text: string): string {
  return text;
}

/**
 * Returns a complete configuration around a block of the docs. It uses only files of the folder, and a test can choose
 * the caller's address.
 */
function configuration(folder: string, block: string): string {
  const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  for (const kind of kinds) mkdirSync(path.join(folder, kind), { recursive: true });
  return `user ${userInfo().username};
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events {}
http {
  access_log off;
  ${kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join("\n  ")}
  set_real_ip_from 127.0.0.1;
  real_ip_header X-Test-From;
  ${block}
}
`;
}
