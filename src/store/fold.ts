import { composed } from "../crypto/composed.ts";
import type { Column } from "./store.ts";

/** Whether a column has its folded value beside it. */
export function isFolded({ unique, folded }: Column): boolean {
  return unique === "folded" || folded === true;
}

/** Without regard to case, in all of Unicode: what a `folded` column is compared by. */
export function fold(text: string): string {
  return composed(text).toLowerCase();
}
