import { anyone } from "../../access/permission/permission.ts";
import { alike, type Arrival } from "../../core/call/call.ts";
import { problem } from "../../core/problem/problem.ts";
import type { ServiceFacts } from "../../feature/feature.ts";
import { belowBasePath } from "../../http/base-path.ts";
import { textSchema, type JSONSchema } from "../../http/declarations/documentation.ts";
import { builtInEndpoint, type Endpoint } from "../../http/declarations/endpoint.ts";
import { defineResponse } from "../../http/declarations/response.ts";
import type { WholeExplanation } from "../../http/explaining.ts";
import { invalid, type Context } from "../../http/request/exchange.ts";
import { integer, text } from "../../resource/kinds/fields.ts";

/** The page that explains a response: `/console/why?of=/orders/1`. */
export const WHY_PATH = "/console/why";

/** The response that the caller would get for a `GET`, and the reasons. */
export interface Why extends Pick<WholeExplanation, "outcome" | "schemes" | "route" | "permission"> {
  /** The explained address, with the base path. */
  readonly of: string;
  readonly because: string;
  readonly status: number;
  /** Its header fields, in order. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

/**
 * Explains to callers their own responses: the result of each scheme, the decision of the permission, and the response.
 * A request with a wrong credential is refused earlier and counted, so credentials cannot be tried here.
 */
export function whyEndpoint(facts: () => ServiceFacts, basePath: string): Endpoint {
  // Requests that are part of an explanation are not explained again, to avoid endless recursion.
  const inner = new WeakSet<Arrival>();
  return builtInEndpoint({
    method: "GET",
    path: WHY_PATH,
    access: anyone,
    query: "read",
    documentation: {
      summary: "Explain a response to its caller",
      tag: "system",
      parameters: [
        { name: "of", in: "query", required: true, description: "The address to explain.", schema: textSchema },
      ],
      responses: { 200: { description: "The result of each step." } },
      problems: ["invalid_query", "not_found"],
    },
    responses: { 200: explanation },
    async handle(context) {
      if (inner.has(context.call.arrival)) throw problem("not_found");
      const of = requireTarget(context, basePath);
      const headRequest = alike(context.call.arrival, { method: "HEAD", target: of });
      const explainedRequest = alike(headRequest, { method: "GET", target: of.replace(/\?.*$/s, "") });
      inner.add(headRequest);
      const [explained, answer] = [await facts().explain(explainedRequest), await facts().respond(headRequest)];
      const { outcome, why: because, schemes, route, permission } = explained;
      const value: Why = {
        of,
        outcome,
        because,
        schemes: schemes.map(withoutReason),
        route,
        permission,
        status: answer.status,
        headers: collectHeaders(answer.headers),
      };
      return explanation.reply(200, value, { cache: "no-store" });
    },
  });
}

const objects: JSONSchema = { type: "array", items: { type: "object" } };
const someObject: JSONSchema = { type: ["object", "null"] };
const explanation = defineResponse({
  name: "why",
  fields: {
    of: text(),
    outcome: text(),
    because: text(),
    schemes: objects,
    route: text({ optional: true }),
    permission: someObject,
    status: integer(),
    headers: objects,
  },
});

function requireTarget(context: Context, basePath: string): string {
  const parameters = context.parameters();
  const [[name, of] = ["", ""]] = parameters;
  const isPath = /^\/(?!\/)[\x21-\x7e]*$/.test(of) && !of.includes("#") && belowBasePath(of, basePath) !== null;
  if (parameters.length === 1 && name === "of" && isPath) return of;
  throw invalid([{ pointer: "?of", code: "invalid", detail: "A path of this service is required, like /orders/1." }]);
}

/** Removes the reason of a rejection. Only administrators may see it. They request it with a separate header field. */
function withoutReason({ reason: _reason, ...scheme }: Why["schemes"][number]): Why["schemes"][number] {
  return scheme;
}

function collectHeaders(headers: readonly string[]): Why["headers"] {
  const pairs = headers.flatMap((name, at) => (at % 2 === 0 ? [{ name, value: headers[at + 1]! }] : []));
  return pairs.filter(({ name }) => !/^set-cookie$/i.test(name));
}
