import assert from "node:assert/strict";
import { test } from "node:test";
import type { TraceContext } from "../../src/door/http.ts";
import { makeLog, type Observation, type Tracer } from "../../src/door/ops.ts";
import { ownService } from "../harness/own-service.ts";
import { serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: the header fields of a trace do not reach the store.

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** Returns the log line of each observation. */
function logged(observed: readonly Observation[]): readonly Record<string, unknown>[] {
  let text = "";
  const log = makeLog("info", (more) => (text += more))!;
  for (const each of observed) log.observe(each);
  log.flush();
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

for (const binding of ["fetch", "node"] as const) {
  test(`logs the caller's trace, and passes it to the handler (${binding})`, async (t) => {
    const seen: (TraceContext | null)[] = [];
    const api = await serve(t, {
      binding,
      config: {
        endpoints: [
          {
            method: "GET",
            path: "/traced",
            access: "open",
            handle({ call }) {
              seen.push(call.trace);
              return { status: 204 };
            },
          },
        ],
      },
    });

    await api.get("/traced", { traceparent, tracestate: "congo=t61rcWkgMzE" });
    await api.get("/traced");
    const [traced, untraced] = logged(api.observed).filter(({ path }) => path === "/traced");

    assert.equal(traced!["trace_id"], "0af7651916cd43dd8448eb211c80319c");
    assert.equal(traced!["parent_id"], "b7ad6b7169203331");
    assert.equal("trace_id" in untraced!, false);
    assert.equal(seen[0]?.traceparent, traceparent);
    assert.equal(seen[0]?.tracestate, "congo=t61rcWkgMzE");
    assert.equal(seen[1], null);
  });
}

test("ignores a malformed or duplicate traceparent, and answers the request", async (t) => {
  const api = await serve(t, { binding: "fetch" });

  for (const bad of ["", "00-what", `${traceparent}, ${traceparent}`, "x".repeat(4000)]) {
    const { status } = await api.get("/livez", { traceparent: bad, tracestate: "a=1" });

    assert.equal(status, 200, bad);
  }

  assert.ok(logged(api.observed).every((line) => !("trace_id" in line)));
});

for (const [what, request] of [
  ["throws before the work", () => raise()],
  ["throws after the work", (_: object, work: () => unknown) => (work(), raise())],
  ["returns nothing and does no work", () => undefined],
  ["does the work and returns nothing", (_: object, work: () => unknown) => void work()],
  ["does the work twice", (_: object, work: () => unknown) => (work(), work())],
  ["returns a promise that fails", async () => raise()],
] as const)
  test(`answers a request exactly once if its tracer ${what}`, async (t) => {
    const tracer = { request, part: (_: string, __: object, work: () => unknown) => work(), observe: () => undefined };
    const { get, observed } = await ownService(t, { tracer: tracer as unknown as Tracer });

    assert.equal((await get("/nowhere")).status, 404);
    assert.equal(observed.filter(({ kind }) => kind === "request").length, 1);
    const faults = observed.flatMap((each) => (each.kind === "fault" ? [String(each.error)] : []));
    assert.deepEqual(faults, /throws|fails/.test(what) ? ["Error: The tracer fails."] : []);
  });

function raise(): never {
  throw new Error("The tracer fails.");
}
