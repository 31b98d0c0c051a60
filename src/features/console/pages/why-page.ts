import { isObject } from "../../../core/checking/members.ts";
import { linkTo } from "../../../core/html/link.ts";
import { html, type Markup } from "../../../core/html/markup.ts";
import { formatCurl } from "../addresses.ts";
import { asJSON, code, column, table } from "../parts.ts";
import type { Drawing, Drawn } from "../site.ts";
import { statusText } from "../status-text.ts";
import type { Why } from "../why.ts";

/**
 * Draws the explanation of a response: the request, the result of each scheme, the decision of the permission, and the
 * meaning of each header field.
 */
export function drawWhy({ body, view }: Drawing): Drawn | null {
  if (!isWhy(body.value)) return null;
  const { of, status, because, permission, route } = body.value;
  const main = html`<div class="head"><div><h1>Why this answer</h1>
<p><code>GET ${of}</code> gives you ${statusText(status)}. ${because}</p></div>
<a class="btn" href="${linkTo(of)}">Back to it</a></div>
<div class="split"><ol class="steps">
<li><section><h2>You asked</h2>
${code("curl", "Credentials are left out", "the request as curl", formatCurl(view, of))}
<p class="rule">${route === null ? "Nothing is served at this address." : html`It is <code>${route}</code> of the API.`}</p></section></li>
<li><section><h2>The schemes looked at it</h2>${drawSchemes(body.value)}</section></li>
<li><section><h2>The permission</h2>${drawPermission(permission)}</section></li>
<li><section><h2>The header fields of the answer</h2>${drawHeaders(body.value)}</section></li>
</ol>
<aside class="side" aria-label="The explanation as data">
<section><h2>As JSON</h2>${asJSON("json", "application/json", "the explanation as JSON", body.value)}</section>
<section><h2>Who sees this</h2><p class="dim">You, about your own requests. No credential is ever shown.</p></section>
</aside></div>`;
  return { title: "Why this answer", main };
}

function isWhy(value: unknown): value is Why {
  return isObject(value) && typeof value["of"] === "string" && Array.isArray(value["schemes"]);
}

function drawSchemes({ schemes }: Why): Markup {
  if (schemes.length === 0)
    return html`<p>None of them. This address is open to every caller and reads no credentials.</p>`;
  const tones = { accepted: "tag good", rejected: "tag bad", absent: "tag" } as const;
  const rows = schemes.map(
    (
      each,
    ) => html`<tr><th scope="row">${each.scheme}</th><td><span class="${tones[each.saw]}">${each.saw}</span></td><td>${each.why}</td></tr>
`,
  );
  return table(
    "All schemes look at the request. Their order never changes the answer",
    ["Scheme", "Saw", "Because"].map((name) => column(name)),
    rows,
  );
}

function drawPermission(permission: Why["permission"]): Markup {
  if (permission === null)
    return html`<p>No permission was checked: the address is open, or the request ended earlier.</p>`;
  const { name, action, said, by } = permission;
  const words = { allow: "allows it", deny: "denies it", "some rows": "allows some rows" } as const;
  return html`<p><code>${name}</code>, asked about <code>${action}</code>, ${words[said]}${by.length === 0 ? "" : html`: those that it selects by <code>${by.join(", ")}</code>. All others are hidden from you`}.</p>`;
}

/** The meanings of header fields for the client. */
const meanings: Readonly<Record<string, string>> = {
  "content-type": "The format of the answer",
  "content-length": "The length of the answer in octets",
  "cache-control": "The rules for caches that store the answer",
  etag: "The state that was shown. A request with it in If-None-Match gets 304 until something changes",
  vary: "The fields of the request that can change the answer",
  link: "The pages next to this one, and its description",
  "www-authenticate": "The schemes that this address accepts",
  "retry-after": "How many seconds to wait",
  allow: "The methods that this address accepts",
  "x-request-id": "The id of the request, also in the log. Name it in a report",
  "x-total-count": "The number of all records in the list",
  "content-security-policy": "The scripts and files that a browser may load for this answer",
  "x-content-type-options": "A browser does not guess another content type",
  "referrer-policy": "Links do not send this address to other sites",
  "cross-origin-resource-policy": "Pages of other sites cannot embed it",
  "strict-transport-security": "Browsers use only TLS for this host from now on",
};

function drawHeaders({ headers }: Why): Markup {
  const rows = headers.map(
    ({
      name,
      value,
    }) => html`<div><dt>${name}</dt><dd><code>${value}</code></dd><dd class="rule">${meanings[name.toLowerCase()] ?? ""}</dd></div>
`,
  );
  return html`<dl class="facts-list">
${rows}</dl>`;
}
