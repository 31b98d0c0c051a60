import { parse } from "content-type";
import type { Format } from "../request/format.ts";
import { json } from "./json.ts";
import { xml } from "./xml.ts";

/**
 * Returns the formats of a service, JSON first, because it is the default. XML is the second, unless it is disabled.
 * The custom formats follow. A custom format for `application/xml` replaces XML.
 */
export function withBuiltIn(own: readonly Format[], speaksXML = true): readonly Format[] {
  const hasOwn = own.some(({ mediaType }) => mediaType === xml.mediaType);
  return hasOwn || !speaksXML ? [json, ...own] : [json, xml, ...own];
}

/**
 * Returns the format that the caller prefers (RFC 9110 §12.5.1), or null if none is acceptable. The first format is the
 * default. Parameters except `q` are ignored, because no format has variants.
 */
export function negotiate(accept: string | undefined, formats: readonly Format[]): Format | null {
  return fastest(accept, formats) ?? negotiateAmong(accept!, formats, (format) => [format.mediaType]);
}

/**
 * Returns the format for a problem. Returns the first format if none is acceptable, because the caller must still get
 * the problem.
 */
export function negotiateProblem(accept: string | undefined, formats: readonly Format[]): Format {
  return (
    fastest(accept, formats) ??
    negotiateAmong(accept!, formats, (format) => [format.mediaType, format.problemMediaType]) ??
    formats[0]!
  );
}

/** True if the caller prefers one of these media types to all other available ones. False without an `Accept`. */
export function prefers(
  accept: string | undefined,
  mediaTypes: readonly string[],
  formats: readonly Format[],
): boolean {
  const first = fastest(accept, formats);
  if (first !== undefined) return mediaTypes.includes(first.mediaType);
  const others = mediaTypes.map((mediaType) => ({ ...formats[0]!, mediaType, problemMediaType: mediaType }));
  const winner = negotiateAmong(accept!, [...formats, ...others], (format) => [format.mediaType]);
  return winner !== null && mediaTypes.includes(winner.mediaType);
}

/** Returns the format for the most common values, which need no parsing. */
function fastest(accept: string | undefined, formats: readonly Format[]): Format | undefined {
  if (accept === undefined || accept === "" || accept === "*/*") return formats[0];
  return formats.find(({ mediaType }) => mediaType === accept);
}

interface MediaRange {
  readonly type: string;
  readonly quality: number;
  readonly order: number;
}

interface Match extends MediaRange {
  /** 2 for a media type, 1 for `type/*`, 0 for `*` + `/*`. */
  readonly specificity: number;
}

function negotiateAmong(
  accept: string,
  formats: readonly Format[],
  listTypes: (format: Format) => string[],
): Format | null {
  const ranges = parseAccept(accept);
  if (ranges === "empty") return formats[0] ?? null;
  const shown = asksForPages(ranges, formats) ? formats.filter(({ mediaType }) => mediaType !== XML) : formats;
  return chooseBest(ranges, shown, listTypes) ?? chooseBest(ranges, formats, listTypes);
}

const XML = "application/xml";
const HTML = "text/html";

/**
 * True if a browser asks for pages and the service has none. Browsers also accept XML, but they show it as a broken
 * page, so they get the default format.
 */
function asksForPages(ranges: readonly MediaRange[], formats: readonly Format[]): boolean {
  const isAsked = ranges.some(({ type, quality }) => type === HTML && quality > 0);
  return isAsked && !formats.some(({ mediaType }) => mediaType === HTML);
}

function chooseBest(
  ranges: readonly MediaRange[],
  formats: readonly Format[],
  listTypes: (format: Format) => string[],
): Format | null {
  let winner: Format | null = null;
  let most: Match | null = null;
  for (const format of formats) {
    for (const type of listTypes(format)) {
      const match = mostSpecific(type, ranges);
      if (match === null || match.quality === 0) continue;
      if (most !== null && !isPreferred(match, most)) continue;
      winner = format;
      most = match;
    }
  }
  return winner;
}

function isPreferred(one: Match, other: Match): boolean {
  return (one.quality - other.quality || one.specificity - other.specificity || other.order - one.order) > 0;
}

function mostSpecific(type: string, ranges: readonly MediaRange[]): Match | null {
  let found: Match | null = null;
  for (const range of ranges) {
    const specificity = measureSpecificity(range.type, type);
    if (specificity === -1) continue;
    if (found === null || (specificity - found.specificity || range.quality - found.quality) > 0)
      found = { ...range, specificity };
  }
  return found;
}

function measureSpecificity(range: string, type: string): number {
  if (range === type) return 2;
  if (range === "*/*") return 0;
  return range.endsWith("/*") && type.startsWith(range.slice(0, -1)) ? 1 : -1;
}

/** Parses the ranges. Ignores ranges that cannot be parsed, because no format matches them. */
function parseAccept(accept: string): MediaRange[] | "empty" {
  const ranges: MediaRange[] = [];
  let empty = true;
  for (let at = 0; at < accept.length;) {
    const { type, parameters, index } = parse(accept, { comma: true, start: at });
    const quality = parseQuality(parameters["q"]);
    if (type !== "") empty = false;
    if (quality !== null && type.includes("/")) ranges.push({ type, quality, order: ranges.length });
    at = index + 1;
  }
  return empty ? "empty" : ranges;
}

function parseQuality(text: string | undefined): number | null {
  if (text === undefined) return 1;
  return /^(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : null;
}
