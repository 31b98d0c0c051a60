/** A form of a page, as a browser would send it. */
export interface PageForm {
  /** The method that it means: `_method`, or POST. */
  readonly method: string;
  readonly action: string;
  /** The tag of the record as shown (`_match`). Undefined if there is none. */
  readonly match: string | undefined;
  /** The names of its controls, without those that every form has. */
  readonly names: readonly string[];
}

/** Returns the forms of a page that change something, without the login and the logout. */
export function formsOf(page: string): readonly PageForm[] {
  const forms = [...page.matchAll(/<form\b([^>]*)>([^]*?)<\/form>/g)];
  return forms.flatMap(([, about = "", content = ""]) => {
    const action = /action="([^"]*)"/.exec(about)?.[1];
    if (!about.includes('method="post"') || action === undefined || action.includes("/api/")) return [];
    const hidden = (name: string): string | undefined =>
      new RegExp(`name="${name}" value="([^"]*)"`).exec(content)?.[1]?.replaceAll("&quot;", '"');
    const names = [...content.matchAll(/ name="([a-z][\w.]*)"/g)].map(([, name]) => name!);
    return [{ method: hidden("_method") ?? "POST", action, match: hidden("_match"), names: [...new Set(names)] }];
  });
}
