import type { AnyProblem } from "../../core/problem/catalogue.ts";
import type { ServedMount, ResourceAction } from "../../http/declarations/mount.ts";
import { expandableNames } from "../../http/declarations/relations.ts";
import { MAX_EXPANDED_RECORDS } from "../../http/mount/reads/expand/expanded.ts";
import type { Format } from "../../http/request/format.ts";
import type { Resource } from "../../resource/resource.ts";
import { ref, type JSONObject } from "./json.ts";
import { pascalCase } from "./names.ts";
import { describeServedAction, formatPlace } from "./operations/action-operations.ts";
import type { Description } from "./operations/operation.ts";
import { conditionSchema, querySchema } from "./operations/query-operation.ts";
import {
  describeAction,
  describeChanges,
  describeQuery,
  type SchemaNames,
  type OperationSubject,
} from "./operations/resource-operations.ts";
import { draftSchema, idSchema, idSchemas, patchSchema, recordSchema } from "./schemas.ts";

/** The description of one mounted resource. */
export interface DescribedResource {
  readonly tag: JSONObject;
  readonly schemas: Readonly<Record<string, JSONObject>>;
  /** The operations by method and path, as in `GET /users`. */
  readonly operations: ReadonlyMap<string, Description>;
}

/** Describes a mounted resource. `allNames` has the schema names of all mounts. */
export function describeMount(
  mount: ServedMount,
  formats: readonly Format[],
  allNames: ReadonlyMap<Resource, SchemaNames>,
): DescribedResource {
  const { resource, permissions } = mount;
  const names = allNames.get(resource)!;
  const outer = [...formatVersion(mount), ...(resource.within === null ? [] : lineage(resource.within))];
  const tag = words([...outer, resource.plural].join(" "));
  const subject: OperationSubject = {
    mount,
    formats,
    names,
    tag,
    one: { phrase: words(resource.name), written: pascalCase(...outer, resource.name) },
    many: { phrase: words(resource.plural), written: pascalCase(...outer, resource.plural) },
  };
  const offered = Object.entries(places(resource)).filter(
    ([action]) => permissions[action as ResourceAction] !== undefined,
  );
  return {
    tag: { name: tag, description: resource.description ?? `All ${tag}.` },
    schemas: buildSchemas(mount, names, allNames),
    operations: new Map([
      ...offered.map(([action, place]) => [place, describeOffer(subject, action as ResourceAction)] as const),
      ...(permissions.list === undefined ? [] : [[`QUERY ${resource.path}`, describeQuery(subject)] as const]),
      ...(mount.arrays && permissions.update !== undefined
        ? [[`PATCH ${resource.path}`, describeChanges(subject)] as const]
        : []),
      ...mount.actions.map((action) => [formatPlace(subject, action), describeServedAction(subject, action)] as const),
    ]),
  };
}

/** Returns the problems that a mount names, in the order of its endpoints. */
export function collectProblems({ resource, permissions, problems, actions }: ServedMount): readonly AnyProblem[] {
  const offered = Object.keys(places(resource)).filter((each) => permissions[each as ResourceAction] !== undefined);
  return [
    ...offered.flatMap((each) => problems[each as ResourceAction] ?? []),
    ...actions.flatMap((each) => each.problems),
  ];
}

function describeOffer(subject: OperationSubject, action: ResourceAction): Description {
  const description = describeAction[action](subject);
  return { ...description, problems: [...description.problems, ...(subject.mount.problems[action] ?? [])] };
}

/** Returns the paths of a mount's endpoints. */
function places({ path }: Resource): Readonly<Record<ResourceAction, string>> {
  const one = `${path}/{id}`;
  return {
    list: `GET ${path}`,
    create: `POST ${path}`,
    read: `GET ${one}`,
    replace: `PUT ${one}`,
    update: `PATCH ${one}`,
    delete: `DELETE ${one}`,
  };
}

