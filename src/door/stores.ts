/**
 * Stores: the contract, SQLite, PostgreSQL, and the copy from one to the other.
 *
 * @module latchkey/stores
 */
import "./index.ts";

export { assembleService, type AssembledService } from "../composition/create-service.ts";
export {
  keyOf,
  MigrationNeeded,
  OVERTAKEN,
  StoreFull,
  StoreOutdated,
  StoreTimeout,
  StoreSetupError,
  StoreUnavailable,
} from "../store/store.ts";
export type * from "../store/store.ts";
export { isPostgresURL, postgresURLMistakes, serversInPlainText } from "../store/postgres/network/address.ts";
export { postgresStore, type PostgresStoreOptions } from "../store/postgres/postgres.ts";
export { sqliteFileProblems } from "../store/sqlite/file/reaching.ts";
export { sqliteStore, type SQLiteStoreOptions } from "../store/sqlite/sqlite.ts";
export { aTablePrefix, prefixed, unprefixed } from "../store/sql/prefixing.ts";
export { copyStore, CopyError, type Checked, type CopiedCount, type ReportCopied } from "../store/copy.ts";
export type { Oldest, Stats, TableStats } from "../store/sql/stats.ts";
export type { FoundExisting, FoundExistingColumn, FoundExistingReference } from "../store/sql/schema/found.ts";
export type { MigratedTable, MigrateOptions, Plan, PlannedTable } from "../store/sql/migrations/migrating.ts";
export type { SchemaChange } from "../store/sql/migrations/schema-changes.ts";
export type { CompletedStep as MigrationDone } from "../store/sql/migrations/journal.ts";
export type { Content, StoreSource, StoreTarget } from "../store/copy.ts";
export {
  checkPostgres,
  inspectPostgres,
  measurePostgres,
  migratePostgres,
  planPostgres,
  postgresCollections,
  postgresSource,
  postgresTarget,
  tryPostgres,
} from "../store/postgres/on-demand.ts";
export {
  backupSQLite,
  checkSQLite,
  emptySQLite,
  inspectSQLite,
  measureSQLite,
  migrateSQLite,
  planSQLite,
  restoreSQLite,
  sqliteCollections,
  sqliteHasRows,
  sqliteSource,
  sqliteTarget,
  trySQLite,
} from "../store/sqlite/on-demand.ts";
export type { Restoring } from "../store/sqlite/whole/restore.ts";
