import { isObject } from "../../core/checking/members.ts";
import type { Resource } from "../../resource/resource.ts";
import { formType } from "../formats/form.ts";
import type { ReceivedBody } from "../request/facts.ts";

/**
 * Returns the fields of a form without the optional ones that are empty. A browser sends every field of a form. Returns
 * every other body unchanged.
 */
export function withoutEmptyTexts({ fields }: Resource, { mediaType }: ReceivedBody, sent: unknown): unknown {
  if (mediaType !== formType || !isObject(sent)) return sent;
  const isLeftOut = (name: string, value: unknown): boolean =>
    value === "" && Object.hasOwn(fields, name) && fields[name]!.options.optional === true;
  return Object.fromEntries(Object.entries(sent).filter(([name, value]) => !isLeftOut(name, value)));
}
