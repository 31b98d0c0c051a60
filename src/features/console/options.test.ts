import assert from "node:assert/strict";
import { test } from "node:test";
import { requireOptions } from "../../core/checking/options.ts";
import { colorRule, consoleOptions } from "./options.ts";

test("adds custom colors after the built-in ones", () => {
  const colors = { sunk: "light-dark(#8a2c0d, #ffb59b)", bg: "rgb(250 250 250 / 90%)" };

  requireOptions({ title: "Library", logo: "/logo.svg", colors }, consoleOptions);
  assert.match(
    colorRule(colors),
    /:root \{ --sunk: light-dark\(#8a2c0d, #ffb59b\); --bg: rgb\(250 250 250 \/ 90%\); \}/,
  );
  assert.equal(colorRule({}), "");
});

test("stops the start for an unknown option, or for a color that contains more than a color", () => {
  for (const wrong of [
    { title: "" },
    { title: "a", logo: "https://elsewhere.example/logo.png" },
    { title: "a", logo: "//elsewhere.example/logo.png" },
    { title: "a", colors: { sunck: "red" } },
    { title: "a", colors: { sunk: "red; } body { display: none" } },
    { title: "a", colors: { sunk: "url(/x)" } },
    { title: "a", templates: { "/": "page" } },
    { title: "a", titel: "b" },
  ])
    assert.throws(() => requireOptions<object>(wrong, consoleOptions), JSON.stringify(wrong));
});
