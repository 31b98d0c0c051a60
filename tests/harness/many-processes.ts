import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answered, AskOptions } from "./serve.ts";
import { startService, type ServiceProcess } from "./service-process.ts";

type Headers = Readonly<Record<string, string>>;

/** Several processes of the service on one database. */
export interface Processes extends AsyncDisposable {
  readonly count: number;
  /** Sends a request to one of the processes. */
  ask(which: number, method: string, target: string, options?: AskOptions): Promise<Answered>;
  /** The headers of the administrator. */
  readonly admin: Headers;
  /** Creates a user and logs in. */
  user(role?: "user" | "admin"): Promise<User>;
  /** Waits for mails with a link to an address. Returns those that were sent so far. */
  mails(address: string): Promise<readonly string[]>;
  /** Logs in at one of the processes. */
  login(which: number, user: Pick<User, "username" | "password">): Promise<Pair>;
}

export interface Pair {
  readonly access: string;
  readonly refresh: string;
}

export interface User extends Pair {
  readonly id: number;
  readonly username: string;
  readonly password: string;
}

const administrator = { username: "admin", password: "first-administrator" };

/** Starts three processes on a separate SQLite file, or on a PostgreSQL database. */
export async function startProcesses(postgres?: string): Promise<Processes> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-many-"));
  const mails = path.join(folder, "mails");
  const settings = {
    LATCHKEY_DATABASE: postgres ?? `sqlite:${path.join(folder, "latchkey.db")}`,
    LATCHKEY_SECRET: "a secret that all of the processes know",
    LATCHKEY_ADMIN_PASSWORD: administrator.password,
    LATCHKEY_MAIL_URL: `file:${mails}`,
    LATCHKEY_MAIL_FROM: "no-reply@example.com",
  };
  // Starts alone, because the first process creates the tables and the administrator.
  const first = await startService(settings);
  const processes = [first, ...(await Promise.all([startService(settings), startService(settings)]))];

  async function ask(which: number, method: string, target: string, options: AskOptions = {}): Promise<Answered> {
    const { headers = {}, body } = options;
    const response = await fetch(processes[which]!.address + target, {
      method,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const json: unknown = text === "" ? undefined : JSON.parse(text);
    return { status: response.status, headers: response.headers, text, json };
  }

  async function login(which: number, { username, password }: Pick<User, "username" | "password">): Promise<Pair> {
    return require(200, await ask(which, "POST", "/api/token/", { body: { username, password } }));
  }

  const admin = bearer(await login(0, administrator));
  let made = 0;
  return {
    count: processes.length,
    ask,
    login,
    admin,
    async mails(address) {
      const deadline = performance.now() + 10_000;
      while (performance.now() < deadline) {
        const files = existsSync(mails) ? readdirSync(mails).filter((name) => name.endsWith(".eml")) : [];
        const sent = files.map((name) => readFileSync(path.join(mails, name), "utf8"));
        const found = sent.filter((text) => text.includes(`To: ${address}\r\n`) && text.includes("?token="));
        if (found.length > 0) return found;
        await sleep(20);
      }
      throw new Error(`No mail to ${address}.`);
    },
    async user(role = "user") {
      const [username, password] = [`user-${++made}@example.com`, `password of user ${made}`];
      const body = { name: "Somebody", email: username, password };
      const { id } = require(201, await ask(0, "POST", "/users", { headers: admin, body }));
      if (role === "admin")
        require(200, await ask(0, "PATCH", `/users/${id}/account`, { headers: admin, body: { role } }));
      return { id, username, password, ...(await login(0, { username, password })) };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(processes.map(end));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the header of an access token. */
export function bearer({ access }: Pick<Pair, "access">): { readonly authorization: string } {
  return { authorization: `Bearer ${access}` };
}

/** Returns the token of the link in a mail. */
export function readToken(mail: string): string {
  return /\?token=([\w-]+)/.exec(mail)![1]!;
}

/** The ways to revoke an access token, at the first process. */
export const endings: Readonly<Record<string, (processes: Processes, user: User) => Promise<Answered>>> = {
  "a logout": ({ ask }, { refresh }) => ask(0, "DELETE", "/api/token/", { body: { refresh } }),
  "a changed password": ({ ask }, user) =>
    ask(0, "PATCH", `/users/${user.id}`, {
      headers: bearer(user),
      body: { password: "another password", current_password: user.password },
    }),
  "a reset password": async ({ ask, mails }, { username }) => {
    await ask(0, "POST", "/api/password/reset/", { body: { email: username } });
    const token = readToken((await mails(username))[0]!);
    return ask(0, "POST", "/api/password/reset/confirm/", { body: { token, password: "another password" } });
  },
  "a deactivation": ({ ask, admin }, { id }) =>
    ask(0, "PATCH", `/users/${id}/account`, { headers: admin, body: { active: false } }),
  "a deletion": ({ ask, admin }, { id }) => ask(0, "DELETE", `/users/${id}`, { headers: admin }),
  "a lost role": ({ ask, admin }, { id }) =>
    ask(0, "PATCH", `/users/${id}/account`, { headers: admin, body: { role: "user" } }),
};

/** The behavior of the other processes after a token is revoked. */
export interface Seen {
  /** The time from the response to the revocation until the last process refused the token, in milliseconds. */
  readonly delayMs: number;
  /** The number of requests that the other processes accepted in that time. */
  readonly answered: number;
}

/** Revokes the access token of a new administrator, and asks the other processes until they refuse it. */
export async function watchEnding(processes: Processes, ending: string): Promise<Seen> {
  const user = await processes.user("admin");
  const others = Array.from({ length: processes.count - 1 }, (_, at) => at + 1);
  const ask = (which: number): Promise<Answered> =>
    processes.ask(which, "GET", "/protected/", { headers: bearer(user) });
  for (const which of others) require(200, await ask(which));

  const { status } = await endings[ending]!(processes, user);
  if (status !== 200 && status !== 204) throw new Error(`${ending}: ${status}`);
  const endedAt = performance.now();
  let answered = 0;
  await Promise.all(
    others.map(async (which) => {
      while ((await ask(which)).status !== 401) {
        answered++;
        if (performance.now() - endedAt > 10_000) throw new Error(`Process ${which} goes on after ${ending}.`);
      }
    }),
  );
  return { delayMs: performance.now() - endedAt, answered };
}

function require(status: number, answered: Answered): Answered["json"] {
  if (answered.status !== status) throw new Error(`${answered.status}: ${JSON.stringify(answered.json)}`);
  return answered.json;
}

/** Stops a service without waiting for its requests. */
async function end(service: ServiceProcess): Promise<void> {
  process.kill(service.pid, "SIGKILL");
  await service[Symbol.asyncDispose]();
}
