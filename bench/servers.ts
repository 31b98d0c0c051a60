import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { type IncomingMessage, request as ask } from "node:http";
import { availableParallelism } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import type { ServiceProcess } from "../tests/harness/service-process.ts";
import type { Request } from "./scenarios.ts";

/** A response as it was sent, without the header fields that `node:http` adds. */
export interface CapturedReply {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string;
}

const root = path.join(import.meta.dirname, "..");
const addedByNode = new Set(["date", "connection", "keep-alive", "transfer-encoding"]);

/** True if the server and the load each run on a separate core. */
export const pinned = availableParallelism() > 1 && spawnSync("taskset", ["-c", "0", "true"]).status === 0;

export function onServerCore(script: string): string[] {
  return onCore(0, script);
}

export function onLoadCore(script: string, argument: string): string[] {
  return [...onCore(1, script), argument];
}

export function onAnyCore(script: string): string[] {
  return [process.execPath, path.resolve(root, script)];
}

function onCore(core: number, script: string): string[] {
  return pinned ? ["taskset", "-c", String(core), ...onAnyCore(script)] : onAnyCore(script);
}

/** Sends the request once and returns the response. */
export async function captureReply(address: string, { path: target, headers }: Request): Promise<CapturedReply> {
  const outgoing = ask(new URL(target.replace("{n}", String(Date.now() * 1000)), address), {
    headers,
    agent: false,
  }).end();
  const [reply] = (await once(outgoing, "response")) as [IncomingMessage];
  const replyHeaders = reply.rawHeaders.flatMap((name, at, raw) =>
    at % 2 === 0 && !addedByNode.has(name.toLowerCase()) ? [name, raw[at + 1]!] : [],
  );
  return { status: reply.statusCode!, headers: replyHeaders, body: await text(reply) };
}

/** A server for comparison, in a separate process. */
export interface Rival extends AsyncDisposable {
  readonly address: string;
  readonly pid: number;
}

/** Starts a bare `node:http` server that sends this response to every request. */
export function startBare(reply: CapturedReply): Promise<Rival> {
  return startRival("bench/bare.ts", reply);
}

/** Starts a bare `node:http` server on any core that sends the response of each path. */
export function startBareLists(replies: Readonly<Record<string, CapturedReply>>): Promise<Rival> {
  return startRival("bench/bare-lists.ts", replies, onAnyCore);
}

/** Starts a server written by hand that reads the service's database file. */
export async function startByHand(reply: CapturedReply, service: ServiceProcess): Promise<Rival> {
  const keys: unknown = await (await fetch(`${service.address}/.well-known/jwks.json`)).json();
  return startRival("bench/by-hand.ts", { file: service.file, keys, reply });
}

/** Starts a server written by hand that creates users in a separate file next to the service's. */
export async function startCreatingByHand({ address, file }: ServiceProcess, place: typeof onAnyCore): Promise<Rival> {
  const keys: unknown = await (await fetch(`${address}/.well-known/jwks.json`)).json();
  return startRival("bench/creating-by-hand.ts", { file: `${file}-by-hand`, keys }, place);
}

/** Starts a process that writes to the service's database file a thousand times a second. */
export async function startCommitting({ file: database }: ServiceProcess): Promise<AsyncDisposable> {
  const [file = "", ...args] = onLoadCore("bench/committing.ts", database);
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  await once(child.stdout, "data");
  return {
    async [Symbol.asyncDispose]() {
      child.kill();
      await ended;
    },
  };
}

/** Starts a bare server that reads a user from the service's PostgreSQL database. */
export function startBarePostgres(reply: CapturedReply, url: string): Promise<Rival> {
  return startRival("bench/bare-postgres.ts", { url, reply });
}

async function startRival(script: string, input: unknown, place = onServerCore): Promise<Rival> {
  const [file = "", ...args] = place(script);
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  child.stdin.end(JSON.stringify(input));
  const [address] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
  return {
    address: address.trim(),
    pid: child.pid!,
    async [Symbol.asyncDispose]() {
      child.kill();
      await ended;
    },
  };
}
