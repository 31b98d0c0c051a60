import type { ServedEndpoint } from "../endpoint/endpoint.ts";
import { formType } from "../formats/form.ts";
import type { Format } from "../formats/format.ts";

/** The format that reads bodies of a type. `application/merge-patch+json` is read as JSON is: by the suffix (RFC 6839). */
export function readerOf(type: string, formats: readonly Format[]): Format | undefined {
  return (
    formats.find(({ read, mediaType }) => read !== undefined && mediaType === type) ??
    formats.find(
      ({ read, mediaType: each }) => read !== undefined && type.endsWith(`+${each.slice(each.indexOf("/") + 1)}`),
    )
  );
}

/** Whether bodies of a type are read: by one of the formats, or as forms are. */
export function isReadBy(formats: readonly Format[]): (type: string) => boolean {
  return (type) => type === formType || readerOf(type, formats) !== undefined;
}

/**
 * Endpoints with the types that are read there: without those that no format reads (XML, where a service speaks none), and records with those
 * of formats of one's own.
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

/** The endpoints themselves say where they read these. */
const BUILT_IN: ReadonlySet<string> = new Set(["application/json", "application/xml"]);
