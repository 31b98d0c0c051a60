import type { MailTemplates } from "./contract.ts";

/**
 * Adds a paragraph about earlier events after the first paragraph of each notice. A notice is a template with the time
 * of its event.
 */
export function withTimes(paragraph: string, templates: MailTemplates): MailTemplates {
  return Object.fromEntries(
    Object.entries(templates).map(([name, template]) => {
      const [first = "", ...others] = template.text.split("\n\n");
      const isNotice = template.text.includes("{at}");
      return [name, isNotice ? { ...template, text: [first, paragraph, ...others].join("\n\n") } : template];
    }),
  );
}
