import type { ProblemCode } from "../../../core/problem/catalogue.ts";
import type { Mount, ServedMount, ResourceAction } from "../../../http/declarations/mount.ts";
import { expandableNames } from "../../../http/declarations/relations.ts";
import type { Format } from "../../../http/request/format.ts";
import { exampleDraft, examplePatch, exampleRecord } from "../examples.ts";
import { answerHeaders, type HeaderName } from "../headers.ts";
import { ref, type JSONObject } from "../json.ts";
import { buildContent, mediaTypeObject } from "../media.ts";
import type { Description } from "./operation.ts";
import { expandParameters, fieldsParameter, limitParameter, listParameters, MAX_LIMIT, shared } from "./parameters.ts";

/** The names of a resource's schemas: records, lists of them, and request bodies. */
export type SchemaNames = Readonly<
  Record<"record" | "list" | "query" | "condition" | "draft" | "patch" | "change", string>
>;

/** A resource in the form that its operations use. */
export interface OperationSubject {
  readonly mount: ServedMount;
  readonly formats: readonly Format[];
  readonly names: SchemaNames;
  readonly tag: string;
  /**
   * The words for one record (`one`) and for all (`many`), in summaries (`order item`) and in operationIds
   * (`OrderItem`).
   */
  readonly one: { readonly phrase: string; readonly written: string };
  readonly many: { readonly phrase: string; readonly written: string };
}

/** Describes the actions of a mounted resource. */
export const describeAction: Readonly<Record<ResourceAction, (subject: OperationSubject) => Description>> = {
  list: (subject) => ({
    ...described(subject, `list${subject.many.written}`, `List ${subject.many.phrase}`),
    parameters: [
      limitParameter(subject.mount.resource),
      ...shared("cursor"),
      ...listParameters(subject.mount.resource),
      ...expandParameters(expandableNames(subject.mount)),
      ...shared("PreferCount", "IfNoneMatch"),
    ],
    responses: { 200: listed(subject), 304: { ...notModified, headers: answerHeaders(...OF_A_PAGE) } },
  }),
  create: (subject) => ({
    ...described(subject, `create${subject.one.written}`, `Create a new ${subject.one.phrase}`),
    parameters: subject.mount.once === null ? shared("IdempotencyKey", "PreferReturn") : [],
    request: (mediaType) => (subject.mount.arrays ? buildDraftsMedia : buildDraftMedia)(subject, mediaType),
    responses: { 201: created(subject), ...later(subject) },
    problems: [
      "conflict",
      ...(subject.mount.once === null ? (["idempotency_mismatch", "too_many_repeats"] as const) : []),
      ...problemsOfFields(subject),
      ...(subject.mount.deferral?.problems ?? []),
    ],
  }),
  read: (subject) => ({
    ...described(subject, `read${subject.one.written}`, `Read one ${subject.one.phrase}`),
    parameters: [
      fieldsParameter(subject.mount.resource),
      ...expandParameters(expandableNames(subject.mount)),
      ...shared("IfNoneMatch"),
    ],
    responses: { 200: shown(subject, "The record.", "ETag"), 304: notModified },
  }),
  replace: (subject) => ({
    ...described(subject, `replace${subject.one.written}`, `Replace one ${subject.one.phrase}`),
    parameters: [ifMatch(subject), ...shared("IfNothingThere", "PreferReturn")],
    request: (mediaType) => buildDraftMedia(subject, mediaType),
    responses: {
      200: shown(subject, "Replaced.", "ETag", "PreferenceApplied"),
      204: leftOut("Replaced."),
      ...(subject.mount.permissions.create === undefined
        ? {}
        : { 201: shown(subject, "Created under this id.", "Location", "ETag", "PreferenceApplied") }),
    },
    problems: ["conflict", ...problemsOfState(subject), ...problemsOfFields(subject)],
  }),
  update: (subject) => ({
    ...described(subject, `update${subject.one.written}`, `Change one ${subject.one.phrase}`),
    parameters: [ifMatch(subject), ...shared("IdempotencyKey", "PreferReturn")],
    request: (mediaType) => buildPatchMedia(subject, mediaType),
    responses: {
      200: shown(subject, "Changed.", "ETag", "IdempotencyReplayed", "PreferenceApplied"),
      204: leftOut("Changed.", "IdempotencyReplayed"),
    },
    problems: [
      "conflict",
      "invalid_patch",
      "patch_conflict",
      "idempotency_mismatch",
      "too_many_repeats",
      ...problemsOfState(subject),
      ...problemsOfFields(subject),
    ],
  }),
  delete: (subject) => ({
    ...described(subject, `delete${subject.one.written}`, `Delete one ${subject.one.phrase}`),
    parameters: [ifMatch(subject)],
    responses: { 204: { description: `Deleted${unlisted(subject)}.`, headers: answerHeaders() } },
    problems: ["malformed", "conflict", "referenced", ...problemsOfRemoval(subject), ...problemsOfState(subject)],
  }),
};

