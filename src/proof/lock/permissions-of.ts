import type { ServedEndpoint } from "../../http/declarations/endpoint.ts";
import type { ServedMount } from "../../http/declarations/mount.ts";
import type { Route } from "../../http/declarations/routes.ts";
import type { Format } from "../../http/request/format.ts";
import { collectAlternatives, type Alternative } from "./alternatives.ts";
import { fieldSentences } from "./field-sentences.ts";
import { makeNamer, nameResource } from "./names.ts";
import { ANYONE, compareTexts, sortSentences, type Sentence } from "./sentence.ts";
import { toSentences, type Namer } from "./terms.ts";

/** The declarations of a service, as `Service` has them. */
export interface Declarations {
  readonly mounts: readonly ServedMount[];
  readonly routes: readonly Route[];
  readonly formats?: readonly Pick<Format, "mediaType" | "reveals">[];
}

/** The permissions of a service in sentences. */
export interface DeclaredPermissions {
  /** The sentences of each resource, and those of the endpoints. Sorted. */
  readonly sections: readonly (readonly string[])[];
  /** The fields of the service, like `budget of projects`. */
  readonly fields: ReadonlySet<string>;
}

/**
 * Returns a sentence for each actor, resource, action and rule of a field. The sentences follow from the declarations
 * alone. Those of an action follow from the declaration of that action.
 */
export function permissionsOf({ mounts, routes, formats = [] }: Declarations): DeclaredPermissions {
  const namer = makeNamer(mounts);
  const sections = mounts
    .map((mount) => ({ name: nameMount(mount), sentences: mountSentences(mount, namer) }))
    .toSorted((one, other) => compareTexts(one.name, other.name));
  return {
    sections: [
      ...sections.map(({ sentences }) => sentences),
      endpointSentences(routes, namer),
      formats.flatMap(({ mediaType, reveals }) => revealSentences(`the format ${mediaType}`, reveals)),
    ]
      .map(sortSentences)
      .filter((sentences) => sentences.length > 0),
    fields: new Set(
      mounts.flatMap((mount) => Object.keys(mount.resource.fields).map((field) => `${field} of ${nameMount(mount)}`)),
    ),
  };
}

function nameMount({ resource, newer, older }: ServedMount): string {
  return newer === null || older === null
    ? nameResource(resource)
    : `${nameResource(newer.resource)} (${older.prefix})`;
}

function mountSentences(mount: ServedMount, namer: Namer): readonly Sentence[] {
  const name = nameMount(mount);
  if (mount.newer === null)
    return [
      ...actionSentences(mount, name, namer),
      ...fieldSentences(mount.resource, name, namer),
      ...groupSentences(mount, name, namer),
    ];
  // An older shape has the permissions of the newer one, and sentences only if they differ.
  const isAlike =
    sortSentences(actionSentences(mount, "", namer)).join("\n") ===
    sortSentences(actionSentences(mount.newer, "", namer)).join("\n");
  return isAlike ? [] : actionSentences(mount, name, namer);
}

const actions = ["list", "read", "create", "replace", "update", "delete"] as const;

function actionSentences(mount: ServedMount, name: string, namer: Namer): readonly Sentence[] {
  const standard = actions.flatMap((action) => {
    const permission = mount.permissions[action];
    if (permission === undefined) return [];
    const within = parentConditions(mount, action === "list" || action === "read");
    return toSentences(collectAlternatives(permission, action, namer), `${action} ${name}`, within);
  });
  const own = mount.actions.flatMap((action) => {
    const within = parentConditions(mount, action.method === "GET");
    const alternatives = collectAlternatives(action.permission, "call", namer);
    return [
      ...toSentences(alternatives, `call ${action.name} of ${name}`, within),
      ...revealSentences(`the action ${action.name} of ${name}`, action.reveals),
    ];
  });
  return [...standard, ...own];
}

/**
 * Returns what a caller needs of the parent record. To edit it is to change it, or to read it if no caller may change
 * it.
 */
function parentConditions({ parent, writers }: ServedMount, reads: boolean): readonly string[] {
  if (parent === null) return [];
  return [`they may ${reads || writers === "readers" ? "read" : "edit"} the ${parent.resource.name}`];
}

/** Returns the sentences of groups: who becomes a member, who joins, and who invites. */
function groupSentences({ founder, invitations, joins }: ServedMount, name: string, namer: Namer): readonly Sentence[] {
  const sentences: Sentence[] = [];
  const add = (subject: string, what: string): void => void sentences.push({ subject, what, conditions: [] });
  if (founder !== null) {
    const { resource: memberships, group } = founder.memberships;
    const values = Object.entries(founder.values).map(([column, value]) => `${column} ${String(value)}`);
    const role = values.length === 0 ? "" : ` with ${values.toSorted().join(" and ")}`;
    const members = `${namer.members({ memberships })}${role} of the ${namer.group({ memberships, group })}`;
    add(`users who create ${name}`, `become ${members}`);
  }
  if (joins !== null) add(ANYONE, `join by ${name}`);
  if (invitations !== null) {
    const { resource: memberships, group } = invitations;
    add(`users who create ${name}`, `invite others by mail to the ${namer.group({ memberships, group })}`);
  }
  return sentences;
}

/** Returns the sentences of the endpoints that belong to no resource. */
function endpointSentences(routes: readonly Route[], namer: Namer): readonly Sentence[] {
  const endpoints = routes.flatMap(({ methods }) => [...methods.values()]);
  return endpoints
    .filter(({ mounted }) => mounted === undefined)
    .flatMap((endpoint) => {
      const name = `${endpoint.method} ${endpoint.path}`;
      return [
        ...toSentences(endpointAlternatives(endpoint, namer), `call ${name}`),
        ...revealSentences(name, endpoint.reveals),
      ];
    });
}

/** Returns the sentences about fields that code shows on purpose, although a permission hides them. */
function revealSentences(subject: string, reveals: readonly string[] = []): readonly Sentence[] {
  return reveals.map((each) => {
    const [resource, field] = each.split(".");
    return { subject, what: `show ${field} of ${resource} to all of its callers`, conditions: [] };
  });
}

function endpointAlternatives({ access, action = "call" }: ServedEndpoint, namer: Namer): readonly Alternative[] {
  return access === "open" ? [[]] : collectAlternatives(access, action, namer);
}
