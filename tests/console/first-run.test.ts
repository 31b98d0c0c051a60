import assert from "node:assert/strict";
import { test } from "node:test";
import { defineConfig } from "../../src/service/settings/config-file/config-file.ts";
import { serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: these pages show what the API answers, whose tests run on both databases.

test("tells a stranger at the start page what the service is, and how to log in", async (t) => {
  const api = await serve(t);

  const { status, text } = await api.get("/", { accept: "text/html" });

  const [, main = ""] = /<main[^>]*>([^]*)<\/main>/.exec(text) ?? [];
  const [, heading = "", sentence = ""] = /<h1[^>]*>([^<]*)<\/h1>\s*<p[^>]*>([^<]+)</.exec(main) ?? [];
  assert.deepEqual([status, heading], [200, "Latchkey"]);
  assert.match(sentence, /^A service with users, orders and several ways to log in/);
  assert.match(main, /<a class="btn main" href="\/login[^"]*">Log in<\/a>/);
  assert.doesNotMatch(main, /\bnull\b|ACCESS_TOKEN|\/outbox/);
});

test("shows the name and the sentence of a product at its start page", async (t) => {
  const config = defineConfig({
    api: { title: "Harbour Club", version: "1", description: "What the members of the club do." },
    without: ["orders", "protected"],
  });
  const api = await serve(t, { config });

  const { text } = await api.get("/", { accept: "text/html" });

  assert.match(text, /<h1[^>]*>Harbour Club<\/h1>\s*<p[^>]*>What the members of the club do\. Log in to see more\.</);
});
