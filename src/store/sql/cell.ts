/** What travels to a database and comes back. Which of them a driver takes is decided by the facts of its `Dialect`. */
export type Cell = string | number | bigint | boolean | null | readonly Cell[];
