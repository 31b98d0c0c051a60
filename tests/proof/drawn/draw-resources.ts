import type { Draw } from "../../harness/draw.ts";
import { drawFields, drawLists, type DrawnField, type Reference } from "./draw-fields.ts";
import { drawCustom, drawPermissions, fieldRules, type DrawnPermissions, type Tie } from "./draw-permissions.ts";

/** A drawn resource with its mount. */
export interface DrawnResource {
  readonly name: string;
  /** The declarations, in order. */
  readonly declared: readonly string[];
  /** The names of the constants with its mounts. */
  readonly mounts: readonly string[];
  /** True if callers may read one record by its id. */
  readonly isReadable: boolean;
}

/** The parts of the project that a resource may use. */
export interface Around {
  /** The name of the memberships. Null: there are none. */
  readonly memberships: string | null;
  readonly hasTenants: boolean;
  /** The resources that a reference may name, and within which a resource may be. */
  readonly others: readonly DrawnResource[];
}

/** Draws the column that ties records to callers. */
function drawTie(draw: Draw, { memberships, hasTenants }: Around): Tie {
  const owned: Tie = {
    column: 'owner_id: reference("users", { default: caller, onDelete: "cascade" })',
    permissions: ['owner("owner_id")', 'anyOf(owner("owner_id"), administrator)'],
  };
  const grouped: Tie = {
    column: 'group_id: reference(group, { onDelete: "cascade" })',
    permissions: ["member", "groupEditor", "anyOf(member, hr)", "allOf(member, authenticated)"],
  };
  const tenants: Tie = {
    column: 'tenant: text({ maxLength: 40, default: callerField(people, "tenant") })',
    permissions: ['sameAs(people, "tenant")', 'anyOf(sameAs(people, "tenant"), administrator)'],
  };
  const ties = [owned, owned, ...(memberships === null ? [] : [grouped, grouped]), ...(hasTenants ? [tenants] : [])];
  return draw.below(6) === 0 ? { column: null, permissions: [] } : draw.pick(ties);
}

/** Draws a resource, its mount, and an older shape of it. */
export function drawResource(draw: Draw, name: string, around: Around): DrawnResource {
  const within = around.others.length > 0 && draw.below(3) === 0 ? draw.pick(around.others) : null;
  const tie = drawTie(draw, around);
  const tied = tie.column?.split(":")[0] ?? null;
  const hasState = draw.below(2) === 0;
  const custom = hasState && draw.below(3) > 0 ? `${name}Rows` : null;
  const permissions = drawPermissions(draw, tie, custom);
  const fields = drawFields(draw, Object.keys(fieldRules));
  const references = drawReferences(
    draw,
    around.others.filter((each) => each !== within),
  );
  const filtered = [...(tied === "tenant" || tied === null ? [] : [{ name: tied, code: "" }]), ...references];
  const declaration = drawDeclaration(draw, name, { within, tie, hasState, fields, references, filtered });
  const isMembership = tied === "group_id" && custom !== null && draw.below(2) === 0;
  const owned = tied === "owner_id" ? tied : null;
  const parts: Parts = { name, within, permissions, fields, references, tied, hasState };
  const older = within === null && draw.below(2) === 0 ? [drawOlder(draw, parts)] : [];
  return {
    name,
    declared: [
      ...(custom === null ? [] : [drawCustom(draw, custom, owned, isMembership ? "membership" : null)]),
      declaration,
      drawMount(draw, parts),
      ...older,
    ],
    mounts: [`${name}Mount`, ...older.map(() => `${name}Older`)],
    isReadable: within === null,
  };
}

function drawReferences(draw: Draw, others: readonly DrawnResource[]): readonly Reference[] {
  return others
    .filter(({ isReadable }) => isReadable && draw.below(2) === 0)
    .slice(0, 2)
    .map(({ name }) => {
      if (draw.below(4) === 0)
        return { name: `${name}_ids`, code: `references(${name}, { optional: true, onDelete: "remove" })` };
      const ending = draw.pick(["", ', onDelete: "cascade"', ', onDelete: "restrict"']);
      return { name: `${name}_id`, code: `reference(${name}, { optional: true${ending} })` };
    });
}

interface Declared {
  readonly within: DrawnResource | null;
  readonly tie: Tie;
  readonly hasState: boolean;
  readonly fields: readonly DrawnField[];
  readonly references: readonly Reference[];
  /** The references that filters may name. */
  readonly filtered: readonly Reference[];
}

