import { randomUUID } from "node:crypto";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { Offer, View } from "../../../http/request/view.ts";
import { resolveAddress } from "../site.ts";

/** A form that a browser sends by itself. */
export interface SentForm {
  readonly view: View;
  readonly offer: Offer;
  /** The tag of the record as shown, in the form of `If-Match`. Null if there is none. */
  readonly tag: string | null;
  /** More attributes of the form. */
  readonly about?: PageContent;
  /**
   * True for the page of a form: it gets a key, so that sending it twice has one effect. The page then changes each
   * time, so a page that is more than a form has none.
   */
  readonly isPage?: boolean;
  readonly classes: string;
  readonly content: PageContent;
}

/**
 * Writes a form with its hidden controls: the method, the tag of the record, and a key that makes it safe to repeat.
 */
export function writeSentForm({ view, offer, tag, about = "", isPage = false, classes, content }: SentForm): Markup {
  const { method, path, repeatable } = offer;
  const hidden = (name: string, value: string): Markup => html`<input type="hidden" name="${name}" value="${value}">`;
  const key = repeatable && isPage ? hidden("_key", randomUUID()) : "";
  return html`<form class="${classes}" method="post" action="${resolveAddress(view, path)}"${about} novalidate>
${method === "POST" ? "" : hidden("_method", method)}${tag === null ? "" : hidden("_match", tag)}${key}${content}
</form>`;
}
