import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from "@opentelemetry/sdk-trace-base";
import { openTelemetry } from "../../src/door/ops.ts";
import { createLatchkey, type Latchkey } from "../../src/service/latchkey.ts";
import { readSettings } from "../../src/service/settings/settings.ts";

const password = "of the one who is followed";
const exporter = new InMemorySpanExporter();
let service: Latchkey;

before(async () => {
  assert.equal(await openTelemetry(), null, "there is an API and no SDK");
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  const settings = readSettings({
    LATCHKEY_DATABASE: "sqlite::memory:",
    LATCHKEY_ADMIN_PASSWORD: password,
  });
  service = await createLatchkey({ settings, tracer: await openTelemetry() });
});

after(() => service.close());

/** Sends a request within a caller's span. Returns the response and the spans of its trace. */
async function ask(method: string, target: string, traceId: string, options: RequestInit = {}) {
  const headers = { ...options.headers, traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  const answer = await service.fetch(new Request(`http://localhost${target}`, { ...options, method, headers }), {
    peer: "127.0.0.1",
  });
  const text = await answer.text();
  const spans = exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === traceId);
  return { status: answer.status, text, spans };
}

function login(traceId: string, usedPassword = password): ReturnType<typeof ask> {
  return ask("POST", "/api/token/", traceId, {
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password: usedPassword }),
  });
}

const formatTraceId = (at: number): string => `${at + 1}`.padStart(32, "a");

function requireRequestSpan(spans: readonly ReadableSpan[]): ReadableSpan {
  const [request, ...more] = spans.filter(({ attributes }) => "http.request.method" in attributes);
  assert.ok(request !== undefined);
  assert.equal(more.length, 0);
  return request;
}

test("records a login under the caller's span, with spans for the store reads and the hash", async () => {
  const { status, text, spans } = await login(formatTraceId(1));

  const request = requireRequestSpan(spans);
  const names = new Set(spans.map(({ name }) => name));
  assert.equal(status, 200);
  assert.equal(request.name, "POST /api/token/");
  assert.equal(request.parentSpanContext?.spanId, "00f067aa0ba902b7");
  assert.equal(request.attributes["http.response.status_code"], 200);
  for (const name of ["hash", "store findBy", "store write"])
    assert.ok(names.has(name), `${name}: ${[...names].join()}`);
  const spanIds = new Set(spans.map((span) => span.spanContext().spanId));
  for (const span of spans) if (span !== request) assert.ok(spanIds.has(span.parentSpanContext!.spanId), span.name);
  const { access } = JSON.parse(text) as { readonly access: string };
  const spanText = JSON.stringify(spans.map(({ name, attributes, events }) => ({ name, attributes, events })));
  assert.doesNotMatch(spanText, new RegExp(`${password}|${access}`));
});

test("records spans for the permission and the store read if a caller reads a user", async () => {
  const { text } = await login(formatTraceId(2));
  const { access } = JSON.parse(text) as { readonly access: string };

  const { spans } = await ask("GET", "/users/1", formatTraceId(3), { headers: { authorization: `Bearer ${access}` } });

  const request = requireRequestSpan(spans);
  assert.equal(request.name, "GET /users/{id}");
  assert.equal(request.attributes["user.id"], "1");
  assert.ok(spans.some(({ name }) => name === "permission"));
  assert.ok(
    spans.some(({ name, attributes }) => name === "store find" && attributes["db.collection.name"] === "users"),
  );
});

test("records spans without an error for a refused request, with the reason", async () => {
  const { status, spans } = await ask("GET", "/users", formatTraceId(4));

  const permission = spans.find(({ name }) => name === "permission")!;
  assert.equal(status, 401);
  assert.equal(permission.attributes["error.type"], "not_authenticated");
  assert.deepEqual(
    spans.filter((span) => span.status.code === SpanStatusCode.ERROR),
    [],
  );
});

test("records the spans of concurrent requests in separate traces, also if the requests wait for each other", async () => {
  const logins = Array.from({ length: 12 }, (_, at) =>
    login(formatTraceId(100 + at), at % 3 === 0 ? "wrong" : password),
  );
  await Promise.all(logins);

  for (let at = 0; at < 12; at++) {
    const spans = exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === formatTraceId(100 + at));
    requireRequestSpan(spans);
    assert.equal(spans.filter(({ name }) => name === "hash").length, 1, String(at));
  }
});

test("returns no tracer if @opentelemetry/api is not installed", () => {
  const program = `
    import { registerHooks } from "node:module";
    registerHooks({ resolve(name, context, next) {
      if (name === "@opentelemetry/api") throw Object.assign(new Error("no such package"), { code: "ERR_MODULE_NOT_FOUND" });
      return next(name, context);
    } });
    const { openTelemetry } = await import(${JSON.stringify(pathToFileURL(path.join(import.meta.dirname, "../../src/features/ops/tracing.ts")).href)});
    console.log(await openTelemetry());
  `;
  const said = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });

  assert.equal(said, "null\n");
});