function drawDeclaration(
  draw: Draw,
  name: string,
  { within, tie, hasState, fields, references, filtered }: Declared,
): string {
  const sets = [
    ...(tie.column === null || draw.below(4) > 0 ? [] : [`["${tie.column.split(":")[0]!}", "title"]`]),
    ...(hasState && draw.below(6) === 0 ? ['["visibility", "title"]'] : []),
  ];
  const computed = [
    ...(draw.below(4) === 0 ? ["shout: { as: text(), from: ({ title }) => title.toUpperCase() }"] : []),
    ...(draw.below(4) === 0 ? ['letters: { as: integer(), sql: "length(title)" }'] : []),
  ];
  return [
    `const ${name} = defineResource({`,
    `  name: "${name}",`,
    ...(within === null ? [] : [`  within: ${within.name},`]),
    ...(within === null && draw.below(6) === 0 ? ['  id: "uuid",'] : []),
    "  fields: {",
    ...(tie.column === null ? [] : [`    ${tie.column},`]),
    ...fields.map((field) => `    ${field.name}: ${field.code},`),
    ...(hasState
      ? [
          '    visibility: enumeration(["open", "shared", "closed"], { default: "open" }),',
          "    rank: integer({ minimum: 1, maximum: 5, default: 1 }),",
        ]
      : []),
    ...references.map(({ name: column, code }) => `    ${column}: ${code},`),
    ...(draw.below(4) === 0 ? ["    changed_at: updatedAt(),"] : []),
    "  },",
    ...(computed.length === 0 ? [] : [`  computed: { ${computed.join(", ")} },`]),
    ...drawLists(
      draw,
      fields,
      filtered.filter(({ name: column }) => column.endsWith("_id")),
    ).map((line) => `  ${line},`),
    ...(sets.length === 0 ? [] : [`  unique: [${sets.join(", ")}],`]),
    "  scans: true,",
    "});",
  ].join("\n");
}

interface Parts {
  readonly name: string;
  readonly within: DrawnResource | null;
  readonly permissions: DrawnPermissions;
  readonly fields: readonly DrawnField[];
  readonly references: readonly Reference[];
  readonly tied: string | null;
  readonly hasState: boolean;
}

function drawMount(draw: Draw, { name, within, permissions, fields, references, tied, hasState }: Parts): string {
  const { read, update } = permissions;
  const plainText = fields.filter(({ isPlainText }) => isPlainText);
  const actions = [
    ...(update === undefined || draw.below(2) === 0
      ? []
      : [
          `note: { permission: ${update}, body: { words: text({ maxLength: 80 }) }, handle: ({ draft }) => ({ values: { ${draw.pick(plainText).name}: draft.words } }) }`,
        ]),
    ...(update === undefined || !hasState || draw.below(2) === 0
      ? []
      : [`close: { permission: ${update}, handle: () => ({ values: { rank: 5 } }) }`]),
    ...(read === undefined || draw.below(3) > 0
      ? []
      : [
          `size: { permission: ${read}, method: "GET", answer: { letters: integer() }, handle: ({ record }) => ({ answer: { letters: record.title.length } }) }`,
        ]),
    ...(draw.below(5) > 0 ? [] : ['ping: { on: "collection", permission: authenticated, handle: () => ({}) }']),
  ];
  const relations = [
    ...references.map(({ name: column }) => `${column.replace(/_ids?$/, "")}: "${column}"`),
    ...(tied === "owner_id" ? ['owner: "owner_id"'] : tied === "group_id" ? ['group: "group_id"'] : []),
  ].filter(() => draw.below(4) > 0);
  const isRuled = fields.some((field) => field.isRuled);
  return [
    `const ${name}Mount = mount(${name}, {`,
    "  permission: {",
    ...Object.entries(permissions).map(([action, code]) => `    ${action}: ${code},`),
    "  },",
    ...(draw.below(3) === 0 ? ["  arrays: true,"] : []),
    ...(within === null ? [] : [`  writers: "${draw.pick(["readers", "editors"])}",`]),
    ...(tied === "owner_id" && draw.below(5) === 0 ? ['  maximum: { per: "owner_id", records: 500 },'] : []),
    ...(!isRuled && permissions.list === "anyone" && draw.below(2) === 0 ? ['  cache: "public",'] : []),
    ...(draw.below(5) === 0
      ? [
          "  beforeWrite: ({ draft }) => (draft?.values.title === undefined ? {} : { values: { title: draft.values.title.trim() } }),",
        ]
      : []),
    ...(relations.length === 0 ? [] : [`  expand: { ${relations.join(", ")} },`]),
    ...(actions.length === 0 ? [] : [`  actions: {\n    ${actions.join(",\n    ")},\n  },`]),
    "});",
  ].join("\n");
}

/** Draws an older shape: the first field has another name, and some of the others are converted or left out. */
function drawOlder(draw: Draw, { name, fields, references, tied, hasState }: Parts): string {
  const [first, ...more] = fields as readonly [DrawnField, ...DrawnField[]];
  const kept = more.filter(({ isOpen }) => !isOpen || draw.below(4) > 0);
  const members = [
    ...(tied === null ? [] : [`${tied}: "${tied}"`]),
    `subject: "${first.name}"`,
    ...kept.map(({ name: field, kind, isShown }) =>
      kind === "integer" && isShown && draw.below(2) === 0
        ? `${field}_text: { from: "${field}", as: text({ optional: true }), show: String, read: Number }`
        : `${draw.pick(["", "old_"])}${field}: "${field}"`,
    ),
    ...(hasState && draw.below(2) === 0 ? ['visibility: "visibility"'] : []),
    ...references.filter(() => draw.below(2) === 0).map(({ name: column }) => `${column}: "${column}"`),
  ];
  return `const ${name}Older = olderShape(${name}Mount, { prefix: "/v1", fields: { ${members.join(", ")} } });`;
}
