/** Without regard to case, in all of Unicode: what a `folded` column is compared by. */
export function fold(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