/** Returns the schema names of a resource. `takeName` makes them unique. */
export function schemaNames(
  { resource, older }: Pick<ServedMount, "resource" | "older">,
  takeName: (wanted: string) => string,
): SchemaNames {
  const record = takeName(pascalCase(...formatVersion({ older }), ...lineage(resource)));
  return {
    record,
    list: takeName(`${record}List`),
    query: takeName(`${record}Query`),
    condition: takeName(`${record}Condition`),
    draft: takeName(`${record}Draft`),
    patch: takeName(`${record}Patch`),
    change: takeName(`${record}Change`),
  };
}

function buildSchemas(
  { resource, relations }: ServedMount,
  names: SchemaNames,
  allNames: ReadonlyMap<Resource, SchemaNames>,
): Readonly<Record<string, JSONObject>> {
  const { required, properties, ...rest } = withId(recordSchema(resource), idSchema(resource));
  const relationSchemas = relations.map((each) => buildRelationSchemas(each, allNames.get(each.to.resource)!));
  const record = { ...rest, properties: Object.assign({}, properties, ...relationSchemas) as JSONObject };
  const repeated = {
    ...idSchema(resource),
    description: "Set by the service; if it is in the path, the body may repeat it.",
  };
  return {
    [names.record]: { ...record, required: ["id", ...(required as string[])] },
    [names.list]: {
      type: "array",
      maxItems: resource.pageSize.maximum,
      items: ref("schemas", names.record),
      xml: { name: resource.plural, wrapped: true },
    },
    [names.query]: querySchema(resource, names.condition, expandableNames({ relations })),
    [names.condition]: conditionSchema(resource, names.condition),
    [names.draft]: withId(draftSchema(resource), repeated),
    [names.patch]: withId(patchSchema(resource), repeated),
    [names.change]: changeSchema(resource),
  };
}

/** Returns the schema of a change of one record in an array. */
function changeSchema(resource: Resource): JSONObject {
  const { properties, ...patch } = patchSchema(resource);
  const tag = { type: "string", minLength: 1, description: "The expected state, like `If-Match`." };
  const id = { ...idSchemas[resource.id], description: "The id of the record that is changed." };
  return { ...patch, properties: { id, if_match: tag, ...(properties as JSONObject) }, required: ["id"] };
}

/** Returns the schemas of the members that `?expand=` adds to a record. */
function buildRelationSchemas(
  { name, kind, column }: ServedMount["relations"][number],
  names: SchemaNames,
): JSONObject {
  const introduction = `Only if \`?expand=${name}\` asks for it:`;
  if (kind === "one")
    return {
      [name]: {
        anyOf: [ref("schemas", names.record), { type: "null" }],
        description: `${introduction} the record that \`${column}\` refers to, if the caller may read it.`,
      },
    };
  if (kind === "several")
    return {
      [name]: {
        type: "array",
        items: ref("schemas", names.record),
        description: `${introduction} the records that \`${column}\` names, in its order, if the caller may read them.`,
        xml: { wrapped: true },
      },
    };
  return {
    [name]: {
      type: "array",
      maxItems: MAX_EXPANDED_RECORDS,
      items: ref("schemas", names.record),
      description: `${introduction} the first by id, if the caller may read them.`,
      xml: { wrapped: true },
    },
    [`${name}_next`]: { type: "string", description: `The path of the remaining ${name}, if there are any.` },
  };
}

function withId(schema: JSONObject, id: JSONObject): JSONObject {
  return { ...schema, properties: { id, ...(schema["properties"] as JSONObject) } };
}

/** Returns the version of an older shape: `v1`. */
function formatVersion({ older }: Pick<ServedMount, "older">): readonly string[] {
  return older === null ? [] : [older.prefix.slice(1).replaceAll("/", " ")];
}

/** Returns the names of a resource and its parents, outermost first. */
function lineage({ within, name }: Resource): readonly string[] {
  return within === null ? [name] : [...lineage(within), name];
}

function words(name: string): string {
  return name.replaceAll(/[_-]/g, " ");
}
