import type { Scheme } from "../../access/scheme/scheme.ts";
import { createService, type Service, type ServiceOptions } from "../../composition/create-service.ts";
import { aWholeNumber, anObject, isObject, optional, shown, type Members } from "../../core/checking/members.ts";
import { requireArguments, requireOptions } from "../../core/checking/options.ts";
import type { Observation } from "../../core/observation.ts";
import type { AccountsFeature, People } from "../../features/auth/people/people.ts";
import { printFaults } from "../../features/ops/log/print-faults.ts";
import { openLatchkey } from "../../service/latchkey.ts";
import type { ConfigFile } from "../../service/settings/config-file/config-file.ts";
import { readSettings } from "../../service/settings/settings.ts";
import { sqliteStore } from "../../store/sqlite/sqlite.ts";
import { makeAsker, type Asker } from "./asking.ts";
import {
  makeCallers,
  makeUser,
  type Callers,
  type CredentialSketch,
  type IdentitySketch,
  type TestUser,
  type UserSketch,
} from "./callers.ts";

/** A clock that moves only when the test advances it. */
export interface TestClock {
  /** Milliseconds since the epoch. */
  now: number;
  /** Advances the clock. Sessions, tokens and limits expire by this clock. */
  turn(seconds: number): void;
}

/**
 * A service in memory for tests. `api.get()` sends a request without a credential, and `api.as(user).get()` sends one
 * of a user.
 */
export interface TestService extends Asker, AsyncDisposable {
  /**
   * Returns a logged-in caller. The login needs no password, and it works with any schemes of the service. In a service
   * without accounts an id is enough: `as({ id: 7, role: "admin" })`.
   */
  as(who: TestUser | IdentitySketch, credential?: CredentialSketch): Asker;
  /**
   * Makes a user of the service. `{ role: "admin" }` makes an administrator. Throws a TypeError if the service has no
   * accounts.
   */
  user(sketch?: UserSketch): Promise<TestUser>;
  readonly clock: TestClock;
  /** The observations so far: requests, refused credentials, faults. */
  readonly observed: readonly Observation[];
  readonly service: Service;
  /** Closes the service. A service that was declared with `await using` closes itself at the end of the block. */
  close(): Promise<void>;
}

/** The common options of `testService` and `testLatchkey`. */
export interface TestOptions {
  /** The time at which the clock starts, in milliseconds since the epoch. Default: 31 January 2026, 9:30 UTC. */
  readonly now?: number;
}

/** The options of `testService`: those of `createService`, all optional. */
export interface TestServiceOptions extends Omit<Partial<ServiceOptions>, "now" | "observe">, TestOptions {
  /** The accounts feature, which must also be in `features`. `user()` makes users with it. */
  readonly people?: AccountsFeature;
}

