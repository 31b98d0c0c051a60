import { AsyncLocalStorage } from "node:async_hooks";
import type { Change, KeyOf, Outcome, Row, Store, Transaction } from "../../door/stores.ts";

/** One of several tasks that are written together. */
export interface Task<T> {
  /** Its position in the order. */
  readonly place: number;
  /** The UUID of the record that it creates. Null if one is generated. */
  readonly uuid: string | null;
  run(): Promise<T>;
  /** Returns the transaction that is written instead of the one that the task asked for. */
  adjust(transaction: Transaction): Transaction;
  /** Called in a dry run if the database would accept the task's changes. */
  tried(): void;
  /** Called if none of several tasks could be written and the cause is unknown. */
  failed(error: unknown): void;
}

/** The options for writing several tasks together. */
export interface Together {
  /**
   * Returns changes that are added to every transaction. They store the progress: all tasks up to this position are
   * done.
   */
  after(place: number): readonly Change[];
  /**
   * For a dry run, the name of a `require` in the changes of `after` that always fails. The database therefore checks
   * every change and writes none. Null to write the changes.
   */
  readonly dryRun: string | null;
}

/** A store for a service that can combine several of its writes into one transaction. */
export interface GatheringStore {
  readonly store: Store;
  /**
   * Returns the UUID of the record that the current task creates. Returns null if it has none, and outside of a task.
   */
  uuid(): string | null;
  /**
   * Runs tasks concurrently and writes their changes in one transaction. If the database refuses the changes of a task,
   * the task gets the refusal, and the other tasks are written without it.
   */
  together<T>(tasks: readonly Task<T>[], how: Together): Promise<readonly T[]>;
}

/** Adds the combining of writes to a store. */
export function gatheringStore(store: Store): GatheringStore {
  const rounds = new AsyncLocalStorage<{ readonly round: Round; readonly task: Task<unknown> }>();
  return {
    store: {
      ...store,
      write(transaction) {
        const current = rounds.getStore();
        return current === undefined ? store.write(transaction) : current.round.add(current.task, transaction);
      },
    },
    uuid: () => rounds.getStore()?.task.uuid ?? null,
    async together(tasks, how) {
      const round = new Round(store, how, tasks.length);
      return Promise.all(
        tasks.map((task) => rounds.run({ round, task }, () => task.run().finally(() => round.finished()))),
      );
    },
  };
}

/** A task's transaction that is not written yet. */
interface WaitingTransaction {
  readonly task: Task<unknown>;
  readonly transaction: Transaction;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

/**
 * Tasks that run at the same time. When each of them waits for its write or is done, the waiting transactions are
 * written.
 */
class Round {
  readonly #store: Store;
  readonly #how: Together;
  #active: number;
  #waiting: WaitingTransaction[] = [];

  constructor(store: Store, how: Together, active: number) {
    this.#store = store;
    this.#how = how;
    this.#active = active;
  }

  add(task: Task<unknown>, transaction: Transaction): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, transaction: task.adjust(transaction), resolve, reject });
      this.#look();
    });
  }

  finished(): void {
    this.#active--;
    this.#look();
  }

  #look(): void {
    if (this.#waiting.length === 0 || this.#waiting.length < this.#active) return;
    const waiting = this.#waiting.toSorted((one, other) => one.task.place - other.task.place);
    this.#waiting = [];
    void this.#write(waiting);
  }

  /**
   * Writes the transactions in order, as many together as possible. After a refusal, writes fewer transactions
   * together. After a success, writes more together again.
   */
  async #write(waiting: readonly WaitingTransaction[]): Promise<void> {
    let rest = waiting;
    try {
      for (let size = rest.length; rest.length > 0;) {
        const some = rest.slice(0, size);
        const outcome = await this.#store.write({
          changes: [...joined(some), ...this.#how.after(some.at(-1)!.task.place)],
        });
        const isTried = outcome.kind === "refused" && outcome.name === this.#how.dryRun;
        if (isTried) resolveTried(some, outcome);
        if (outcome.kind === "written") resolveWritten(some, outcome.rows);
        if (isTried || outcome.kind === "written") {
          rest = rest.slice(some.length);
          size = some.length * 2;
          continue;
        }
        const at = refusedIn(some, outcome);
        if (at === null) throw new Error(`The store answered ${outcome.kind} to several writes at once.`);
        some[at.task]!.resolve(at.outcome);
        rest = rest.filter((each) => each !== some[at.task]);
        size = Math.max(at.task, some.length >> 1, 1);
      }
    } catch (error) {
      for (const each of rest) {
        each.task.failed(error);
        each.reject(error);
      }
    }
  }
}

/**
 * Joins the changes of all transactions. Shifts their references to other changes by the number of the changes before
 * them.
 */
function joined(waiting: readonly WaitingTransaction[]): readonly Change[] {
  const changes: Change[] = [];
  for (const { transaction } of waiting) {
    const before = changes.length;
    for (const change of transaction.changes) changes.push(before === 0 ? change : shifted(change, before));
  }
  return changes;
}

/**
 * Adjusts references to the key of another change (`KeyOf`), which is now `by` positions later. A json column contains
 * no references.
 */
function shifted(change: Change, by: number): Change {
  const shift = <T>(value: T): T => (isKeyOf(value) ? { ...value, keyOf: value.keyOf + by } : value);
  if (!("values" in change)) return change;
  const data = new Set(change.collection.columns.filter(({ type }) => type === "json").map(({ name }) => name));
  const values = Object.fromEntries(
    Object.entries(change.values).map(([name, value]) => [name, data.has(name) ? value : shift(value)]),
  );
  return "key" in change ? ({ ...change, key: shift(change.key), values } as Change) : { ...change, values };
}

function isKeyOf(value: unknown): value is KeyOf {
  return typeof value === "object" && value !== null && "keyOf" in value;
}

function resolveWritten(waiting: readonly WaitingTransaction[], rows: readonly (Row | null)[]): void {
  let at = 0;
  for (const { transaction, resolve } of waiting)
    resolve({ kind: "written", rows: rows.slice(at, (at += transaction.changes.length)) });
}

function resolveTried(waiting: readonly WaitingTransaction[], outcome: Outcome): void {
  for (const { task, resolve } of waiting) {
    task.tried();
    resolve(outcome);
  }
}

/**
 * Returns the task whose change was refused, and its refusal. Returns null if the refused change belongs to no task.
 */
function refusedIn(
  waiting: readonly WaitingTransaction[],
  outcome: Outcome,
): { readonly task: number; readonly outcome: Outcome } | null {
  if (!("change" in outcome)) return null;
  let before = 0;
  for (const [task, { transaction }] of waiting.entries()) {
    const end = before + transaction.changes.length;
    if (outcome.change < end) return { task, outcome: { ...outcome, change: outcome.change - before } };
    before = end;
  }
  return null;
}
