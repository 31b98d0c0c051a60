import type { Field } from "../../resource/declaration/field.ts";
import type { Resource } from "../../resource/resource.ts";

/** One field of an older shape. */
export interface OlderMember {
  readonly name: string;
  /** The name of the newer field. */
  readonly from: string;
  readonly field: Field;
  /** True if the field has the same value as the newer field, perhaps with another name. */
  readonly isPlain: boolean;
  readonly show: (value: unknown) => unknown;
  /**
   * The source code of the function that converts the value. It is part of the ETag. Null if the value is not
   * converted.
   */
  readonly shownBy: string | null;
  /** Converts a sent value. Null if the field cannot be sent. */
  readonly read: ((value: unknown) => unknown) | null;
}

/** An older shape: an earlier form of a resource, served from the same table. */
export interface Older {
  readonly prefix: string;
  /** The mount that provides the table, the permissions and the hooks. */
  readonly newer: { readonly resource: Resource };
  readonly members: ReadonlyMap<string, OlderMember>;
  /** The values of newer fields that this shape does not have, for records that are created in this shape. */
  readonly defaults: Readonly<Record<string, unknown>>;
}

/** The part of a mount that says whether it serves an older shape. */
export interface Shaped {
  readonly older: Older | null;
}
