import type { JSONObject } from "./json.ts";

const pointer = { type: "string", description: "A JSON Pointer (RFC 6901)." };

/** The schemas that belong to no resource. */
export const standardSchemas: Readonly<Record<"ProblemIssue" | "JSONPatch", JSONObject>> = {
  ProblemIssue: {
    type: "object",
    xml: { name: "i" },
    properties: {
      pointer: {
        type: "string",
        description: "A JSON Pointer (RFC 6901) into the body, or `?name` for a query parameter.",
      },
      code: { type: "string", description: "The kind of the mistake, for programs." },
      detail: { type: "string", description: "The mistake, for people." },
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
