import { isOfThisCopy, made } from "../copy.ts";
/** The mistake in a value. The calling code adds the pointer of the value. */
export class Flaw {
  static {
    made(this.prototype);
  }

  /**
   * Throws a TypeError for a flaw that another copy of the package created. Without this check, such a flaw would be
   * stored as a valid value.
   */
  static [Symbol.hasInstance](value: unknown): value is Flaw {
    return isOfThisCopy(this, value);
  }

  readonly code: string;
  readonly detail: string;
  /** The mistakes in parts of the value. If there are any, the response contains them instead of the flaw itself. */
  readonly parts: readonly FlawPart[];

  constructor(code: string, detail: string, parts: readonly FlawPart[] = []) {
    this.code = code;
    this.detail = detail;
    this.parts = parts;
  }
}

/** The mistake in one part of a value. */
export interface FlawPart {
  /** A JSON pointer (RFC 6901) relative to the value. Empty for the value itself. */
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}
