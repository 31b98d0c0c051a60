/** The time of a calendar and a clock, as an input of type `datetime-local` gives it. */
const LOCAL = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?)?$/;

/**
 * Returns a local time in a time zone as a time in UTC (RFC 3339). A day alone is the time at which it begins. Returns
 * any other text unchanged, and a local time in an unknown zone, so that the field refuses it. A time that the clocks
 * skip counts as after the jump, and one that they repeat as the first one, as in `Temporal`.
 */
export function formatLocalTime(text: string, zone: string): string {
  const match = LOCAL.exec(text.trim());
  if (match === null) return text;
  const [, day, minutes = "00:00", seconds = ":00"] = match;
  const local = `${day}T${minutes}${seconds}`;
  if (zone === "UTC") return `${local}Z`;
  const asUTC = Date.parse(`${local.slice(0, 23)}Z`);
  const format = zoneFormat(zone);
  if (Number.isNaN(asUTC) || format === null) return text;
  // The offset of a day before and of a day after is that of every change in between.
  const [before, behind] = [offsetAt(format, asUTC - DAY_MS), offsetAt(format, asUTC + DAY_MS)];
  const isBefore = offsetAt(format, asUTC - before) === before;
  const instant = isBefore || offsetAt(format, asUTC - behind) !== behind ? asUTC - before : asUTC - behind;
  return new Date(instant).toISOString();
}

const DAY_MS = 86_400_000;

/** Returns the writer of times in a zone. Returns null if there is no such zone. */
function zoneFormat(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone,
      calendar: "iso8601",
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
  } catch {
    return null;
  }
}

/** Returns how much a zone is ahead of UTC, in milliseconds. */
function offsetAt(format: Intl.DateTimeFormat, instant: number): number {
  const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = (
    ["year", "month", "day", "hour", "minute", "second"] as const
  ).map((part) => parts.get(part));
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instant / 1000) * 1000;
}
