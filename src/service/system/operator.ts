import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import {
  accountsCollection,
  identityOf,
  type Account,
  type ExternalIdentity,
  type Role,
  type UsersMount,
  type WholeExplanation,
} from "../../door/auth.ts";
import type { Arrival, ExplainedList } from "../../door/http.ts";
import { accepted, rejected, Secret, type Scheme, type Service } from "../../door/index.ts";
import type { Observer } from "../../door/ops.ts";
import { parseExactly } from "../../door/resources.ts";
import { sqliteFileProblems, type Store, type Where } from "../../door/stores.ts";
import { openLatchkey } from "../latchkey.ts";
import { gatheringStore, type GatheringStore } from "../records/gathering-store.ts";
import { importUsers, type ImportedBatch, type ImportLine, type ImportOptions } from "../records/import-users.ts";
import { loadPages } from "../records/pages.ts";
import type { ConfigFile } from "../settings/config-file/config-file.ts";
import { ConfigError, type Settings } from "../settings/settings.ts";
import { makeFirstAdministrator, type FirstAdministrator } from "../users/first-administrator.ts";
import { resolvePasswordFile } from "../users/password-file.ts";

/** The response of the service. */
export interface OperatorAnswer {
  readonly status: number;
  /** The JSON body. Null if there is none. */
  readonly value: unknown;
}

/** A user with the login data. */
export type ListedUser = Readonly<Record<string, unknown>>;

/**
 * The service for its operator, without a port. The operator acts as an administrator, because the operator controls
 * this machine.
 */
export interface Operator {
  /** The possible roles of users. */
  readonly roles: readonly Role[];
  /**
   * Sends a request within the process, so that all rules apply: fields, uniqueness, the last administrator,
   * revocation. Acts as `as`, if it is given.
   */
  ask(method: string, path: string, body?: unknown, as?: Account): Promise<OperatorAnswer>;
  /** Returns true if the service has an endpoint at this path. The settings or the config file may remove it. */
  serves(path: string): boolean;
  /** Returns the account with this username or id. */
  findAccount(user: string | number): Promise<Account | null>;
  /** Forgets the wrong passwords of an account. Also forgets those of every address in the last minute. */
  unlock(username: string): Promise<void>;
  /** Yields users with their login data, in the order of their ids, one page at a time. */
  listUsers(where: Where | null): AsyncGenerator<readonly ListedUser[]>;
  /** Creates the first administrator, as the start of the service does. Returns null if there is one already. */
  makeFirstAdministrator(): Promise<FirstAdministrator | null>;
  /** Writes the valid users, and returns the reasons for the others. */
  importUsers(lines: readonly ImportLine[], options: ImportOptions): Promise<ImportedBatch>;
  /**
   * Binds an external identity to a user. Returns the id of the user who now has it: another user's if it was already
   * bound. Returns null if there is no such user.
   */
  bind(userId: number, identity: OutsideName): Promise<number | null>;
  /** Removes a binding. Returns false if there was none. */
  unbind(identity: OutsideName): Promise<boolean>;
  /** Returns the result of each scheme for a request, and the decision of the permission. */
  explain(arrival: Arrival): Promise<WholeExplanation>;
  /** Yields the plan and the current cost of each list that the declarations permit. */
  explainLists(): AsyncGenerator<readonly ExplainedList[]>;
  /** The mounted resources of the service. */
  readonly mounts: Service["mounts"];
  readonly store: Store;
  /** Combines the writes of several requests into one transaction. */
  readonly gathering: GatheringStore;
  close(): Promise<void>;
}

/** An external identity, as its issuer names it. `issuer` is empty for a user of the proxy. */
export type OutsideName = Pick<ExternalIdentity, "issuer" | "subject">;

export interface OperatorOptions {
  readonly settings: Settings;
  readonly config?: ConfigFile;
  readonly observe?: Observer;
  /** If true, a missing database is created. */
  readonly mayCreate?: boolean;
}

const PAGE = 1000;
const SCHEME = "operator";
const HEADER = "X-Latchkey-Operator";

/**
 * Opens the service's store, also while the service is running. Throws `ConfigError` if there is no database to work
 * on.
 */
