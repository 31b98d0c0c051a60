import {
  defineEndpoint,
  problem,
  type Endpoint,
  type ProblemCode,
  catalogue,
  docsPage,
  problemIndexPage,
  problemPage,
  type Reply,
} from "../index.ts";
import { ifNoneMatch, notModified, objectSchema, textSchema, type Documentation } from "./descriptions.ts";
import type { Parts } from "./parts.ts";

/** What the process tells of its own state. */
export interface Readiness {
  /** The process has been told to stop. */
  readonly stopping: boolean;
}

/** The endpoints that authenticate nobody: health, keys, documentation. Credentials sent to them are not looked at. */
export function systemEndpoints(
  parts: Parts,
  readiness: Readiness,
  openapi: () => Promise<unknown>,
): readonly Endpoint[] {
  const open = { method: "GET", access: "open", query: "ignored" } as const;
  const page = (html: string, policy: string): Reply => ({
    status: 200,
    cache: "public",
    maxAgeSeconds: 300,
    contentSecurityPolicy: policy,
    body: { kind: "raw", type: "text/html; charset=utf-8", content: html },
  });
  const document = (content: string, type = "application/json", maxAgeSeconds = 300): Reply => ({
    status: 200,
    cache: "public",
    maxAgeSeconds,
    body: { kind: "raw", type, content },
  });
  const state = (status: string): Reply => ({
    status: 200,
    cache: "no-store",
    body: { kind: "data", value: { status }, element: "health" },
  });
  const { settings } = parts;
  let written: string | null = null;
  return [
    defineEndpoint({ ...open, path: "/livez", ...health("Whether the process runs"), handle: () => state("ok") }),
    defineEndpoint({
      ...open,
      path: "/readyz",
      ...health("Whether requests can be answered"),
      async handle() {
        if (readiness.stopping)
          throw problem("unavailable", { detail: "The process is stopping.", headers: [["Retry-After", "1"]] });
        await parts.store.check();
        return state("ok");
      },
    }),
    defineEndpoint({
      ...open,
      path: "/.well-known/jwks.json",
      produces: "application/json",
      ...kept("The public keys of access tokens (RFC 7517)", {
        type: "object",
        properties: { keys: { type: "array", items: { type: "object" } } },
        required: ["keys"],
      }),
      handle: () => document(JSON.stringify(parts.keys.jwks())),
    }),
    defineEndpoint({
      ...open,
      path: "/openapi.json",
      produces: "application/json",
      ...kept("This API, as OpenAPI 3.1", { type: "object" }),
      handle: async () => document((written ??= JSON.stringify(await openapi()))),
    }),
    defineEndpoint({
      ...open,
      path: "/docs",
      produces: "text/html",
      ...kept("This API, as a page", textSchema),
      async handle() {
        const { html, policy } = await docsPage(settings.basePath);
        return page(html, policy);
      },
    }),
    defineEndpoint({
      ...open,
      path: "/problems",
      produces: "text/html",
      ...kept("Every problem there is", textSchema),
      handle() {
        const { html, policy } = problemIndexPage(settings.basePath);
        return page(html, policy);
      },
    }),
    defineEndpoint({
      ...open,
      path: "/problems/{code:text}",
      produces: "text/html",
      ...kept("What a problem means and what to do about it", textSchema),
      handle({ params }) {
        const code = params["code"] as string;
        if (!isCode(code)) throw problem("not_found");
        const { html, policy } = problemPage(code, settings.basePath);
        return page(html, policy);
      },
    }),
  ];
}

type Described = { readonly documentation: Documentation };

function health(summary: string): Described {
  return {
    documentation: {
      summary,
      tag: "system",
      responses: { 200: { description: "It is so.", schema: objectSchema("health", { status: textSchema }) } },
    },
  };
}

/** What anyone may read and any cache may keep. */
function kept(summary: string, schema: Readonly<Record<string, unknown>>): Described {
  const responses = {
    200: { description: `${summary}.`, schema, headers: { ETag: "Of the present state." } },
    304: notModified,
  };
  return { documentation: { summary, tag: "system", parameters: [ifNoneMatch], responses } };
}

function isCode(text: string): text is ProblemCode {
  return Object.hasOwn(catalogue, text);
}
