import type { Service } from "latchkey";
import { startService } from "../service.ts";

// `next build` loads this file too, so the first request opens the database. `next dev` loads it at every change.
const cache = globalThis as { service?: Promise<Service> };

export function getService(): Promise<Service> {
  return (cache.service ??= startService({ trustedProxies: ["127.0.0.1"] }));
}
