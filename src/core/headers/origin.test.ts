import assert from "node:assert/strict";
import test from "node:test";
import { parseOrigin } from "./origin.ts";

test("reads the origins of web pages, apps and extensions", () => {
  for (const origin of [
    "https://app.example",
    "http://localhost:5173",
    "http://[::1]:8000",
    "https://xn--mnchen-3ya.example",
    "tauri://localhost",
    "capacitor://localhost",
    "ionic://localhost:8100",
    "chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb",
    "moz-extension://e4a2c7a4-6f0b-4a55-9d5f-b1a5b37d1c3e",
    "safari-web-extension://7D3C1E0B-9A44-4E0F-8B55-2D1A4F3C5B6A",
    "app://obsidian.md",
  ])
    assert.equal(parseOrigin(origin), origin);
});

test("returns an origin in another spelling as browsers write it", () => {
  const spelled = [
    ["HTTPS://App.example:443/", "https://app.example"],
    ["https://a@app.example/x?y", "https://app.example"],
    ["Capacitor://localhost/", "capacitor://localhost"],
  ] as const;

  for (const [text, origin] of spelled) assert.equal(parseOrigin(text), origin);
});

test("refuses a text that is not the origin of a page", () => {
  for (const text of [
    "",
    "*",
    "null",
    "app.example",
    "https://*.example",
    "https://",
    "https://a b",
    "ftp://app.example",
    "file:///home",
    "wss://app.example",
    "data://x",
    "capacitor://*",
    "capacitor://",
    "capacitor:localhost",
    "capacitor://a@localhost",
    "capacitor://localhost/x",
    "capacitor://localhost?x",
    "capacitor://localhost:0",
    "capacitor://localhost:65536",
    "1app://localhost",
    "capacitor://localhost, tauri://localhost",
  ])
    assert.equal(parseOrigin(text), null, text);
});
