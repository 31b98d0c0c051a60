import type { Field } from "../../../resource/kinds/field.ts";
import type { Resource } from "../../../resource/resource.ts";

/** One field of an older shape. */
export interface OlderMember {
  readonly name: string;
  /** The name of the newer field. */
  readonly from: string;
  readonly field: Field;
  /** True if it is the same value with another name. */
  readonly isPlain: boolean;
  readonly show: (value: unknown) => unknown;
  /** The source of the function that converts it. Null for a plain field. */
  readonly shownBy: string | null;
  /** Converts a sent value. Null if the field cannot be sent. */
  readonly read: ((value: unknown) => unknown) | null;
}

/** An older shape of a mount. */
export interface Older {
  readonly prefix: string;
  /** The mount that provides the table, the permissions and the hooks. */
  readonly newer: { readonly resource: Resource };
  readonly members: ReadonlyMap<string, OlderMember>;
  /** The values of newer fields for records that are made in this shape, which does not have these fields. */
  readonly defaults: Readonly<Record<string, unknown>>;
}

/** The part of a mount that concerns its shape. */
export interface Shaped {
  readonly older: Older | null;
}
