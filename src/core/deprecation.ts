import {
  type Check,
  type Checks,
  isObject,
  isText,
  membersMistakes,
  optional,
  seen,
  shown,
} from "./checking/members.ts";

/** A day, which begins at midnight UTC, or a date-time (RFC 3339). */
type Moment = `${number}-${number}-${number}` | `${number}-${number}-${number}T${string}`;

/**
 * That something will go, and is there for those who use it already: a field, a filter, a resource, an endpoint or an action. Whoever uses it
 * is told in the headers of the answer (`Deprecation`, RFC 9745; `Sunset`, RFC 8594), and its uses are counted.
 */
export interface Deprecation {
  /** From when on nobody should begin to use it: `"2026-07-01"`. It may lie ahead. */
  readonly since: Moment;
  /** From when on it may be gone; never before `since`. It is served until somebody takes it out, and the start says so. */
  readonly sunset?: Moment;
  /** What to do instead, for people: an address, or a path of this service. */
  readonly link?: `https://${string}` | `http://${string}` | `/${string}`;
}

/** A deprecation that was read. */
export interface Deprecated {
  /** What it is about: `field state`, `resource /v1/orders`. */
  readonly what: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Likewise; null where nobody knows yet. */
  readonly sunset: number | null;
  readonly link: string | null;
}

/** What is wrong with a deprecation, all at once. */
export const aDeprecation: Check = (value) => {
  if (!isObject(value)) return 'it has to be an object, like { since: "2026-07-01", sunset: "2027-01-01" }';
  const mistakes = membersMistakes(value, members);
  const { since, sunset } = value;
  const [from, until] = [parseMoment(since), parseMoment(sunset)];
  if (from !== null && until !== null && until < from)
    mistakes.push(`sunset ${shown(sunset)} lies before since ${shown(since)}; what goes is deprecated first`);
  return mistakes.length === 0 ? null : mistakes.join("; ");
};

const aMoment = seen((value) =>
  parseMoment(value) === null
    ? 'it has to be a day, like "2026-07-01", or a date-time with its zone, like "2026-07-01T12:00:00Z"'
    : null,
);

const members: Checks & Readonly<Record<keyof Deprecation, Check>> = {
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

/** Reads a deprecation that is in order; an empty list where there is none. */
export function readDeprecation(what: string, declared: Deprecation | undefined): readonly Deprecated[] {
  if (declared === undefined) return [];
  const { since, sunset, link = null } = declared;
  return [{ what, since: parseMoment(since)!, sunset: parseMoment(sunset), link }];
}

/** `Deprecated since 2026-07-01, until 2027-01-01: https://…` */
export function sayDeprecation({ since, sunset, link }: Omit<Deprecated, "what">): string {
  const until = sunset === null ? "" : `, until ${dayOf(sunset)}`;
  return `Deprecated since ${dayOf(since)}${until}${link === null ? "." : `: ${link}`}`;
}

/** The day of a moment, in UTC. */
export function dayOf(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10);
}

function parseMoment(value: unknown): number | null {
  const match = isText(value)
    ? /^(\d{4}-\d\d-\d\d)(T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))?$/.exec(value)
    : null;
  if (match === null) return null;
  const day = Date.parse(`${match[1]!}T00:00:00Z`);
  // Some days of no calendar are taken for days of the next month.
  return Number.isNaN(day) || dayOf(day) !== match[1] ? null : Date.parse(match[0]);
}

function isLink(value: string): boolean {
  if (/[^!-~]|["<>\\^`{|}]/.test(value)) return false;
  if (value.startsWith("/")) return !value.startsWith("//");
  const url = URL.parse(value);
  return url !== null && (url.protocol === "https:" || url.protocol === "http:");
}
