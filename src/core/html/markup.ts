import { isOfThisCopy, made } from "../copy.ts";
/** HTML that is safe as it stands. Only `html` makes it, so that text of anybody's can reach a page in no other way than escaped. */
export class Markup {
  static {
    made(this.prototype);
  }

  /** Throws a TypeError for markup of another copy of the package: it would be escaped like a text. */
  static [Symbol.hasInstance](value: unknown): value is Markup {
    return isOfThisCopy(this, value);
  }

  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** What is written in this house, with what was put into it. For `html` alone. */
  static join(literals: readonly string[], values: readonly PageContent[]): Markup {
    let text = literals[0]!;
    for (const [at, value] of values.entries()) text += writeContent(value) + literals[at + 1]!;
    return new Markup(text);
  }

  toString(): string {
    return this.#text;
  }
}

/** What may stand in a page: markup as it is, text and numbers escaped, nothing for what is not there. */
export type PageContent = Markup | string | number | null | undefined | readonly PageContent[];

/**
 * Writes HTML: html`<p title="${text}">${text}</p>`. Whatever is put in is escaped for an element and for an attribute in double quotes,
 * but for other markup. What is put into an address has to begin with a path of ours.
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
