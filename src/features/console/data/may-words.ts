import { html, type Markup } from "../../../core/html/markup.ts";
import { formatTitle } from "../../../resource/record-labels.ts";
import type { Resource } from "../../../resource/resource.ts";
import type { Drawing } from "../site.ts";
import { describeReason } from "./reasons.ts";

/** The words for what a caller may do with a record, in their order. */
const verbs = { read: "read", update: "change", replace: "change", delete: "delete" } as const;

/** Says what the caller may do with the record, and why if the declaration says it. */
export function drawMay({ site, view, offers }: Drawing, { path }: Resource): Markup {
  const mount = site.facts().mounts.find(({ resource }) => resource.path === path);
  const byReason = new Map<string | null, Set<string>>();
  for (const [action, verb] of Object.entries(verbs) as [keyof typeof verbs, string][]) {
    if (!offers.some((offer) => offer.action === action && offer.name === null)) continue;
    const permission = mount?.permissions[action];
    const reason = permission === undefined ? null : describeReason(permission, mount!.collection.name, view.identity);
    byReason.set(reason, (byReason.get(reason) ?? new Set()).add(verb));
  }
  const parts = [...byReason].map(([reason, words]) => {
    const list = `${joinWords([...words])} it`;
    return reason === null ? list : `${list}, because ${reason}`;
  });
  const actions = offers.flatMap(({ name }) => (name === null ? [] : [formatTitle(name).toLowerCase()]));
  const also = actions.length === 0 ? "" : ` You may use: ${actions.join(", ")}.`;
  return html`<div><dt>You may</dt><dd>${parts.length === 0 ? "see it" : parts.join(", and ")}.${also}</dd></div>`;
}

function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)!}`;
}
