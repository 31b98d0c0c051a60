import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { html, Markup } from "./markup.ts";

test("escapes values, and inserts markup unchanged", () => {
  const hostile = `</p><script>alert("1")</script>&'`;

  const page = html`<p title="${hostile}">${hostile} ${[html`<b>${1}</b>`, null, undefined, "<"]}</p>`;

  assert.equal(String(page), `<p title="${escaped}">${escaped} <b>1</b>&lt;</p>`);
});

const escaped = "&lt;/p&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;";

test("lets no text end an element or an attribute", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const page = String(html`<p title="${text}">${text}</p>`);
      assert.equal(page.match(/[<>"]/g)!.join(""), `<"">${"<>"}`);
    }),
  );
});

test("escapes objects that only look like markup", () => {
  const forged = { toString: () => "<b>" } as unknown as string;
  const inherited = Object.create(Markup.prototype) as Markup;

  assert.equal(String(html`${forged}`), "&lt;b&gt;");
  assert.throws(() => String(html`${inherited}`), TypeError);
});
