import type { Address } from "../serving/starting.ts";

/** What the process that serves tells the one that watches. */
export type FromServing =
  /** A file that the service consists of, or one that it looked for and did not find. */
  | { readonly kind: "file"; readonly path: string }
  /** Everything is loaded, and nothing is open yet. */
  | { readonly kind: "prepared" }
  /** It listens; `welcome` is what is told at the first start, and `port` one that was drawn. */
  | { readonly kind: "serving"; readonly welcome: string; readonly url: string; readonly port: number | null }
  /** It cannot go on as the files are now; or, where there is one, as long as another program has the `taken` address. */
  | {
      readonly kind: "failed";
      readonly message: string;
      readonly migration: NeededMigration | null;
      readonly taken: Address | null;
    };

/** What the watching process tells the one that serves: be ready to start fast; load the files; open the database and listen; end. */
export type ToServing = { readonly kind: "warm" | "load" | "listen" | "stop" };

/** Tables that have rows which do not fit what is declared now. */
export interface NeededMigration {
  readonly tables: readonly string[];
  /** The SQLite file; null where the database is another's affair. */
  readonly file: string | null;
}
