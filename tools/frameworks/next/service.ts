import type { Service } from "latchkey";
import { startService } from "../service.ts";

// The first request opens the database, because `next build` loads this file too. The service is global, because
// `next dev` loads this file again after every change.
const cache = globalThis as { service?: Promise<Service> };

export function getService(): Promise<Service> {
  return (cache.service ??= startService({ trustedProxies: ["127.0.0.1"] }));
}
