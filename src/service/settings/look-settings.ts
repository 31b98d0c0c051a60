import { right, shown, splitEntries, wrong, type Parsed } from "./values.ts";

/** The settings of the look of pages: a part of the table of settings. The console checks their values. */
export const lookSettings = {
  title: {
    name: "LATCHKEY_TITLE",
    default: null,
    otherwise: "`title` of `api` in the config file, else `Latchkey`",
    parse: right<string>,
    meaning: "The name of the service on its pages and in its mails.",
  },
  mark: {
    name: "LATCHKEY_MARK",
    default: null,
    otherwise: "the first letter of the title",
    parse: right<string>,
    meaning:
      "One or two characters next to the title, or the address of an image: a path such as `/logo.svg`, or `data:image/…`.",
  },
  accent: {
    name: "LATCHKEY_ACCENT",
    default: null,
    parse: right<string>,
    meaning: "The color of links and buttons: `#8a2c0d`, or `light-dark(#8a2c0d, #ffb59b)`. Its contrast is checked.",
  },
  footLinks: {
    name: "LATCHKEY_FOOT_LINKS",
    default: null,
    parse: footLinks,
    meaning: "Links in the foot of every page: `Imprint=/imprint, Privacy=https://example.com/privacy`.",
  },
} as const;

/** Parses a comma-separated list of words with addresses. */
function footLinks(text: string): Parsed<readonly string[]> {
  const entries = splitEntries(text);
  const strange = entries.find((each) => !/^[^=]+=./.test(each));
  return strange === undefined
    ? right(entries)
    : wrong(`has ${shown(strange)}. Write words and an address, like Imprint=/imprint.`);
}

/** The settings for the look of pages, as options of the console. */
export interface LookSettings {
  readonly title?: string;
  readonly mark?: string;
  readonly logo?: string;
  readonly accent?: string;
  readonly links?: readonly { readonly text: string; readonly href: string }[];
}

/** Returns the look of pages. An address in place of the mark is that of an image. */
export function readLook({ title, mark, accent, footLinks: links }: LookReadings): LookSettings {
  const isImage = mark.value !== null && /^(?:\/|data:)/.test(mark.value);
  return {
    ...(title.value === null ? {} : { title: title.value }),
    ...(mark.value === null ? {} : { [isImage ? "logo" : "mark"]: mark.value }),
    ...(accent.value === null ? {} : { accent: accent.value }),
    ...(links.value === null ? {} : { links: links.value.map(readLink) }),
  };
}

type LookReadings = {
  readonly [K in "title" | "mark" | "accent"]: { readonly value: string | null };
} & { readonly footLinks: { readonly value: readonly string[] | null } };

function readLink(entry: string): { readonly text: string; readonly href: string } {
  const equals = entry.indexOf("=");
  return { text: entry.slice(0, equals).trim(), href: entry.slice(equals + 1).trim() };
}
