import { made } from "../core/copy.ts";
/**
 * The tables do not fit the declaration. A start does not change them, because that could lose data: run
 * `latchkey db migrate`.
 */
export class MigrationNeeded extends Error {
  static {
    made(this.prototype);
  }

  readonly problems: readonly string[];
  /** The collections whose rows do not fit their declaration. Empty if the tables do not fit for another reason. */
  readonly collections: readonly string[];

  constructor(problems: readonly string[], collections: readonly string[] = []) {
    super(`The database does not fit the declared collections:\n${problems.map((each) => `- ${each}`).join("\n")}`);
    this.name = "MigrationNeeded";
    this.problems = problems;
    this.collections = collections;
  }
}

/** The store cannot be reached or refuses to write. The operation did not happen, or its result is unknown. */
export class StoreUnavailable extends Error {
  static {
    made(this.prototype);
  }

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreUnavailable";
  }
}

/**
 * The store stopped a read that took too long, because a long read delays other callers. A retry would take as long.
 */
export class StoreTimeout extends StoreUnavailable {
  override readonly name = "StoreTimeout";
}

/** The store has no room left to write. Reads may still work. */
export class StoreFull extends StoreUnavailable {
  override readonly name = "StoreFull";
}

/**
 * The table was migrated to another version of its declaration. This process has the old one and may no longer write to
 * the table.
 */
export class StoreOutdated extends StoreUnavailable {
  override readonly name = "StoreOutdated";

  constructor(collection: string) {
    super(
      `The table of ${collection} was migrated to another version of its declaration, so this process does not write to it. ` +
        "Restart the service with the current declarations.",
    );
  }
}

/**
 * The configuration of the store is wrong: its address, its privileges or its server. Each problem says how to fix it.
 */
export class StoreSetupError extends Error {
  static {
    made(this.prototype);
  }

  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join("\n"), options);
    this.name = "StoreSetupError";
    this.problems = problems;
  }
}

/**
 * A read without `long` would look at too many rows. The caller sent `mayRefuse`, so it repeats the read with `long`.
 */
export class LongReadNeeded extends StoreUnavailable {
  override readonly name = "LongReadNeeded";

  constructor() {
    super("The rows of this list are too far apart to be read at once, and it has to be a long read");
  }
}
