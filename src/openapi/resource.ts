import type { Format } from "../http/formats/format.ts";
import type { Mount, ResourceAction } from "../http/mount/mount.ts";
import type { Resource } from "../resource/resource.ts";
import { describeServedAction, placeOf } from "./action-operations.ts";
import type { JSONObject } from "./json.ts";
import { pascalCase } from "./names.ts";
import type { Description } from "./operation.ts";
import { MAX_LIMIT } from "./parameters.ts";
import { describeAction, wholeOrPart, type SchemaNames, type Subject } from "./resource-operations.ts";
import { draftSchema, idSchema, patchSchema, recordSchema } from "./schemas.ts";

/** What the document says of one mounted resource. */
export interface DescribedResource {
  readonly tag: JSONObject;
  readonly schemas: Readonly<Record<string, JSONObject>>;
  /** By method and path, as in `GET /users`. */
  readonly operations: ReadonlyMap<string, Description>;
}

/** Describes a mounted resource. `takeName` sees to it that no two schemas have one name. */
export function describeMount(
  mount: Mount,
  formats: readonly Format[],
  takeName: (wanted: string) => string,
): DescribedResource {
  const { resource, permissions } = mount;
  const names = schemaNames(resource, takeName);
  const outer = resource.within === null ? [] : lineage(resource.within);
  const tag = words([...outer, resource.plural].join(" "));
  const subject: Subject = {
    mount,
    formats,
    names,
    tag,
    one: { said: words(resource.name), written: pascalCase(...outer, resource.name) },
    many: { said: words(resource.plural), written: pascalCase(...outer, resource.plural) },
  };
  const offered = Object.entries(places(resource)).filter(
    ([action]) => permissions[action as ResourceAction] !== undefined,
  );
  return {
    tag: { name: tag, description: resource.description ?? `All ${tag}.` },
    schemas: schemasOf(resource, names),
    operations: new Map([
      ...offered.map(([action, place]) => [place, describeOffer(subject, action as ResourceAction)] as const),
      ...mount.actions.map((action) => [placeOf(subject, action), describeServedAction(subject, action)] as const),
    ]),
  };
}

function describeOffer(subject: Subject, action: ResourceAction): Description {
  const description = describeAction[action](subject);
  return { ...description, problems: [...description.problems, ...(subject.mount.problems[action] ?? [])] };
}

/** Where a mount's endpoints stand. */
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

function schemaNames(resource: Resource, takeName: (wanted: string) => string): SchemaNames {
  const record = takeName(pascalCase(...lineage(resource)));
  return {
    record,
    part: takeName(`${record}Part`),
    list: takeName(`${record}List`),
    draft: takeName(`${record}Draft`),
    patch: takeName(`${record}Patch`),
  };
}

function schemasOf(resource: Resource, names: SchemaNames): Readonly<Record<string, JSONObject>> {
  const { required, ...record } = withId(recordSchema(resource), idSchema);
  const repeated = { ...idSchema, description: "Given by the service; where the path has it, the body may repeat it." };
  return {
    [names.record]: { ...record, required: ["id", ...(required as string[])] },
    [names.part]: { ...record, description: "The fields of a record that `?fields=` asks for." },
    [names.list]: {
      type: "array",
      maxItems: MAX_LIMIT,
      items: wholeOrPart(names),
      xml: { name: resource.plural, wrapped: true },
    },
    [names.draft]: withId(draftSchema(resource), repeated),
    [names.patch]: withId(patchSchema(resource), repeated),
  };
}

function withId(schema: JSONObject, id: JSONObject): JSONObject {
  return { ...schema, properties: { id, ...(schema["properties"] as JSONObject) } };
}

/** The names of a resource and of those it stands within, outermost first. */
function lineage({ within, name }: Resource): readonly string[] {
  return within === null ? [name] : [...lineage(within), name];
}

function words(name: string): string {
  return name.replaceAll(/[_-]/g, " ");
}
