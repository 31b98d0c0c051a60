import { hash } from "node:crypto";
import { html, Markup } from "../../html/markup.ts";
import { pageScript } from "./page-script.ts";
import { pageStyle } from "./page-style.ts";

/** A page that shows `/openapi.json` (below the base path) in a browser, and the Content-Security-Policy that it needs. It loads nothing but the document. */
export function docsPage(basePath = ""): { readonly html: string; readonly policy: string } {
  return { html: htmlOf(basePath).toString(), policy };
}

const htmlOf = (base: string): Markup =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>API</title>
        <style>${Markup.join([pageStyle], [])}</style>
      </head>
      <body data-base="${base}">
        <a class="skip" href="#main">To the content</a>
        <nav aria-label="Operations"></nav>
        <main id="main">
          <p role="status">Reading the description of the API …</p>
          <noscript><p>This page needs JavaScript to show <a href="${base}/openapi.json">the OpenAPI document</a>.</p></noscript>
        </main>
        <script>${Markup.join([pageScript], [])}</script>
      </body>
    </html> `;

// This very script and style run; with trusted types the browser itself refuses to read data as HTML.
const policy = [
  "default-src 'none'",
  `script-src '${sourceOf(pageScript)}'`,
  `style-src '${sourceOf(pageStyle)}'`,
  "connect-src 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

function sourceOf(text: string): string {
  return `sha256-${hash("sha256", text, "base64")}`;
}
