/**
 * A value that is sent to a database or received from it. The `Dialect` decides which of these types a driver accepts.
 */
export type Cell = string | number | bigint | boolean | null | readonly Cell[];
