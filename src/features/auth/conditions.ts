import type { Value, Where } from "../../store/store.ts";

/** The rows that have a value in a column. */
export function equals(column: string, value: Value): Where {
  return { column, operator: "eq", value };
}

/** The rows of a user. */
export function ofUser(id: number): Where {
  return equals("user_id", id);
}

/** The rows whose time is later than one, in milliseconds since the epoch. */
export function later(column: string, ms: number): Where {
  return { column, operator: "gt", value: timeText(ms) };
}

/** The rows whose time is no later than one. */
export function until(column: string, ms: number): Where {
  return { column, operator: "lte", value: timeText(ms) };
}

/** A time as rows have it (RFC 3339). */
export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
