import { html, type PageContent } from "../../../core/html/markup.ts";
import type { View } from "../../../http/request/view.ts";
import { drawCardHead, drawRefusal } from "../forms/card-parts.ts";
import { writePlainForm, type PlainField, type PlainForm } from "../forms/plain-form.ts";
import { resolveAddress, type Drawn } from "../site.ts";

/** A page that waits for the code of a mail. */
export interface MailboxPage {
  /** The address to which the mail went. It was typed on the page before. Empty if it is unknown. */
  readonly address: string;
  readonly form: Pick<PlainForm, "path" | "hidden" | "does">;
  readonly wrong?: string | undefined;
  /** The form that sends another mail. Null if the address is not enough for one. */
  readonly again: Pick<PlainForm, "path" | "hidden"> | null;
  /** The page for another address. Null if there is none. */
  readonly change: string | null;
}

/** The field for the code of a mail. */
export const mailCode: PlainField = {
  name: "code",
  label: "Code from the mail",
  type: "digits",
  autocomplete: "one-time-code",
  hint: "Eight digits. It works for 10 minutes.",
};

const addressField: PlainField = { name: "email", label: "E-mail", type: "email", autocomplete: "email" };

/** Draws the page for the code of a mail, with the address that was typed on the page before. */
export function drawMailbox(view: View, { address, form, wrong, again, change }: MailboxPage): Drawn {
  const title = "Look into your mailbox";
  const isKnown = address !== "";
  const lead = isKnown
    ? html`We sent a mail to <b><bdi>${address}</bdi></b>. Open its link, or type its code here.`
    : "Open the link of the mail, or type its code here.";
  const hidden = { ...form.hidden, ...(isKnown ? { email: address } : {}) };
  const fields = isKnown ? [mailCode] : [addressField, mailCode];
  const main = html`${drawCardHead(title, lead)}
${drawRefusal("mail-error", wrong)}${writePlainForm(view, { ...form, hidden, fields, label: title, prefix: "mail", isSubject: true, isWide: true })}
${isKnown ? sendAgain(view, again) : ""}`;
  const foot = change === null ? undefined : html`<p>Wrong address? <a href="${change}">Change it</a></p>`;
  return { title, main, card: { foot } };
}

function sendAgain(view: View, again: MailboxPage["again"]): PageContent {
  const words = html`<p class="dim">It can take a minute, and it may be in the folder for spam.</p>`;
  if (again === null) return html`<details class="more small"><summary>No mail?</summary>${words}</details>`;
  const inputs = Object.entries(again.hidden).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<details class="more small">
  <summary>No mail?</summary>
  <form class="stack" method="post" action="${resolveAddress(view, again.path)}" aria-label="Send it again">
    ${inputs}${words}
    <button class="btn low wide">Send it again</button>
  </form>
</details>`;
}
