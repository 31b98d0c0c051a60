import { html, type Markup } from "../../../core/html/markup.ts";
import type { Offer, View } from "../../../http/request/view.ts";
import { resolveAddress, type Site } from "../site.ts";
import { collectInputs } from "./inputs.ts";

/**
 * Writes a form for a file of records. The script sends each record like the form of one record, so the same rules
 * apply.
 */
export function writeImport(site: Site, view: View, offer: Offer, many: string): Markup {
  const types = Object.fromEntries(collectInputs(offer).map(({ name, type }) => [name, type]));
  return html`<details class="more" id="import" data-script="${site.assets.import}">
  <summary>Bring ${many} from a file</summary>
  <form class="panel form" data-import="imported" action="${resolveAddress(view, offer.path)}" data-types="${JSON.stringify(types)}">
    <div class="field"><label for="import-file">File</label>
      <p class="hint" id="import-rule">CSV with the names of the fields in its first line, or JSON: an array, or one object a line. Each one is added by itself, and those that are refused are named with their line. Correct them and send the file again from this page: nothing is added twice.</p>
      <input id="import-file" type="file" accept=".csv,.json,.jsonl,.ndjson" required aria-describedby="import-rule"></div>
    <div class="row" data-loaded hidden><button class="btn main">Bring them in</button></div>
    <pre id="imported" tabindex="0" role="group" aria-live="polite" aria-label="Result of the import"></pre>
    <noscript><p class="dim">This needs JavaScript.</p></noscript>
  </form>
</details>`;
}
