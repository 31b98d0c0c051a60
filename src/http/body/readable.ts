import type { ServedEndpoint } from "../endpoint/endpoint.ts";
import { formType } from "../formats/form.ts";
import type { Format } from "../formats/format.ts";

/** Whether one of the formats reads bodies of a type. `application/merge-patch+json` is read as JSON is: by the suffix (RFC 6839). */
export function isReadBy(formats: readonly Format[]): (type: string) => boolean {
  const read = formats.filter((each) => each.read !== undefined).map(({ mediaType }) => mediaType);
  return (type) =>
    type === formType || read.some((each) => each === type || type.endsWith(`+${each.slice(each.indexOf("/") + 1)}`));
}

/** Endpoints without the types that no format reads: XML, where a service speaks none. */
export function readableBy(formats: readonly Format[]): (endpoint: ServedEndpoint) => ServedEndpoint {
  const isRead = isReadBy(formats);
  return (endpoint) =>
    endpoint.consumes === undefined || endpoint.consumes.every(isRead)
      ? endpoint
      : { ...endpoint, consumes: endpoint.consumes.filter(isRead) };
}