/** The options of `testLatchkey`. */
export interface TestLatchkeyOptions extends TestOptions {
  /**
   * Settings by their environment names, for example `LATCHKEY_SCHEMES`. The environment variables of the process are
   * not read.
   */
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Makes a service from your declarations in memory. Its clock moves only when the test advances it. `await using`
 * closes the service at the end of the block. Faults are printed with their stack.
 *
 * @example
 * ```ts
 * import { authenticated, defineResource, mount, text } from "latchkey";
 * import { testService } from "latchkey/testing";
 *
 * const notes = defineResource({ name: "note", fields: { body: text() } });
 *
 * await using api = await testService({ mounts: [mount(notes, { permission: authenticated })] });
 * const made = await api.as({ id: 1 }).post("/notes", { body: "Buy milk" });
 * console.log(made.record(notes).body); // Buy milk
 * ```
 */
export async function testService(options: TestServiceOptions = {}): Promise<TestService> {
  requireArguments("testService", [options], { options: anObject });
  requireOwnClock({ ...options });
  const { people, now, ...serviceOptions } = options;
  return open(now, async ({ clock, observe, scheme }) => {
    const service = await createService({
      store: sqliteStore({ path: ":memory:" }),
      ...serviceOptions,
      schemes: withOwn(serviceOptions.schemes, scheme),
      observe,
      now: () => clock.now,
    });
    return { service, people: people === undefined ? null : service.use(people) };
  });
}

/**
 * Makes the complete service of a `latchkey.config.ts` in memory. Its clock moves only when the test advances it.
 * `await using` closes the service at the end of the block. It has no users yet, not even a first administrator. It
 * reads nothing from the environment and creates no file.
 *
 * @example
 * ```ts part
 * import config from "../latchkey.config.ts";
 *
 * await using api = await testLatchkey(config);
 * const ann = await api.user();
 * const made = await api.as(ann).post("/books", { title: "Flatland" });
 * ```
 */
export async function testLatchkey(config: ConfigFile, options: TestLatchkeyOptions = {}): Promise<TestService> {
  requireArguments("testLatchkey", [config], { config: anObject });
  requireOptions(options, { now: optional(aWholeNumber), environment: optional(anObject) }, { of: "testLatchkey" });
  const { now, environment } = options;
  const settings = readSettings({ ...environment, LATCHKEY_DATABASE: "sqlite::memory:" }, config);
  return open(now, async ({ clock, observe, scheme }) => {
    const schemes = withOwn(config.schemes, scheme);
    return openLatchkey({ settings, config: { ...config, schemes }, observe, now: () => clock.now });
  });
}

/**
 * Throws if an option replaces the observer or the clock, because the test service has its own. `observed` has the
 * observations.
 */
function requireOwnClock(options: Members): void {
  const { now, observe } = options;
  requireArguments("testService", [now, observe], {
    now: optional(aWholeNumber),
    observe: (value) => (value === undefined ? null : "leave it out, and read observed"),
  });
}

/**
 * Adds the scheme of tests. Returns a value that is not a list unchanged, because the start of the service reports it.
 */
function withOwn(schemes: readonly Scheme[] | undefined, own: Scheme): readonly Scheme[] {
  const input: unknown = schemes;
  return input === undefined || Array.isArray(input) ? [...(schemes ?? []), own] : schemes!;
}

interface Opening {
  readonly clock: TestClock;
  readonly observe: (observation: Observation) => void;
  readonly scheme: Callers["scheme"];
}

const usualNow = Date.parse("2026-01-31T09:30:00Z");

async function open(
  now: number | undefined,
  make: (opening: Opening) => Promise<{ readonly service: Service; readonly people: People | null }>,
): Promise<TestService> {
  const clock = makeClock(now ?? usualNow);
  const observed: Observation[] = [];
  const late: { people: People | null } = { people: null };
  const callers = makeCallers(
    () => late.people,
    () => clock.now,
  );
  const print = printFaults("latchkey/testing");
  const observe = (observation: Observation): void => {
    observed.push(observation);
    print(observation);
  };
  const { service, people } = await make({ clock, observe, scheme: callers.scheme });
  late.people = people;
  const send = (request: Request): Promise<Response> => service.fetch(request, { peer: "127.0.0.1" });
  let users = 0;
  const close = (): Promise<void> => service.close();
  return {
    ...makeAsker(send, () => ({})),
    as(who, credential = {}) {
      const caller: unknown = who;
      if (!isObject(caller) || !Number.isSafeInteger(caller["id"]))
        throw new TypeError(`as: the caller is ${shown(caller)}; write as(await api.user()), or as({ id: 1 })`);
      const headers = callers.login(who, credential);
      return makeAsker(send, () => headers);
    },
    async user(sketch = {}) {
      if (people === null)
        throw new TypeError(
          "testService knows no accounts. Write testService({ people, features: [people, …] }), or ask as({ id: 1 }).",
        );
      return makeUser({ people, store: service.store, now: clock.now }, sketch, users++);
    },
    clock,
    observed,
    service,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function makeClock(now: number): TestClock {
  const clock: TestClock = {
    now,
    turn(seconds) {
      clock.now += seconds * 1000;
    },
  };
  return clock;
}
