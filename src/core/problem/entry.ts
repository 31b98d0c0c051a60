import type { ExtensionMembers } from "./extensions.ts";

/** One kind of problem that a caller can receive. */
export interface CatalogueEntry {
  /** The HTTP status it is answered with. */
  readonly status: number;
  /** The same for every occurrence (RFC 9457 §3.1.3). */
  readonly title: string;
  /** What the caller reads where the thrower has nothing more exact to say. */
  readonly detail: string;
  /** Why it happens, for the problem's page. */
  readonly why: string;
  /** What to do about it, for the problem's page. */
  readonly cure: string;
  /** Extension members of the problem (RFC 9457 §3.2). */
  readonly extensions?: ExtensionMembers;
}

/** Makes an entry without extension members. */
export function entry(status: number, title: string, detail: string, why: string, cure: string): CatalogueEntry {
  return { status, title, detail, why, cure };
}