/**
 * Returns the additional problems of a deletion. A hook may change any table, and an existing table may have more
 * rules.
 */
function problemsOfRemoval({ mount: { resource, beforeWrite } }: OperationSubject): readonly ProblemCode[] {
  return beforeWrite === null && resource.table === null ? [] : ["invalid", "taken"];
}

/** Returns the end of the sentence that names the lists of other records from which this record is removed. */
function unlisted({ mount: { listedBy } }: OperationSubject): string {
  const lists = listedBy.map(({ of, link }) => `${link.field} of ${of.resource.plural}`);
  return lists.length === 0 ? "" : `, and taken out of ${lists.join(" and ")}`;
}

/** Describes `QUERY` of the list. It is offered with every list. */
export function describeQuery(subject: OperationSubject): Description {
  const { parameters: _parameters, ...list } = describeAction.list(subject);
  return {
    ...list,
    operationId: `query${subject.many.written}`,
    summary: `Ask for ${subject.many.phrase}`,
    parameters: shared("cursor", "PreferCount", "IfNoneMatch"),
    request: (mediaType) => mediaTypeObject(mediaType, ref("schemas", subject.names.query), { limit: 10 }),
  };
}

/** Describes PATCH of the collection. It is offered if the mount accepts arrays. */
export function describeChanges(subject: OperationSubject): Description {
  const { names, many, formats } = subject;
  const body = { type: "array", minItems: 1, maxItems: MAX_LIMIT, items: ref("schemas", names.change) };
  const records = { type: "array", maxItems: MAX_LIMIT, items: ref("schemas", names.record) };
  const answered = answerHeaders("IdempotencyReplayed", "PreferenceApplied");
  const able = formats.filter(({ shows }) => shows !== "lists");
  return {
    ...described(subject, `update${many.written}`, `Change several ${many.phrase}`),
    parameters: shared("IdempotencyKey", "PreferReturn"),
    request: (mediaType) => mediaTypeObject(mediaType, body, null),
    responses: {
      200: { description: "All are changed.", headers: answered, content: buildContent(able, records, null) },
      204: { description: "All are changed. The records are left out, as the caller prefers.", headers: answered },
    },
    problems: [
      ...(["not_found", "conflict", "idempotency_mismatch", "too_many_repeats"] as const),
      ...problemsOfState(subject),
      ...problemsOfFields(subject),
    ],
  };
}

function described({ tag }: OperationSubject, operationId: string, summary: string): Omit<Description, "responses"> {
  return { operationId, tag, summary, parameters: [], request: () => ({}), problems: [] };
}

/** Returns the parameter `If-Match`. Some mounts require it. */
export function ifMatch({ mount }: OperationSubject): JSONObject {
  return shared(mount.requireIfMatch ? "RequiredIfMatch" : "IfMatch")[0]!;
}

/** Returns the problems that a precondition can cause. */
export function problemsOfState({ mount }: OperationSubject): readonly ProblemCode[] {
  return mount.requireIfMatch ? ["precondition_failed", "precondition_required"] : ["precondition_failed"];
}

/** The problems of changes that a hook or an action returns. These changes may be in any table. */
export const problemsOfChanges = ["taken", "referenced"] as const satisfies readonly ProblemCode[];

function problemsOfFields({ mount: { resource, beforeWrite, maximum } }: OperationSubject): readonly ProblemCode[] {
  const options = Object.values(resource.fields).map((field) => field.options);
  return [
    ...(beforeWrite === null ? [] : problemsOfChanges),
    ...(maximum === null ? [] : (["too_many"] as const)),
    ...(resource.unique.length > 0 || options.some(({ unique = false }) => unique !== false)
      ? (["taken"] as const)
      : []),
    ...(options.some(({ confidential }) => confidential === true) ? (["insecure_transport"] as const) : []),
  ];
}

