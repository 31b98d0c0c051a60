import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import { freePort } from "../../tests/harness/free-port.ts";
import { ask, type Answered, type Asking } from "./asking.ts";
import { blockOf } from "./page.ts";
import { makeCertificate, runProgram } from "./program.ts";

/** An nginx with a configuration of docs/proxies.md. */
export interface Nginx {
  ask(target: string, asking?: Asking): Promise<Answered>;
  /** What it listens on instead of 80 and 443. */
  readonly ports: { readonly clear: number; readonly tls: number };
}

export interface NginxOptions {
  /** The block of the page. */
  readonly block: string;
  /** Where the service answers. */
  readonly upstream: string;
  /** Where the page's sign-in service answers. */
  readonly signIn?: string;
  /** What the page does not say and a test wants to be otherwise. */
  readonly change?: (text: string) => string;
  /** Files that the configuration names. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Starts nginx in a folder of its own, as no service of the system, and ends it with the test. */
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
  for (const name of ["latchkey.conf", "latchkey-user.conf"]) write(name, blockOf("nginx", name));
  for (const [name, text] of Object.entries(options.files ?? {})) write(name, text);
  write("nginx.conf", configuration(folder, blockOf("nginx", options.block)));

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

/** What surrounds the page's block: nothing outside of the folder is touched, and a caller can be from anywhere. */
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
