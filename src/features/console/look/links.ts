import { isObject, isText, joinMistakes, membersMistakes, type ValueCheck } from "../../../core/checking/members.ts";
import { aLabel } from "../../../resource/declaration/label.ts";

const MOST_LINKS = 8;

/** Returns the mistake in the links of the foot, or null. */
export const footLinks: ValueCheck = (value) => {
  if (!Array.isArray(value)) return 'it has to be a list of links, like [{ text: "Imprint", href: "/imprint" }]';
  if (value.length > MOST_LINKS) return `it has ${value.length} links; at most ${MOST_LINKS} fit in the foot`;
  return joinMistakes(
    value.flatMap((each: unknown) =>
      isObject(each) ? membersMistakes(each, { text: aLabel, href: anAddress }) : ["each has to be { text, href }"],
    ),
  );
};

/** A path of this service, or the address of a page elsewhere. */
const anAddress: ValueCheck = (value) =>
  isText(value) && (/^\/(?![/\\])[\x21-\x7e]*$/.test(value) || /^(?:https?|mailto):/.test(URL.parse(value)?.href ?? ""))
    ? null
    : "it has to be a path of this service, or an address like https://example.com/privacy";
