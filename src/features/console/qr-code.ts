import encodeQR from "qr";
import { html, type Markup } from "../../core/html/markup.ts";

/** The width of the white margin around a QR code, in modules (ISO/IEC 18004). */
const MARGIN = 4;

/**
 * Returns a QR code as an image in the page. It is dark on white in every color scheme, because some apps read no other
 * code.
 */
export function drawQRCode(text: string, label: string): Markup {
  const rows = encodeQR(text, "raw", { border: MARGIN, ecc: "medium" });
  const path = rows.map((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")).join("")).join("");
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${rows.length} ${rows.length}" shape-rendering="crispEdges">
    <path fill="#fff" d="M0 0h${rows.length}v${rows.length}H0z" />
    <path fill="#000" d="${path}" />
  </svg>`;
}
