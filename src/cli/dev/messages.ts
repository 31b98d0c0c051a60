import type { ListenAddress } from "../serving/starting.ts";

/** The messages of the serving process to the watching one. */
export type FromServing =
  /** The path of a file that the service imports. The file may be missing. */
  | { readonly kind: "file"; readonly path: string }
  /** Everything is loaded, but nothing is open yet. */
  | { readonly kind: "prepared" }
  /**
   * The service listens. `welcome` is the message for the first start. `port` is the port that the system chose, or
   * null if the settings name one.
   */
  | { readonly kind: "serving"; readonly welcome: string; readonly url: string; readonly port: number | null }
  /**
   * The service cannot start with the current files. `taken` is the address if another program uses it. `migration` has
   * the tables if they need a migration.
   */
  | {
      readonly kind: "failed";
      readonly message: string;
      readonly migration: NeededMigration | null;
      readonly taken: ListenAddress | null;
    };

/**
 * The messages of the watching process to the serving one. `warm` prepares for a fast start, `load` loads the files,
 * and `listen` opens the database and the port.
 */
export type ToServing = { readonly kind: "warm" | "load" | "listen" | "stop" };

/** The tables whose rows do not fit the current declarations. */
export interface NeededMigration {
  readonly tables: readonly string[];
  /** The SQLite file. Null for another database. */
  readonly file: string | null;
}
