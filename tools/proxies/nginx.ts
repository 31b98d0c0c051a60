import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request as requestInClear, type IncomingMessage } from "node:http";
import { request as requestOverTLS } from "node:https";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

const page = readFileSync(path.join(import.meta.dirname, "../../docs/proxies.md"), "utf8");
const blocks = new Map(
  [...page.matchAll(/^```nginx (\S+)\n(.*?)^```$/gms)].map(([, name = "", text = ""]) => [name, text]),
);

/** An nginx with a configuration of docs/proxies.md. */
export interface Nginx {
  ask(target: string, asking?: Asking): Promise<Answered>;
  /** What it listens on instead of 80 and 443. */
  readonly ports: { readonly clear: number; readonly tls: number };
}

export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The address that nginx takes the caller's to be. */
  readonly from?: string;
  readonly tls?: boolean;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read into it and assert what they find
  readonly json: any;
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
  const tls = makeCertificate(folder);
  const adapt = (text: string): string =>
    text
      .replaceAll("/etc/nginx/", `${folder}/`)
      .replaceAll("http://127.0.0.1:8000", options.upstream)
      .replaceAll("http://127.0.0.1:9000", options.signIn ?? options.upstream)
      .replaceAll(/listen 443\b/g, `listen 127.0.0.1:${ports.tls}`)
      .replaceAll(/listen 80\b/g, `listen 127.0.0.1:${ports.clear}`);
  const write = (name: string, text: string): void =>
    writeFileSync(path.join(folder, name), (options.change ?? same)(adapt(text)));
  for (const name of ["latchkey.conf", "latchkey-user.conf"]) write(name, blockOf(name));
  for (const [name, text] of Object.entries(options.files ?? {})) write(name, text);
  write("nginx.conf", configuration(folder, blockOf(options.block)));

  await run(t, folder, ports.clear);
  return { ports, ask: (target, asking = {}) => ask(target, asking, ports, tls) };
}

function same(text: string): string {
  return text;
}

function blockOf(name: string): string {
  const text = blocks.get(name);
  if (text === undefined) throw new Error(`docs/proxies.md has no block of nginx that is called ${name}.`);
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

async function run(t: TestContext, folder: string, port: number): Promise<void> {
  // Debian has it in /usr/sbin, which is not on everybody's path.
  const env = { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin` };
  const child = spawn("nginx", ["-p", folder, "-e", `${folder}/error.log`, "-c", `${folder}/nginx.conf`], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const ended = new Promise<string>((resolve) => {
    child.once("error", () =>
      resolve("nginx is not installed. Install it: apt-get update && apt-get install -y --no-install-recommends nginx"),
    );
    child.once("exit", (code) => resolve(`nginx ended with ${code}: ${said}`));
  });
  t.after(async () => {
    child.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const failed = await Promise.race([ended, answers(port)]);
  if (failed !== null) throw new Error(failed);
}

async function answers(port: number): Promise<null> {
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
  throw new Error("nginx does not answer.");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function makeCertificate(folder: string): string {
  const file = path.join(folder, "api.pem");
  const args = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost".split(" ");
  const subject = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", path.join(folder, "api.key"), "-out", file];
  execFileSync("openssl", [...args, ...subject], { stdio: "ignore" });
  return readFileSync(file, "utf8");
}

async function ask(
  target: string,
  { method = "GET", headers = {}, body, from, tls = false }: Asking,
  ports: Nginx["ports"],
  ca: string,
): Promise<Answered> {
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const options = {
    host: "127.0.0.1",
    port: tls ? ports.tls : ports.clear,
    method,
    path: target,
    agent: false,
    headers: {
      ...(sent === undefined
        ? {}
        : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(sent)) }),
      ...(from === undefined ? {} : { "X-Test-From": from }),
      ...headers,
    },
  };
  const request = tls ? requestOverTLS({ ...options, ca }) : requestInClear(options);
  request.end(sent);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const text = (await response.toArray()).join("");
  return { status: response.statusCode!, headers: response.headers, text, json: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
