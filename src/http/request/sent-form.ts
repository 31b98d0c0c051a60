/** A form of a page, as a browser sent it. */
export interface SentForm {
  /** The state of the record that the form was filled from (`_match`), in the spelling of `If-Match`. */
  readonly match: string | null;
  /** The `Idempotency-Key` of the form (`_key`). */
  readonly key: string | null;
  /** The typed texts by name, without `_method`, `_match` and `_key`. Checkboxes of one name give several texts. */
  readonly typed: TypedTexts;
}

/** The texts that were typed into a form, by the name of their field. */
export type TypedTexts = ReadonlyMap<string, readonly string[]>;
