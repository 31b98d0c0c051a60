import assert from "node:assert/strict";
import { Agent as ClearAgent } from "node:http";
import { Agent as TLSAgent } from "node:https";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { freePort } from "../../tests/harness/free-port.ts";
import { startPostgres } from "../../tests/harness/postgres.ts";
import { startService, type ServiceProcess } from "../../tests/harness/service-process.ts";
import type { Answered, Asking } from "./asking.ts";
import { startHaproxy } from "./haproxy.ts";
import { startNginx } from "./nginx.ts";
import { adminPassword } from "./upstream.ts";

// A few restarts by default, so that `npm run verify -- proxies` is short.
const restarts = Number(process.env["PROXY_RESTARTS"] ?? 4);
delete process.env["PROXY_RESTARTS"];

/** A proxy, and the function that sends requests to it. */
interface Way {
  readonly name: string;
  readonly ask: (target: string, asking?: Asking) => Promise<Answered>;
  readonly tls: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** Two processes on one PostgreSQL that can be restarted on their ports. */
interface Replicas {
  readonly ports: readonly [number, number];
  /** Stops one process as an operator would, and starts it again. Returns the duration of the stop, in milliseconds. */
  restart(which: number): Promise<number>;
}

async function startReplicas(t: TestContext): Promise<Replicas> {
  const postgres = await startPostgres();
  t.after(postgres.stop);
  const shared = {
    LATCHKEY_DATABASE: await postgres.makeDatabase(),
    LATCHKEY_SECRET: "a secret that both of the replicas know",
    LATCHKEY_ADMIN_PASSWORD: adminPassword,
    LATCHKEY_TRUSTED_PROXIES: "127.0.0.1",
    LATCHKEY_ACCESS_SECONDS: "3600",
  };
  const ports = [await freePort(), await freePort()] as const;
  const start = (port: number): Promise<ServiceProcess> => startService({ ...shared, LATCHKEY_PORT: String(port) });
  const running: ServiceProcess[] = [];
  for (const port of ports) running.push(await start(port));
  t.after(() => Promise.all(running.map((replica) => replica[Symbol.asyncDispose]())));
  return {
    ports,
    async restart(which) {
      const stopping = running[which]!;
      const startedAt = performance.now();
      await stopping[Symbol.asyncDispose]();
      const stoppedMs = performance.now() - startedAt;
      assert.equal(await stopping.ended, 0);
      running[which] = await start(ports[which]!);
      return stoppedMs;
    },
  };
}

/** A running load and its results: `answered` counts the expected responses, and `failures` lists all others. */
interface Load {
  readonly failures: readonly string[];
  /** The created users, by their e-mail addresses. */
  readonly made: ReadonlyMap<string, number>;
  readonly answered: number;
  stop(): Promise<void>;
}

/**
 * Reads and writes in four lanes, one request after another in each. The first lane opens a new connection for each
 * request. The others reuse their connections.
 */
function startLoad({ name, ask, tls, headers }: Way): Load {
  const failures: string[] = [];
  const made = new Map<string, number>();
  let answered = 0;
  let stopped = false;

  async function run(lane: number): Promise<void> {
    const options = { keepAlive: lane > 0, maxSockets: 1 };
    const agent = tls ? new TLSAgent(options) : new ClearAgent(options);
    const send = async (status: number, method: string, target: string, body?: unknown): Promise<Answered | null> => {
      const asking = { tls, headers, agent, method, ...(body === undefined ? {} : { body }) };
      const answer = await ask(target, asking).catch((error: unknown) => String(error));
      await wait(3);
      if (typeof answer !== "string" && answer.status === status) {
        answered++;
        return answer;
      }
      const what = typeof answer === "string" ? answer : `${answer.status} ${answer.text}`;
      failures.push(`${new Date().toISOString()} ${name}, lane ${lane}, ${method} ${target}: ${what}`);
      return null;
    };
    for (let turn = 0; !stopped; turn++) {
      const email = `${name}-${lane}-${turn}@example.com`;
      const user = await send(201, "POST", "/users", { name: "Made", email });
      if (user === null) continue;
      const id = user.json.id as number;
      made.set(email, id);
      await send(200, "GET", `/users/${id}`);
      await send(200, "PATCH", `/users/${id}`, { name: "Changed" });
      await send(200, "GET", "/users?limit=10&sort=-id");
      const order = await send(201, "POST", "/orders", {});
      if (order !== null) await send(204, "DELETE", `/orders/${order.json.id}`);
    }
    agent.destroy();
  }

  const lanes = Array.from({ length: 4 }, (_, lane) => run(lane));
  return {
    failures,
    made,
    get answered() {
      return answered;
    },
    async stop() {
      stopped = true;
      await Promise.all(lanes);
    },
  };
}

/** Returns all users except the administrator, in the order of their ids. */
async function allUsers({ ask, headers, tls }: Way): Promise<[email: string, id: number][]> {
  const found: [string, number][] = [];
  for (let next: string | undefined = "/users?limit=1000"; next !== undefined;) {
    const { json, headers: answered } = await ask(next, { headers, tls });
    for (const { id, email } of json as { id: number; email: string }[]) if (id !== 1) found.push([email, id]);
    next = /<([^>]+)>; rel="next"/.exec(String(answered["link"] ?? ""))?.[1];
  }
  return found;
}

test(`restarts two replicas behind nginx and haproxy in turn, ${restarts} times, without a failed request`, async (t) => {
  const replicas = await startReplicas(t);
  const [one, two] = replicas.ports;
  const nginx = await startNginx(t, {
    block: "replicas",
    upstream: "http://latchkey",
    change: (text) => text.replace("127.0.0.1:8001", `127.0.0.1:${one}`).replace("127.0.0.1:8002", `127.0.0.1:${two}`),
  });
  const haproxy = await startHaproxy(t, { replicas: replicas.ports });
  const login = await nginx.ask("/api/token/", {
    method: "POST",
    body: { username: "admin", password: adminPassword },
  });
  const headers = { authorization: `Bearer ${login.json.access}` };
  const ways: Way[] = [
    { name: "nginx", ask: nginx.ask, tls: false, headers },
    { name: "haproxy", ask: haproxy.ask, tls: true, headers },
  ];
  const stops: number[] = [];

  const loads = ways.map(startLoad);
  for (let turn = 0; turn < restarts; turn++) {
    stops.push(await replicas.restart(turn % 2));
    await wait(1000);
  }
  await Promise.all(loads.map((load) => load.stop()));

  assert.deepEqual(
    loads.flatMap(({ failures }) => failures),
    [],
  );
  const made = loads.flatMap((load) => [...load.made]).toSorted(([, id], [, other]) => id - other);
  assert.deepEqual(await allUsers(ways[0]!), made);
  const counts = loads.map(({ answered }, at) => `${answered} through ${ways[at]!.name}`).join(", ");
  t.diagnostic(`${restarts} restarts, ${counts}, none failed; slowest stop ${Math.max(...stops).toFixed(0)} ms`);
});
