import type { Field } from "../../../resource/kinds/field.ts";
import type { Resource } from "../../../resource/resource.ts";

/** One field of an older shape. */
export interface OlderMember {
  readonly name: string;
  /** Of the newer shape. */
  readonly from: string;
  readonly field: Field;
  /** The same value under another name. */
  readonly isPlain: boolean;
  readonly show: (value: unknown) => unknown;
  /** The source of the function that its author gave to show it; null for a plain one. */
  readonly shownBy: string | null;
  /** Null: it cannot be sent. */
  readonly read: ((value: unknown) => unknown) | null;
}

/** A shape beside the newer one. */
export interface Older {
  readonly prefix: string;
  /** The mount whose table, permissions and hooks it has. */
  readonly newer: { readonly resource: Resource };
  readonly members: ReadonlyMap<string, OlderMember>;
  /** What a record gets that is made in this shape, of fields that it does not have. */
  readonly defaults: Readonly<Record<string, unknown>>;
}

/** A mount, as far as its shape is concerned. */
export interface Shaped {
  readonly older: Older | null;
}
