import {
  type ValueCheck,
  type Checks,
  isObject,
  isText,
  membersMistakes,
  optional,
  seen,
  shown,
} from "./checking/members.ts";

/** A day, from midnight UTC, or a date-time (RFC 3339). */
type Moment = `${number}-${number}-${number}` | `${number}-${number}-${number}T${string}`;

/**
 * A deprecation of a field, a filter, a resource, an endpoint or an action. The deprecated part stays available. The
 * header fields of responses inform its clients (`Deprecation`, RFC 9745; `Sunset`, RFC 8594), and the service counts
 * the uses.
 */
export interface Deprecation {
  /**
   * The date of the deprecation: `"2026-07-01"`. From this date, new clients should not use the part. It may be in the
   * future.
   */
  readonly since: Moment;
  /**
   * The date from which the deprecated part may be removed, never before `since`. The part is served until you remove
   * it from the code. After this date, each start logs a notice.
   */
  readonly sunset?: Moment;
  /** The replacement, for people: a URL, or a path of this service. */
  readonly link?: `https://${string}` | `http://${string}` | `/${string}`;
}

/** A parsed deprecation. */
export interface Deprecated {
  /** The deprecated part: `field state`, `resource /v1/orders`. */
  readonly what: string;
  /** In milliseconds since the epoch. */
  readonly since: number;
  /** In milliseconds since the epoch. Null if it is not decided yet. */
  readonly sunset: number | null;
  readonly link: string | null;
}

/** Checks a deprecation and returns all its mistakes together. */
export const aDeprecation: ValueCheck = (value) => {
  if (!isObject(value)) return 'it has to be an object, like { since: "2026-07-01", sunset: "2027-01-01" }';
  const mistakes = membersMistakes(value, members);
  const { since, sunset } = value;
  const [from, until] = [parseMoment(since), parseMoment(sunset)];
  if (from !== null && until !== null && until < from)
    mistakes.push(`sunset ${shown(sunset)} is before since ${shown(since)}; choose a later sunset`);
  return mistakes.length === 0 ? null : mistakes.join("; ");
};

const aMoment = seen((value) =>
  parseMoment(value) === null
    ? 'it has to be a day, like "2026-07-01", or a date-time with its zone, like "2026-07-01T12:00:00Z"'
    : null,
);

const members: Checks & Readonly<Record<keyof Deprecation, ValueCheck>> = {
  since: aMoment,
  sunset: optional(aMoment),
  link: optional(
    seen((value) =>
      isText(value) && isLink(value)
        ? null
        : 'it has to be an address, like "https://example.org/changes", or a path of this service, like "/changes"',
    ),
  ),
};

/** Parses a valid deprecation. Returns a list with it, or an empty list if there is none. */
export function readDeprecation(what: string, declared: Deprecation | undefined): readonly Deprecated[] {
  if (declared === undefined) return [];
  const { since, sunset, link = null } = declared;
  return [{ what, since: parseMoment(since)!, sunset: parseMoment(sunset), link }];
}

/** Formats a deprecation: `Deprecated since 2026-07-01, until 2027-01-01: https://…` */
export function sayDeprecation({ since, sunset, link }: Omit<Deprecated, "what">): string {
  const until = sunset === null ? "" : `, until ${formatDay(sunset)}`;
  return `Deprecated since ${formatDay(since)}${until}${link === null ? "." : `: ${link}`}`;
}

/** Returns the day of a moment, in UTC. */
export function formatDay(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10);
}

function parseMoment(value: unknown): number | null {
  const match = isText(value)
    ? /^(\d{4}-\d\d-\d\d)(T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))?$/.exec(value)
    : null;
  if (match === null) return null;
  const day = Date.parse(`${match[1]!}T00:00:00Z`);
  // `Date.parse` turns some invalid days into days of the next month.
  return Number.isNaN(day) || formatDay(day) !== match[1] ? null : Date.parse(match[0]);
}

function isLink(value: string): boolean {
  if (/[^!-~]|["<>\\^`{|}]/.test(value)) return false;
  if (value.startsWith("/")) return !value.startsWith("//");
  const url = URL.parse(value);
  return url !== null && (url.protocol === "https:" || url.protocol === "http:");
}
