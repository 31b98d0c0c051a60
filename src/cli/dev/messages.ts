import type { ListenAddress } from "../serving/starting.ts";

/** The messages of the serving process to the watching one. */
export type FromServing =
  /** A file of the service, or one that was missing. */
  | { readonly kind: "file"; readonly path: string }
  /** Everything is loaded, but nothing is open yet. */
  | { readonly kind: "prepared" }
  /** The service listens. `welcome` is the message for the first start. `port` is one that the system chose. */
  | { readonly kind: "serving"; readonly welcome: string; readonly url: string; readonly port: number | null }
  /** The service cannot start with the current files. If `taken` is set, another program uses the address. */
  | {
      readonly kind: "failed";
      readonly message: string;
      readonly migration: NeededMigration | null;
      readonly taken: ListenAddress | null;
    };

/**
 * The messages of the watching process to the serving one: prepare for a fast start; load the files; open the database and listen; stop.
 */
export type ToServing = { readonly kind: "warm" | "load" | "listen" | "stop" };

/** Tables with rows that do not fit the current declarations. */
export interface NeededMigration {
  readonly tables: readonly string[];
  /** The SQLite file. Null for another database. */
  readonly file: string | null;
}
