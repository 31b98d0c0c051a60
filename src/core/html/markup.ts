import { isOfThisCopy, made } from "../copy.ts";
/** Safe HTML. Only `html` makes it, so any other text is always escaped in a page. */
export class Markup {
  static {
    made(this.prototype);
  }

  /** Throws a TypeError for markup of another copy of the package, which would otherwise be escaped like a text. */
  static [Symbol.hasInstance](value: unknown): value is Markup {
    return isOfThisCopy(this, value);
  }

  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** Joins literal HTML and inserted values. Only for `html`. */
  static join(literals: readonly string[], values: readonly PageContent[]): Markup {
    let text = literals[0]!;
    for (const [at, value] of values.entries()) text += writeContent(value) + literals[at + 1]!;
    return new Markup(text);
  }

  toString(): string {
    return this.#text;
  }
}

/** The content of a page: markup unchanged, text and numbers escaped, nothing for null and undefined. */
export type PageContent = Markup | string | number | null | undefined | readonly PageContent[];

/**
 * Writes HTML: html`<p title="${text}">${text}</p>`. Every value except markup is escaped for an element and for an
 * attribute in double quotes. In an address, write a path of this service before the value, so that the value cannot be
 * a `javascript:` address.
 */
export function html(literals: TemplateStringsArray, ...values: readonly PageContent[]): Markup {
  return Markup.join(literals, values);
}

function writeContent(value: PageContent): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Markup) return value.toString();
  return isList(value) ? value.map(writeContent).join("") : escapeHTML(String(value));
}

function isList(value: PageContent): value is readonly PageContent[] {
  return Array.isArray(value);
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHTML(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character]!);
}
