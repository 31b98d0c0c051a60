import type { Markup } from "../../core/html/markup.ts";
import type { ServiceFacts } from "../../feature/feature.ts";
import type { DataBody } from "../../http/formats/format.ts";
import type { Offer, View } from "../../http/formats/view.ts";
import type { Field } from "../../resource/kinds/field.ts";
import type { Resource } from "../../resource/resource.ts";
import { tableOf } from "../../resource/tables/table.ts";

/** What every page of one service has in common. */
export interface Site {
  /** What the service is called. */
  readonly title: string;
  /** The address of an image; the key where it is left out. */
  readonly logo?: string;
  /** The addresses of style and script. */
  readonly assets: { readonly style: string; readonly script: string };
  /** How pages of one's own are drawn, by the path that they stand at: `/orders/{id}`. */
  readonly templates: Readonly<Record<string, Template>>;
  facts(): ServiceFacts;
}

/** What records are called, by the path of their resource and their id: of those that others refer to. One that is not among them cannot be read. */
export type Labels = ReadonlyMap<string, ReadonlyMap<number | string, string>>;

/** What fields of forms hold ids of. */
export type Choices = ReadonlyMap<Field, Choice>;

/** What a field of a form holds an id of, or several. */
export interface Choice {
  readonly to: Resource;
  /** The caller may list them, so that the script can show which there are. */
  readonly isListed: boolean;
}

/** One answer that is drawn. */
export interface Drawing {
  readonly site: Site;
  readonly view: View;
  readonly body: DataBody;
  /** What the caller may do with what is shown. */
  readonly offers: readonly Offer[];
  /** The ETag of the record's own state, for `If-Match`: with related records beside it an answer has another. Null where there is none. */
  readonly tag: string | null;
  /** The path of what is shown, without the base path and the query. */
  readonly path: string;
  /** What the records are called that the ones on this page refer to. */
  readonly labels: Labels;
  /** What the fields of its forms hold ids of. */
  readonly choices: Choices;
}

/** What stands in the main part of a page. */
export interface Drawn {
  readonly title: string;
  readonly main: Markup;
  /** Forms and texts read better in a narrow column. */
  readonly narrow?: boolean;
}

/** Draws the answers of one path in its own way; null leaves it to the console. */
export type Template = (drawing: Drawing) => Drawn | null | Promise<Drawn | null>;

/** The address of a path of the service. */
export function addressOf({ basePath }: View, path: string): string {
  return basePath + path;
}

/** The address of a record of a path; null where no path names it: `.` and `../..` are steps of one (URL standard §4.4). */
export function recordAddress(view: View, path: string, id: unknown): string | null {
  const text = String(id);
  return /^\.{0,2}$/.test(text) ? null : addressOf(view, `${path}/${encodeURIComponent(text.toWellFormed())}`);
}

/** The resource that a field holds an id of, or several; null where it holds none, or nobody may read what stands there. */
export function referredBy(site: Site, { kind }: Field): Resource | null {
  const named = (kind.references ?? kind.members)?.resource;
  if (named === undefined) return null;
  const found = site
    .facts()
    .mounts.find(
      ({ resource, permissions, older }) =>
        older === null && [tableOf(resource), resource.plural].includes(named) && permissions.read !== undefined,
    );
  return found === undefined || found.resource.within !== null ? null : found.resource;
}

/** What stands within a resource, such as the items of an order. */
export function nestedIn(site: Site, outer: Resource): readonly Resource[] {
  return site
    .facts()
    .mounts.filter(
      ({ resource, permissions, older }) =>
        older === null && resource.within === outer && permissions.list !== undefined,
    )
    .map(({ resource }) => resource);
}

/** The first letter as at the beginning of a sentence; `_` and `-` are spaces. */
export function titleOf(name: string): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`.replaceAll(/[_-]/g, " ");
}
