import type { Service } from "latchkey";
import { startService } from "../service.ts";

// `next build` loads this file too, so the database is opened by the first request; `next dev` loads it at every change.
const kept = globalThis as { service?: Promise<Service> };

export function serviceOf(): Promise<Service> {
  return (kept.service ??= startService({ trustedProxies: ["127.0.0.1"] }));
}
