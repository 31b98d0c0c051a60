import type { Value, Where } from "../../../store/store.ts";

/** Matches the rows that have a value in a column. */
export function equals(column: string, value: Value): Where {
  return { column, operator: "eq", value };
}

/** Matches the rows of a user. */
export function ofUser(id: number): Where {
  return equals("user_id", id);
}

/** Matches the rows whose time is later than `ms`, in milliseconds since the epoch. */
export function later(column: string, ms: number): Where {
  return { column, operator: "gt", value: timeText(ms) };
}

/** Matches the rows whose time is `ms` or earlier, in milliseconds since the epoch. */
export function until(column: string, ms: number): Where {
  return { column, operator: "lte", value: timeText(ms) };
}

/** Formats a time as rows store it (RFC 3339). */
export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
