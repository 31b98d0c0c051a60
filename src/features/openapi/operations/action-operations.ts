import type { ServedAction } from "../../../http/declarations/action.ts";
import { exampleDraft, exampleRecord } from "../examples.ts";
import { answerHeaders } from "../headers.ts";
import { ref, type JSONObject } from "../json.ts";
import { buildContent, mediaTypeObject } from "../media.ts";
import { pascalCase } from "../names.ts";
import { draftSchema, recordSchema } from "../schemas.ts";
import type { Description } from "./operation.ts";
import { shared } from "./parameters.ts";
import {
  exampleWithId,
  ifMatch,
  notModified,
  problemsOfChanges,
  problemsOfState,
  type OperationSubject,
} from "./resource-operations.ts";

/** Returns the method and the path of an action: `POST /orders/{id}/cancel`. */
export function formatPlace({ mount }: OperationSubject, { method, on, name }: ServedAction): string {
  const { path } = mount.resource;
  return `${method} ${on === "record" ? `${path}/{id}` : path}/${name}`;
}

function camelCase(name: string): string {
  const written = pascalCase(name);
  return written.slice(0, 1).toLowerCase() + written.slice(1);
}

/** Describes an action. */
export function describeServedAction(subject: OperationSubject, action: ServedAction): Description {
  const { name, on, method, description, problems, body } = action;
  const about = on === "record" ? subject.one : subject.many;
  const words = name.replaceAll(/[-_]/g, " ");
  const isSafe = method === "GET";
  return {
    operationId: `${camelCase(name)}${about.written}`,
    tag: subject.tag,
    summary: description ?? `${words.slice(0, 1).toUpperCase()}${words.slice(1)}: ${about.phrase}`,
    parameters: isSafe
      ? shared("IfNoneMatch")
      : [...(on === "record" ? [ifMatch(subject)] : []), ...shared("IdempotencyKey", "PreferReturn")],
    request: (mediaType) => mediaTypeObject(mediaType, draftSchema(body), exampleDraft(body)),
    responses: buildResponses(subject, action),
    problems: [
      ...(isSafe
        ? []
        : ([
            ...problemsOfChanges,
            "conflict",
            "idempotency_mismatch",
            "too_many_repeats",
            ...problemsOfState(subject),
          ] as const)),
      ...problems,
    ],
  };
}

function buildResponses(
  subject: OperationSubject,
  { answer, method }: ServedAction,
): Readonly<Record<string, JSONObject>> {
  const able = subject.formats.filter(({ shows }) => shows !== "lists");
  const repeated = method === "GET" ? [] : (["IdempotencyReplayed"] as const);
  if (answer === "nothing") return { 204: { description: "Done.", headers: answerHeaders(...repeated) } };
  const headers = answerHeaders("ETag", ...repeated, ...(method === "GET" ? [] : (["PreferenceApplied"] as const)));
  if (answer !== "record") {
    const shown = buildContent(able, { ...recordSchema(answer), additionalProperties: false }, exampleRecord(answer));
    const done = {
      description: "Done.",
      headers: answerHeaders(...(method === "GET" ? (["ETag"] as const) : repeated)),
      content: shown,
    };
    return method === "GET" ? { 200: done, 304: notModified } : { 200: done };
  }
  const schema = ref("schemas", subject.names.record);
  return {
    200: {
      description: "Done. The current record.",
      headers,
      content: buildContent(able, schema, exampleWithId(subject.mount.resource)),
    },
    204: {
      description: "Done. The record is left out, because the caller prefers that or the record was deleted.",
      headers,
    },
  };
}
