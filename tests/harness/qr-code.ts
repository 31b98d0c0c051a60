import assert from "node:assert/strict";
import decodeQR from "qr/decode.js";

/** The number of pixels for each module of a code. */
const SCALE = 4;

/** Returns the text of the QR code that a page shows. */
export function readQRCode(page: string): string {
  const [, size, path] =
    /<svg class="qr"[^>]*viewBox="0 0 (\d+) \1"[^>]*>.*?<path fill="#000" d="([^"]*)"/s.exec(page) ?? [];
  assert.ok(size !== undefined && path !== undefined, "the page shows no QR code");
  const width = Number(size) * SCALE;
  const data = new Uint8Array(width * width * 4).fill(255);
  for (const [, x, y] of path.matchAll(/M(\d+) (\d+)h1v1h-1z/g))
    for (let at = 0; at < SCALE * SCALE; at++) {
      const row = Number(y) * SCALE + Math.floor(at / SCALE);
      const column = Number(x) * SCALE + (at % SCALE);
      data.fill(0, (row * width + column) * 4, (row * width + column) * 4 + 3);
    }
  return decodeQR({ width, height: width, data });
}
