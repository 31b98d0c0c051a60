import type { ServedEndpoint } from "../declarations/endpoint.ts";
import { formType } from "../formats/form.ts";
import type { Format } from "../request/format.ts";

/**
 * Returns the format that reads bodies of a type. Returns undefined if there is none. A suffix selects a format too:
 * `application/merge-patch+json` is read as JSON (RFC 6839).
 */
export function findReader(type: string, formats: readonly Format[]): Format | undefined {
  return (
    formats.find(({ read, mediaType }) => read !== undefined && mediaType === type) ??
    formats.find(
      ({ read, mediaType: each }) => read !== undefined && type.endsWith(`+${each.slice(each.indexOf("/") + 1)}`),
    )
  );
}

/** Returns a check for types that are read: by one of the formats, or as forms. */
export function isReadBy(formats: readonly Format[]): (type: string) => boolean {
  return (type) => type === formType || findReader(type, formats) !== undefined;
}

/**
 * Returns a function that sets the readable types of an endpoint. It removes types without a format (XML, if the
 * service does not support it). It adds the types of custom formats to endpoints that read records.
 */
export function readableBy(formats: readonly Format[]): (endpoint: ServedEndpoint) => ServedEndpoint {
  const isRead = isReadBy(formats);
  const own = formats.filter((each) => each.read !== undefined && !BUILT_IN.has(each.mediaType));
  return (endpoint) => {
    const { consumes, mounted, method } = endpoint;
    if (consumes === undefined) return endpoint;
    const takesRecords = mounted !== undefined && method !== "QUERY";
    if (consumes.every(isRead) && !takesRecords) return endpoint;
    return {
      ...endpoint,
      consumes: [...consumes.filter(isRead), ...(takesRecords ? own.map(({ mediaType }) => mediaType) : [])],
    };
  };
}

/** The endpoints list these types themselves. */
const BUILT_IN: ReadonlySet<string> = new Set(["application/json", "application/xml"]);
