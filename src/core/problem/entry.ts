import type { ExtensionMembers } from "./extensions.ts";

/** One kind of problem that a caller can receive. */
export interface CatalogueEntry {
  /** The HTTP status of the response. */
  readonly status: number;
  /** The title, the same for every occurrence (RFC 9457 §3.1.3). */
  readonly title: string;
  /** The default text for the caller. Code that throws the problem may replace it. */
  readonly detail: string;
  /** The explanation of the cause, on the page of the problem. */
  readonly why: string;
  /** The fix, on the page of the problem. */
  readonly cure: string;
  /** Extension members of the problem (RFC 9457 §3.2). */
  readonly extensions?: ExtensionMembers;
}

/** Creates an entry without extension members. */
export function entry(status: number, title: string, detail: string, why: string, cure: string): CatalogueEntry {
  return { status, title, detail, why, cure };
}
