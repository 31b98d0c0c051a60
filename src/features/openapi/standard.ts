import type { Catalogue } from "../../core/problem/definition.ts";
import { ref, type JSONObject } from "./json.ts";

const pointer = { type: "string", description: "A JSON Pointer (RFC 6901)." };

/** The schema of every problem of a service, with the codes of its catalogue. */
export function problemSchema(catalogue: Catalogue): JSONObject {
  return {
    type: "object",
    description: "Why a request failed (RFC 9457).",
    xml: { name: "problem", namespace: "urn:ietf:rfc:7807" },
    properties: {
      type: { type: "string", format: "uri-reference", description: "The address of a page that explains the code." },
      title: { type: "string", description: "The same for every occurrence of the code." },
      status: { type: "integer", minimum: 400, maximum: 599 },
      detail: { type: "string", description: "What went wrong this time, for people." },
      code: { type: "string", enum: Object.keys(catalogue), description: "What went wrong, for programs." },
      request_id: {
        type: "string",
        description: "The request in the service's log; the `X-Request-Id` of the answer.",
      },
      errors: {
        type: "array",
        description: "Each field or query parameter that is wrong.",
        items: ref("schemas", "ProblemIssue"),
        xml: { name: "errors", wrapped: true },
      },
    },
    required: ["type", "title", "status", "detail", "code", "request_id"],
  };
}

/** Schemas that belong to no resource. */
export const standardSchemas: Readonly<Record<"ProblemIssue" | "JSONPatch", JSONObject>> = {
  ProblemIssue: {
    type: "object",
    xml: { name: "i" },
    properties: {
      pointer: {
        type: "string",
        description: "A JSON Pointer (RFC 6901) into the body, or `?name` for a query parameter.",
      },
      code: { type: "string", description: "What is wrong, for programs." },
      detail: { type: "string", description: "What is wrong, for people." },
    },
    required: ["pointer", "code", "detail"],
  },
  JSONPatch: {
    type: "array",
    description: "A JSON Patch (RFC 6902): all of it is applied, or nothing.",
    maxItems: 1000,
    items: {
      oneOf: [
        {
          type: "object",
          properties: { op: { type: "string", enum: ["add", "replace", "test"] }, path: pointer, value: {} },
          required: ["op", "path", "value"],
        },
        {
          type: "object",
          properties: { op: { type: "string", const: "remove" }, path: pointer },
          required: ["op", "path"],
        },
        {
          type: "object",
          properties: { op: { type: "string", enum: ["move", "copy"] }, from: pointer, path: pointer },
          required: ["op", "from", "path"],
        },
      ],
    },
  },
};