export async function openOperator({
  settings,
  config = {},
  observe,
  mayCreate = false,
}: OperatorOptions): Promise<Operator> {
  requireLastingStore(settings.database, mayCreate);
  const password = randomBytes(32).toString("base64url");
  const vouched = new Map<string, Account>();
  const schemes = [...(config.schemes ?? []), operatorScheme(new Secret(password), vouched)];
  let gathering: GatheringStore | null = null;
  const { service, people } = await openLatchkey({
    over: (below) => (gathering = gatheringStore(below)).store,
    makeUUID: (draw) => gathering!.uuid() ?? draw(),
    settings,
    config: { ...config, schemes },
    observe: observe ?? null,
  });
  const { store } = service;
  const { accounts } = people;
  const { users, bindings } = accounts;

  async function ask(method: string, path: string, body?: unknown, as?: Account): Promise<OperatorAnswer> {
    if (as !== undefined) vouched.set(String(as.id), as);
    const credential = as === undefined ? password : `${password}:${as.id}`;
    const headers = { [HEADER]: credential, ...(body === undefined ? {} : { "Content-Type": "application/json" }) };
    const request = new Request(`http://localhost${settings.basePath}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const response = await service.fetch(request, { peer: "127.0.0.1" });
    const text = await response.text();
    return { status: response.status, value: text === "" ? null : parseExactly(text) };
  }

  return {
    ask,
    roles: accounts.declared.roles,
    serves: (path) => service.serves(settings.basePath + path),
    findAccount: async (user) => (typeof user === "number" ? accounts.find(user) : accounts.findByUsername(user)),
    unlock: (username) => people.changing.unlock(username, service.now()),
    listUsers: (where) => listUsers(store, users, where),
    makeFirstAdministrator: () => {
      const passwordFile = process.stdout.isTTY ? null : resolvePasswordFile(settings);
      return makeFirstAdministrator({ settings, store, people }, service.now(), passwordFile);
    },
    importUsers: (lines, options) => importUsers({ store, people }, lines, options),
    bind: (userId, identity) => bindings.bind(userId, identity, service.now()),
    unbind: (identity) => bindings.unbind(identity),
    async explain(arrival) {
      const explanation = await service.explain(arrival);
      // The scheme of the operator is internal, so it is not shown.
      return { ...explanation, schemes: explanation.schemes.filter(({ scheme }) => scheme !== SCHEME) };
    },
    explainLists: () => service.explainLists(),
    mounts: service.mounts.filter(({ older }) => older === null),
    store,
    gathering: gathering!,
    close: () => service.close(),
  };
}

/** Yields the users whose accounts match the condition, one page after another. */
async function* listUsers(store: Store, users: UsersMount, where: Where | null): AsyncGenerator<readonly ListedUser[]> {
  for await (const page of loadPages(store, accountsCollection, PAGE, where)) {
    const ids = page.map(({ record }) => record["id"]!);
    const named = await store.list({
      collection: users.collection,
      where: { column: "id", operator: "in", value: ids },
      sort: [{ column: "id" }],
      limit: PAGE,
    });
    const byId = new Map(named.map(({ record }) => [record["id"], users.show(record)]));
    yield page.map(({ record: { id, username, role, active, created_at, last_login_at } }) => ({
      ...byId.get(id),
      username,
      role,
      active,
      created_at,
      last_login_at,
    }));
  }
}

/** Refuses a database that exists only in the service's process, and a missing one that must not be created. */
export function requireLastingStore(database: Settings["database"], mayCreate: boolean): void {
  if (database.kind !== "sqlite") return;
  if (database.path === ":memory:")
    throw new ConfigError([
      "LATCHKEY_DATABASE is in the memory of the service's process. Use a file, which the service and this command can both open: sqlite:PATH.",
    ]);
  const problems = sqliteFileProblems(database.path, mayCreate);
  if (problems.length > 0) throw new ConfigError(problems.map((problem) => `LATCHKEY_DATABASE: ${problem}`));
  if (mayCreate || existsSync(database.path)) return;
  throw new ConfigError([
    `There is no database at ${database.path}. Start the service once, set LATCHKEY_DATABASE to its file, or run the command in its folder.`,
  ]);
}

/**
 * Returns the scheme of the operator. A person who can open the database and the secret controls the service anyway.
 * The credential is generated for this process and never leaves it.
 */
function operatorScheme(password: Secret, vouched: ReadonlyMap<string, Account>): Scheme {
  const identity = {
    id: 0,
    username: "operator",
    role: "admin",
    scheme: SCHEME,
    scopes: null,
    expiresAt: null,
    needs: 1,
  } as const;
  return {
    name: SCHEME,
    carriers: [{ in: "header", name: HEADER }],
    proves: ["operator"],
    authenticate(credential, { now: authTime }) {
      const [sentPassword = "", user = null] = credential.split(":");
      if (!password.equals(sentPassword)) return rejected("forged");
      if (user === null) return accepted({ ...identity, authTime });
      const account = vouched.get(user);
      return account === undefined ? rejected("forged") : accepted(identityOf(account, SCHEME, { authTime }));
    },
  };
}
