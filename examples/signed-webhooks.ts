// Takes what a shop tells (webhooks): its signature is of the octets of the body, and of the time at which it was sent.
import { createHmac } from "node:crypto";
import {
  accepted,
  authenticated,
  createService,
  defineResource,
  listen,
  mount,
  rejected,
  Secret,
  text,
} from "latchkey";
import type { Identity, Scheme } from "latchkey";
import { sqliteStore } from "latchkey/stores";

const FIVE_MINUTES_MS = 300_000;
const key = new Secret(process.env["SHOP_SECRET"] ?? "what the shop and we know, and nobody else");
const shop: Identity = { id: 1, username: "shop", role: "user", scheme: "shop", scopes: null, expiresAt: null };

const scheme: Scheme = {
  name: "shop",
  carriers: [{ in: "header", name: "X-Shop-Signature" }],
  readsBody: true,
  async authenticate(credential, call) {
    const [, time = "", signature = ""] = /^t=(\d{13}),v1=([0-9a-f]{64})$/.exec(credential) ?? [];
    // Before the body is read: what is malformed or too old costs nothing.
    if (signature === "") return rejected("malformed");
    if (Math.abs(call.now - Number(time)) > FIVE_MINUTES_MS) return rejected("expired", "The signature is too old.");
    const good = createHmac("sha256", key.reveal())
      .update(`${time}.`)
      .update(await call.octets())
      .digest("hex");
    return new Secret(good).equals(signature) ? accepted(shop) : rejected("forged");
  },
};

const event = defineResource({
  name: "event",
  fields: { kind: text({ maxLength: 100 }), order: text({ maxLength: 100 }) },
});
const service = await createService({
  store: sqliteStore({ path: process.env["DATABASE"] ?? ":memory:" }),
  schemes: [scheme],
  // A repeat with the same Idempotency-Key is written once.
  mounts: [mount(event, { permission: { create: authenticated } })],
});
console.log((await listen(service, { port: Number(process.env["PORT"] ?? 8000) })).url);
