import crypto, { createHash } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

// Makes chance repeatable: after `restartChance`, the same draws return the same values. Draws of one length do not
// depend on draws of another, so a change in the order of unlike draws changes no answer. Import this module before any
// other.

const drawn = new Map<string, number>();

/** Starts every sequence of draws again. */
export function restartChance(): void {
  drawn.clear();
}

function draw(length: number, purpose: string): Buffer {
  const key = `${purpose}:${length}`;
  const count = (drawn.get(key) ?? 0) + 1;
  drawn.set(key, count);
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, block) =>
    createHash("sha256").update(`${key}:${count}:${block}`).digest(),
  );
  return Buffer.concat(blocks).subarray(0, length);
}

function fill<T extends NodeJS.ArrayBufferView>(bytes: T): T {
  const view = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  view.set(draw(view.length, "bytes"));
  return bytes;
}

function drawUUID(): crypto.UUID {
  const bytes = draw(16, "uuid");
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const repeatable = {
  randomBytes: (length: number) => draw(length, "bytes"),
  randomUUID: drawUUID,
  randomFillSync: fill,
};
Object.assign(crypto, repeatable);
syncBuiltinESMExports();
Object.assign(globalThis.crypto, { getRandomValues: fill, randomUUID: drawUUID });
Math.random = () => 0.5;
