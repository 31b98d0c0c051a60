import assert from "node:assert/strict";
import { test } from "node:test";
import { measureContrast } from "../../src/core/html/contrast.ts";
import { consolePages, documentation } from "../../src/door/features.ts";
import { anyone, defineResource, mount, text } from "../../src/door/index.ts";
import { ownService } from "../harness/own-service.ts";
import { serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: the look is part of the declarations.

const page = { headers: { accept: "text/html" } };
const books = defineResource({ name: "book", fields: { title: text({ maxLength: 100 }) } });

/** Returns the colors of a rule of the style: for light and for dark mode. */
function colorsOf(style: string, name: string): readonly [light: string, dark: string] {
  const all = [...style.matchAll(new RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`, "g"))];
  const [, light = "", dark = ""] = all.at(-1)!;
  return [light, dark];
}

test("shows title, mark and links on every page, and the accent in the style", async (t) => {
  const links = [
    { text: "Imprint", href: "/imprint" },
    { text: "Privacy", href: "https://club.example/privacy" },
  ];
  const api = await ownService(t, {
    basePath: "/club",
    mounts: [mount(books, { permission: anyone })],
    features: [
      consolePages({ title: "Harbour Club", mark: "⚓", accent: "#1d6b57", links }),
      documentation({ title: "The API", version: "1" }),
    ],
  });

  for (const at of ["/club/books", "/club/docs", "/club/problems", "/club/nothing"]) {
    const { text: shown } = await api.get(at, page);
    assert.match(shown, /<span class="mark" aria-hidden="true">⚓<\/span><span>Harbour Club<\/span>/, at);
    assert.match(shown, /<a href="\/club\/imprint">Imprint<\/a> · <a href="https:\/\/club.example\/privacy">/, at);
    assert.match(shown, /fill=&#39;%231d6b57&#39;/, at);
    assert.doesNotMatch(shown, / style=/, at);
    const [, style = ""] = /rel="stylesheet" href="([^"]*)"/.exec(shown)!;
    const [light, dark] = colorsOf((await api.get(style)).text, "accent");
    assert.equal(light, "#1d6b57");
    assert.ok(measureContrast(dark, "#131416") >= 4.5, dark);
  }
});

test("chooses a text on the accent and a tone of it that can be read", async (t) => {
  for (const accent of ["#1d6b57", "#8a2c0d", "#000", "#b3005e", "light-dark(#5b21b6, #fde047)"]) {
    const api = await ownService(t, { features: [consolePages({ title: "Club", accent })] });
    const [, at = ""] = /rel="stylesheet" href="([^"]*)"/.exec((await api.get("/nothing", page)).text)!;
    const style = (await api.get(at)).text;
    const [colors, on, tint] = ["accent", "on-accent", "tint"].map((name) => colorsOf(style, name));
    for (const mode of [0, 1] as const) {
      assert.ok(measureContrast(colors![mode], on![mode]) >= 4.5, `${accent} ${on![mode]}`);
      assert.ok(measureContrast(colors![mode], tint![mode]) >= 4.5, `${accent} ${tint![mode]}`);
    }
  }
});

const refused: readonly (readonly [options: object, message: RegExp])[] = [
  [
    { accent: "#ffcc00" },
    /accent.*#ffcc00 has a contrast of 1\.3 as text in light mode, and text needs 4\.5\. Take a darker one, like #/,
  ],
  [
    { accent: "light-dark(#1d6b57, #1d6b57)" },
    /accent.*in dark mode, and text needs 4\.5\. Take a lighter one, like #/,
  ],
  [{ accent: "red" }, /accent.*it has to be a color like #8a2c0d/],
  [{ accent: "#fff; } body { display: none" }, /accent.*it has to be a color/],
  [{ mark: "abc" }, /mark.*it has to be one or two characters/],
  [{ links: [{ text: "Imprint", href: "javascript:alert(1)" }] }, /links.*href.*it has to be a path of this service/],
  [{ links: [{ text: "Imprint", href: "//evil.example" }] }, /links.*href/],
  [{ links: [{ text: "a".repeat(61), href: "/imprint" }] }, /links.*text.*shorten it to at most 60/],
  [{ links: Array.from({ length: 9 }, () => ({ text: "a", href: "/" })) }, /links.*9 links; at most 8/],
];

test("refuses a look that is hard to read or unsafe, with place and fix", async (t) => {
  for (const [options, message] of refused) {
    const features = [consolePages({ title: "Club", ...options })];
    await assert.rejects(ownService(t, { features }), message);
  }
});

test("takes the look from the environment and from the config file", async (t) => {
  const settings = {
    LATCHKEY_TITLE: "Harbour Club",
    LATCHKEY_ACCENT: "#1d6b57",
    LATCHKEY_FOOT_LINKS: "Imprint=/imprint, Privacy=https://club.example/privacy?a=b",
  };
  const config = { settings: { title: "Overridden", mark: "/logo.svg" }, api: { title: "The API", version: "1" } };
  const api = await serve(t, { settings, config });

  const { text: shown } = await api.get("/login", { accept: "text/html" });

  assert.match(shown, /<img src="\/logo.svg" alt=""><span>Harbour Club<\/span>/);
  assert.match(shown, /<a href="https:\/\/club.example\/privacy\?a=b">Privacy<\/a>/);
  await assert.rejects(serve(t, { settings: { LATCHKEY_FOOT_LINKS: "Imprint" } }), /LATCHKEY_FOOT_LINKS has "Imprint"/);
});
