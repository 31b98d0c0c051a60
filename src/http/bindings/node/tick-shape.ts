import { executionAsyncResource } from "node:async_hooks";

/** One object of `process.nextTick`. Never read: V8 keeps the shape of its objects as long as one of them exists. */
const ticks = new Set<object>();

/**
 * Keeps `process.nextTick` fast after a garbage collection. Each request calls it several times, and each call makes an
 * object. If a collection finds none of these objects, V8 forgets their shape. Each later call then takes a slow path
 * for as long as the process runs, and reading one record takes a tenth more CPU time.
 */
export function keepTickShape(): void {
  // Bun would open stdin for `executionAsyncResource`, and it has another engine.
  if (process.versions["bun"] !== undefined) return;
  if (ticks.size === 0) process.nextTick(() => ticks.size === 0 && ticks.add(executionAsyncResource()));
}
