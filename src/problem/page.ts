import { hash } from "node:crypto";
import type { CatalogueEntry } from "./catalogue.ts";
import type { Catalogue } from "./definition.ts";

/** A page and the Content-Security-Policy that it needs. */
export interface Page {
  readonly html: string;
  readonly policy: string;
}

/** The page that the `type` of a problem leads to: what happened, why, and what to do about it. */
export function problemPage(code: string, { status, title, detail, why, cure }: CatalogueEntry, basePath = ""): Page {
  return page(
    title,
    `<p class="status">${status}</p>
<h1>${escapeHTML(title)}</h1>
<p><code>${escapeHTML(code)}</code></p>
<h2>What happened</h2>
<p>${escapeHTML(detail)}</p>
<h2>Why</h2>
<p>${escapeHTML(why)}</p>
<h2>What to do</h2>
<p>${escapeHTML(cure)}</p>
<nav><a href="${escapeHTML(basePath)}/problems">All problems</a></nav>`,
  );
}

/** The page that lists every problem, by status. */
export function problemIndexPage(catalogue: Catalogue, basePath = ""): Page {
  const rows = Object.entries(catalogue).map(
    ([code, { status, title }]) =>
      `<tr><td>${status}</td><td><a href="${escapeHTML(basePath)}/problems/${escapeHTML(code)}">${escapeHTML(title)}</a></td><td><code>${escapeHTML(code)}</code></td></tr>`,
  );
  return page(
    "Problems",
    `<h1>Problems</h1>
<p>Every error that the service answers with, as <code>application/problem+json</code> (RFC 9457).</p>
<table>
<thead><tr><th scope="col">Status</th><th scope="col">Title</th><th scope="col">Code</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>`,
  );
}

const style = `
:root { color-scheme: light dark; --text: light-dark(#1c2024, #e6e8eb); --quiet: light-dark(#5b6470, #9aa4b0); --line: light-dark(#dfe3e8, #30363d); --link: light-dark(#0b5cad, #7ab8ff); }
body { margin: 0; background: light-dark(#fff, #14171a); color: var(--text); font: 1rem/1.6 system-ui, sans-serif; }
main { max-width: 40rem; margin: 0 auto; padding: 3rem 1.25rem; }
h1 { margin: 0; font-size: 1.9rem; line-height: 1.2; }
h2 { margin: 2rem 0 0; font-size: 1rem; color: var(--quiet); }
h2 + p { margin-top: .25rem; }
.status { margin: 0; color: var(--quiet); font-variant-numeric: tabular-nums; }
code { font: .9em ui-monospace, monospace; }
a { color: var(--link); }
nav { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); text-align: start; overflow-wrap: anywhere; }
`;

// Nothing runs and nothing is loaded: only this very style is let through.
const policy = `default-src 'none'; style-src 'sha256-${hash("sha256", style, "base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

function page(title: string, content: string): Page {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHTML(title)} · Latchkey</title>
<style>${style}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`;
  return { html, policy };
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Makes text that may stand in an element and in a quoted attribute. */
export function escapeHTML(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character]!);
}
