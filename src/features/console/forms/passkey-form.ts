import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { View } from "../../../http/request/view.ts";
import { resolveAddress } from "../site.ts";
import { passkeySign, wideLink } from "./card-parts.ts";

/** A form that the user sends with a passkey. Only the script can send it. */
export interface PasskeyForm {
  /** The path that receives the response of the passkey. */
  readonly path: string;
  /** The text of the button. */
  readonly does: string;
  /** True for the main button of the page. */
  readonly isMain?: boolean;
  /** The options for `navigator.credentials`, or the path that returns them. */
  readonly asks: { readonly options: unknown } | { readonly start: string };
  /** True to create a passkey. Default: use one. */
  readonly creates?: boolean;
  /** The other members of the body. */
  readonly fields?: Readonly<Record<string, string>>;
  /** The page to show afterwards. Default: the response of the service. */
  readonly next?: string;
  /** True if, after this confirmation, the script sends the form that needed it once more. */
  readonly restores?: boolean;
  readonly label: string;
}

/**
 * Writes a form that the user sends with a passkey. On a loopback address, writes a link to the same service at
 * `localhost` instead, because passkeys are bound to a host name. Writes nothing for any other IP address.
 */
export function writePasskeyForm(view: View, form: PasskeyForm, path: string = view.call.path): PageContent {
  const elsewhere = passkeysElsewhere(view, form.does, path);
  if (elsewhere !== null) return elsewhere;
  const { does, isMain = false, asks, creates = false, fields = {}, next, label, restores = false } = form;
  const inputs = Object.entries({ ...fields, ...("start" in asks ? { pending: "" } : {}) }).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" /> `,
  );
  const optionsAttribute: Markup =
    "start" in asks
      ? html` data-start="${resolveAddress(view, asks.start)}"`
      : html` data-ask="${JSON.stringify(asks.options)}"`;
  const after = next === undefined ? html` data-stay` : html` data-then="${next}" data-leave`;
  return html`<form data-js hidden aria-label="${label}" data-passkey="${creates ? "create" : "get"}" data-method="POST" data-path="${resolveAddress(view, form.path)}"${optionsAttribute}${after}${restores ? html` data-restore` : ""}>
    ${inputs}<input type="hidden" name="credential" data-type="json" value="" />
    <button class="btn${isMain ? " main" : ""} wide">${passkeySign}${does}</button>
  </form> `;
}

/**
 * Returns the content in place of a form for passkeys: the link to the same service at `localhost`, or nothing. Returns
 * null if passkeys work here.
 */
export function passkeysElsewhere(view: View, does: string, path: string = view.call.path): PageContent | null {
  const place = findHostOrigin(view);
  if (place === "here") return null;
  return place === null ? "" : wideLink(`${place}${path}`, html`${passkeySign}${does} at localhost`);
}

/**
 * Returns `here` if the browser already uses a host name. For a loopback address, returns the origin of the service at
 * `localhost`. Returns null for any other IP address, and for an unknown origin.
 */
function findHostOrigin({ call }: View): string | null {
  const url = URL.parse(call.client.origin ?? "");
  if (url === null) return null;
  if (/^(?:127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)) {
    url.hostname = "localhost";
    return url.origin;
  }
  return /^(?:\[.*\]|[\d.]+)$/.test(url.hostname) ? null : "here";
}
