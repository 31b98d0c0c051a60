import type { Look } from "../../core/html/look.ts";
import type { Markup, PageContent } from "../../core/html/markup.ts";
import type { AccountPages, ServiceFacts } from "../../feature/feature.ts";
import type { DataBody } from "../../http/request/format.ts";
import type { Offer, View } from "../../http/request/view.ts";
import type { Field } from "../../resource/declaration/field.ts";
import { formatTitle } from "../../resource/record-labels.ts";
import type { Resource } from "../../resource/resource.ts";
import { buildTableName } from "../../resource/tables/table.ts";

/** The parts that all pages of one service share. */
export interface Site {
  /** The name of the service. */
  readonly title: string;
  /** The sentence about the service, on its start page. */
  readonly description?: string;
  /** The name, the mark and the links of the service. */
  readonly look: Look;
  /** The URLs of the styles and of the scripts. */
  readonly assets: Readonly<Record<Asset, string>>;
  /** True if the fold for developers is open for administrators. */
  readonly opensAPI: boolean;
  /** The custom templates, by declared path: `/orders/{id}`. */
  readonly templates: Readonly<Record<string, Template>>;
  /** The paths of the pages of accounts. */
  readonly pages: Required<AccountPages>;
  facts(): ServiceFacts;
}

/** A style or a script of pages. */
export type Asset = "style" | "developerStyle" | "script" | "forms" | "import" | "passkeys" | "developer";

/**
 * The names of referenced records, by the path of their resource and their id. Contains only records that the caller
 * may read.
 */
export type Labels = ReadonlyMap<string, ReadonlyMap<number | string, string>>;

/** The resources whose ids the fields of forms accept. */
export type Choices = ReadonlyMap<Field, Choice>;

/** The resource whose ids a field of a form accepts. The field holds one id or several. */
export interface Choice {
  readonly to: Resource;
  /** True if the caller may list the records, so that the script can show them. */
  readonly isListed: boolean;
}

/** One response to draw. */
export interface Drawing {
  readonly site: Site;
  readonly view: View;
  readonly body: DataBody;
  /** The actions that the caller may take on the shown record. */
  readonly offers: readonly Offer[];
  /**
   * The ETag of the record without related records, for `If-Match`. A response with related records has a different
   * ETag. Null if there is none.
   */
  readonly tag: string | null;
  /** The path of the shown record, without the base path and the query. */
  readonly path: string;
  /** The names of the records that this page refers to. */
  readonly labels: Labels;
  /** The resources whose ids the fields of its forms accept. */
  readonly choices: Choices;
}

/** The main part of a page. */
export interface Drawn {
  readonly title: string;
  readonly main: Markup;
  /** True for a narrow column, which is better for forms and texts. */
  readonly narrow?: boolean;
  /** `settings` for sections with their titles beside them. */
  readonly looks?: "narrow" | "narrow problem" | "settings";
  /** False for a page without the fold for developers. Default: true, except on the pages of accounts. */
  readonly hasStrip?: boolean;
  /** Set for a card: a page of one form or one sentence, without bar and fold. */
  readonly card?: Card;
}

/** The parts of a card apart from its main part. */
export interface Card {
  /** The content below the card. */
  readonly foot?: PageContent;
  /** Default: the script of every page. */
  readonly scripts?: readonly Asset[];
}

/** Draws the responses of one path in a custom way. Returns null to use the built-in page. */
export type Template = (drawing: Drawing) => Drawn | null | Promise<Drawn | null>;

/** Returns the URL of a path of the service. */
export function resolveAddress({ basePath }: View, path: string): string {
  return basePath + path;
}

/**
 * Returns the URL of a record below a path. Returns null if a path cannot contain the id: `.` and `..` are path steps
 * (URL standard §4.4).
 */
export function recordAddress(view: View, path: string, id: unknown): string | null {
  const text = String(id);
  return /^\.{0,2}$/.test(text) ? null : resolveAddress(view, `${path}/${encodeURIComponent(text.toWellFormed())}`);
}

/** Returns the resource whose ids a field contains. Returns null if there is none, or if it cannot be read. */
export function referredBy(site: Site, { kind }: Field): Resource | null {
  const named = (kind.references ?? kind.members)?.resource;
  if (named === undefined) return null;
  const found = site
    .facts()
    .mounts.find(
      ({ resource, permissions, older }) =>
        older === null && [buildTableName(resource), resource.plural].includes(named) && permissions.read !== undefined,
    );
  return found === undefined || found.resource.within !== null ? null : found.resource;
}

/**
 * Returns the resources within a resource, such as the items of an order. Each view of a mount has its own resource.
 */
export function nestedIn(site: Site, outer: Resource): readonly Resource[] {
  return site
    .facts()
    .mounts.filter(
      ({ resource, permissions, older }) =>
        older === null && resource.within?.path === outer.path && permissions.list !== undefined,
    )
    .map(({ resource }) => resource);
}

/** Returns the words for the records of a resource: `Loans`. */
export function nameMany({ plural, label }: Resource): string {
  return label?.many ?? formatTitle(plural);
}

/** Returns the words for one record within a sentence: `loan`. Does not change a word like `URL`. */
export function nameInSentence({ name, label }: Resource): string {
  if (label === null) return name;
  const [first = "", second = ""] = label.one;
  return second === second.toUpperCase() ? label.one : `${first.toLowerCase()}${label.one.slice(first.length)}`;
}