const OF_A_PAGE = ["ETag", "Link", "TotalCount", "PreferenceApplied", "AcceptQuery"] as const;

function leftOut(description: string, ...more: readonly HeaderName[]): JSONObject {
  return {
    description: `${description} The record is left out, as the caller prefers.`,
    headers: answerHeaders("ETag", "PreferenceApplied", ...more),
  };
}

export const notModified = { description: "The caller has the current state.", headers: answerHeaders("ETag") };

function shown(subject: OperationSubject, description: string, ...headers: readonly HeaderName[]): JSONObject {
  return answer(subject, description, ref("schemas", subject.names.record), headers);
}

function answer(
  { mount: { resource }, formats }: OperationSubject,
  description: string,
  schema: JSONObject,
  headers: readonly HeaderName[],
): JSONObject {
  const able = formats.filter(({ shows }) => shows !== "lists");
  return {
    description,
    headers: answerHeaders(...headers),
    content: buildContent(able, schema, exampleWithId(resource)),
  };
}

function listed({ mount: { resource }, formats, names }: OperationSubject): JSONObject {
  const example = exampleWithId(resource);
  return {
    description: "One page of the list.",
    headers: answerHeaders(...OF_A_PAGE),
    content: buildContent(formats, ref("schemas", names.list), example === null ? null : [example]),
  };
}

/** The example of RFC 9562, appendix A.6. */
const exampleUUID = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";

/** Returns an example of a record. Returns null if none can be generated. */
export function exampleWithId(resource: Mount["resource"]): JSONObject | null {
  const example = exampleRecord(resource);
  return example === null ? null : { id: resource.id === "uuid" ? exampleUUID : 1, ...example };
}

function created(subject: OperationSubject): JSONObject {
  const { mount, names } = subject;
  const record = ref("schemas", names.record);
  if (mount.once !== null)
    return answer(subject, "Created.", withIssued(mount.once.field, mount.resource, record), ["Location"]);
  const schema = mount.arrays ? { anyOf: [record, { type: "array", maxItems: MAX_LIMIT, items: record }] } : record;
  return answer(subject, "Created.", schema, ["Location", "ETag", "IdempotencyReplayed", "PreferenceApplied"]);
}

/** Returns the schema of a new record with the member that only this response shows. */
function withIssued(field: string, { fields }: Mount["resource"], record: JSONObject): JSONObject {
  const { kind, options } = fields[field]!;
  const { description = "Shown in this response only." } = options;
  return {
    allOf: [record],
    type: "object",
    properties: { [field]: { ...kind.schema, description } },
    required: [field],
  };
}

/**
 * Returns the responses for a mount that does not create a record at once: a later request of the caller creates it.
 */
function later({ mount: { deferral }, formats }: OperationSubject): Readonly<Record<string, JSONObject>> {
  if (deferral === null) return {};
  const able = formats.filter(({ shows }) => shows !== "lists");
  const content = buildContent(able, { type: "object" }, {});
  return {
    202: { description: deferral.description, headers: answerHeaders(), content },
    303: {
      description: "The same for a form of a page: redirects to the next page.",
      headers: answerHeaders("Location"),
    },
  };
}

/** Returns the schema of one record, or of several: either all of them are created, or none. XML has no arrays. */
function buildDraftsMedia(subject: OperationSubject, mediaType: string): JSONObject {
  const one = ref("schemas", subject.names.draft);
  const several = { type: "array", minItems: 1, maxItems: MAX_LIMIT, items: one };
  if (mediaType === "application/xml") return buildDraftMedia(subject, mediaType);
  return mediaTypeObject(mediaType, { anyOf: [one, several] }, exampleDraft(subject.mount.resource));
}

function buildDraftMedia({ mount, names }: OperationSubject, mediaType: string): JSONObject {
  return mediaTypeObject(mediaType, ref("schemas", names.draft), exampleDraft(mount.resource));
}

function buildPatchMedia({ mount, names }: OperationSubject, mediaType: string): JSONObject {
  const patch = examplePatch(mount.resource);
  if (mediaType !== "application/json-patch+json")
    return mediaTypeObject(mediaType, ref("schemas", names.patch), patch);
  const operations = Object.entries(patch ?? {}).map(([name, value]) => ({ op: "replace", path: `/${name}`, value }));
  return mediaTypeObject(mediaType, ref("schemas", "JSONPatch"), operations);
}
