import type { Reply } from "../../core/call/call.ts";
import { requireOptions } from "../../core/checking/options.ts";
import { pageAsset, pageStyle, type Look } from "../../core/html/look.ts";
import type { Page } from "../../core/html/page.ts";
import { catalogueWith } from "../../core/problem/catalogue.ts";
import { problem } from "../../core/problem/problem.ts";
import { defineFeature, type Feature } from "../../feature/feature.ts";
import { contentTag } from "../../http/answer/writing.ts";
import { ifNoneMatch, notModified, textSchema, type JSONSchema } from "../../http/declarations/documentation.ts";
import { builtInEndpoint, type Endpoint, type EndpointDocumentation } from "../../http/declarations/endpoint.ts";
import { buildDocs, writtenDocument } from "./on-demand.ts";
import { titleChecks, type DocumentationOptions } from "./options.ts";
import { problemIndexPage, problemPage } from "./problem-pages.ts";

export type { DocumentationOptions } from "./options.ts";

const MAX_AGE_SECONDS = 300;
const YEAR_SECONDS = 365 * 86_400;

/** The login page, in services that have it. */
const SESSION = "/api/session/";
/** The endpoint that names the caller, if there is one. */
const ROOT = "/";

/**
 * Serves `/openapi.json` (OpenAPI 3.1), the same document as pages at `/docs`, and a page for each problem at
 * `/problems`. They need no authentication.
 *
 * @example
 * ```ts
 * import { documentation } from "latchkey/features";
 *
 * export const features = [documentation({ title: "Bookshop", version: "1" })];
 * ```
 */
export function documentation(options: DocumentationOptions): Feature<null> {
  return defineFeature({
    name: "documentation",
    setUp(host) {
      requireOptions(options, titleChecks);
      const { basePath } = host;
      const look = (): Look => host.service().look ?? { title: options.title, style: pageStyle() };
      const has = (path: string) =>
        host.service().endpoints.some((each) => each.path === path && each.method === "GET") ? path : null;
      // If no endpoint serves the root, a service with HTML pages lists its other pages there.
      const hasRoot = () =>
        has(ROOT) !== null || host.service().formats.some(({ mediaType }) => mediaType === "text/html");
      const createPageFrame = () => ({ ...look(), basePath, root: hasRoot() });
      const written = madeOnce(async () => {
        const { schemes, mounts, endpoints, formats, xml, tags, problems, asksForFactors } = host.service();
        const parts = { schemes, mounts, endpoints, formats, xml, tags, problems, asksForFactors };
        const { content, document } = await writtenDocument({ ...options, basePath, ...parts });
        return { content, document, tag: contentTag(content) };
      });
      const docs = madeOnce(async () => {
        const { document } = await written();
        return buildDocs({ document, basePath, look: look(), root: hasRoot(), session: has(SESSION), who: has(ROOT) });
      });
      return {
        offer: null,
        tags: { system: "Health, keys and documentation." },
        endpoints: [
          openEndpoint({
            path: "/openapi.json",
            produces: "application/json",
            documentation: of("This API, as OpenAPI 3.1", { type: "object" }),
            async handle() {
              const { content, tag } = await written();
              return { ...raw("application/json", content), tag };
            },
          }),
          openEndpoint({
            path: "/docs",
            produces: "text/html",
            documentation: of("This API, as a page", textSchema),
            handle: async () => shown((await docs()).list()),
          }),
          openEndpoint({
            path: "/docs/{page:text}",
            produces: "text/html",
            documentation: of("One operation with a form to try it, or a style or script of the pages", textSchema),
            async handle({ params }) {
              const name = params["page"] as string;
              return docsAsset(look(), name) ?? shown((await docs()).operation(name) ?? missing());
            },
          }),
          openEndpoint({
            path: "/problems",
            produces: "text/html",
            documentation: of("Every problem of the service", textSchema),
            handle: () => shown(problemIndexPage(catalogueWith(host.service().problems), createPageFrame())),
          }),
          openEndpoint({
            path: "/problems/{code:text}",
            produces: "text/html",
            documentation: of("The meaning of a problem, and its solution", textSchema),
            handle({ params }) {
              const code = params["code"] as string;
              const catalogue = catalogueWith(host.service().problems);
              if (!Object.hasOwn(catalogue, code)) throw problem("not_found");
              return shown(problemPage(code, catalogue[code]!, createPageFrame()));
            },
          }),
        ],
      };
    },
  });
}

/**
 * Calls `make` on the first request and keeps the result. Other requests wait for it. After a failure, the next request
 * tries again.
 */
function madeOnce<T>(make: () => Promise<T>): () => Promise<T> {
  let making: Promise<T> | null = null;
  return () =>
    (making ??= make().catch((error: unknown) => {
      making = null;
      throw error;
    }));
}

/**
 * Returns the style or script of the pages. A new content has a new name, so that caches may keep each file for a year.
 */
function docsAsset({ style }: Look, name: string): Reply | null {
  const others = (["developerStyle", "script", "developer"] as const).map(pageAsset);
  const found = [style, ...others].find((each) => each.name === name);
  if (found === undefined) return null;
  const { type, text: content } = found;
  return { status: 200, cache: "public", maxAgeSeconds: YEAR_SECONDS, body: { kind: "raw", type, content } };
}

function missing(): never {
  throw problem("not_found");
}

/** Declares an endpoint that ignores credentials and the query. */
function openEndpoint(endpoint: Omit<Endpoint, "method" | "access" | "query">): Endpoint {
  return builtInEndpoint({ ...endpoint, method: "GET", access: "open", query: "ignored" });
}

function shown({ html, policy }: Page): Reply {
  return { ...raw("text/html; charset=utf-8", html), contentSecurityPolicy: policy };
}

/** Returns a reply that every caller may read and every cache may keep. */
function raw(type: string, content: string | Uint8Array): Reply {
  return { status: 200, cache: "public", maxAgeSeconds: MAX_AGE_SECONDS, body: { kind: "raw", type, content } };
}

function of(summary: string, schema: JSONSchema): EndpointDocumentation {
  const responses = {
    200: { description: `${summary}.`, schema, headers: { ETag: "The tag of the current state." } },
    304: notModified,
  };
  return { summary, tag: "system", parameters: [ifNoneMatch], responses };
}
