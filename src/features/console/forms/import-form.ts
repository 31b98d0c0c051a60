import { html, type Markup } from "../../../core/html/markup.ts";
import type { Offer, View } from "../../../http/request/view.ts";
import { resolveAddress } from "../site.ts";
import { collectInputs } from "./inputs.ts";

/**
 * Writes a form for a file of records. The script sends each record like the form of one record, so the same rules
 * apply.
 */
export function writeImport(view: View, offer: Offer, plural: string): Markup {
  const types = Object.fromEntries(collectInputs(offer).map(({ name, type }) => [name, type]));
  return html`<details class="more">
    <summary>Import ${plural} from a file</summary>
    <form
      class="panel form"
      data-import="imported"
      data-path="${resolveAddress(view, offer.path)}"
      data-types="${JSON.stringify(types)}"
    >
      <p class="field">
        <label for="import-file">File</label>
        <input id="import-file" type="file" accept=".csv,.json,.jsonl,.ndjson" required aria-describedby="import-rule" />
        <span class="rule" id="import-rule"
          >CSV with the names of the fields in its first line, or JSON: an array, or one object a line. Each record is
          sent by itself. A refused record is listed with its line, and the others are created. Correct the refused ones and send
          the file again from this page: no record is created twice.</span
        >
      </p>
      <div class="row" data-js hidden><button class="btn main">Import</button></div>
      <pre id="imported" tabindex="0" role="group" aria-live="polite" aria-label="Result of the import"></pre>
      <noscript><p class="rule">Importing needs JavaScript.</p></noscript>
    </form>
  </details>`;
}
