import { formatMistakes } from "../../../core/checking/members.ts";
import { problem, type Issue } from "../../../core/problem/problem.ts";
import { isWritable } from "../../../resource/declaration/field.ts";
import { readDraft, type Draft } from "../../../resource/draft.ts";
import type { Resource } from "../../../resource/resource.ts";
import { keyOf, type Change, type Key, type WrittenValues } from "../../../store/store.ts";
import { countLinkRows } from "../../declarations/links.ts";
import type { ServedFounder, ServedMount } from "../../declarations/mount.ts";
import type { Exchange } from "../../request/exchange.ts";
import type { WriteFacts } from "./committing.ts";
import { refusal, type Unwritten } from "./outcome.ts";
import { buildValues, furtherChanges, madeId, prepare } from "./preparing.ts";
import { renumberKeys } from "./renumbering.ts";

/** The membership of a founder in the transaction that creates the group. */
export interface Founded {
  /** The changes. `keyOf(0)` in them is the id of the group. Empty if the mount has no founder. */
  readonly changes: readonly Change[];
  /** The number of link rows that these changes add. */
  readonly linkRows: number;
  /** The place of the first of them in the transaction. */
  readonly at: number;
  /** The facts about the write of the membership. Empty if the mount has no founder. */
  readonly writings: readonly WriteFacts[];
}

/** Calls `complete` of the hook and returns the changes. `at` is the place of the first of them. */
export type PreparedFounding = (at: number) => Promise<Founded>;

const NONE: Founded = { changes: [], linkRows: 0, at: 0, writings: [] };

/**
 * The place of the group in the changes of a membership that its hooks prepare. `keyOf(0)` is the membership itself
 * there.
 */
const GROUP = -1;

/**
 * Prepares the membership of the caller who creates a group: its defaults and its `beforeWrite` are those of a
 * creation. `id` is the id of the group, or null if the store assigns it.
 */
export async function prepareFounding(
  { founding }: ServedMount,
  exchange: Exchange,
  id: Key | null,
): Promise<PreparedFounding> {
  if (founding === undefined) return () => Promise.resolve(NONE);
  const { memberships } = founding;
  const fixed = fixedValues(founding, exchange, id ?? keyOf(GROUP));
  const draft = readMembership(founding, exchange, id, fixed);
  const ownId = madeId(memberships, exchange);
  const write = { kind: "create", context: exchange.context, id: ownId, current: null, draft } as const;
  const prepared = await prepare(memberships, write);
  // A hook cannot make another user or another group of it, and not another role. The parent is one of the two.
  const values = { ...buildValues(memberships, { params: {} }, draft, prepared), ...fixed };
  return async (at) => {
    const written = { id: ownId, before: null, values };
    const own: Change = {
      kind: "insert",
      collection: memberships.collection,
      ...(ownId === null ? {} : { key: ownId }),
      values,
    };
    const further = await furtherChanges(prepared, memberships, exchange, written);
    return {
      changes: [own, ...further].map((each) => renumberKeys(each, (made) => (made === GROUP ? 0 : at + made))),
      linkRows: countLinkRows(memberships.links, written),
      at,
      writings: [{ kind: "create", action: null, before: null, at, of: memberships }],
    };
  };
}

/** Returns the values that make the caller a founder. */
function fixedValues(
  { founder: { memberships, values } }: ServedFounder,
  exchange: Exchange,
  group: WrittenValues[string],
): WrittenValues {
  return { ...values, [memberships.user]: exchange.requireIdentity().id, [memberships.group]: group };
}

/** Returns the draft of the membership, as if a caller had sent its values. Throws a fault if it is not valid. */
function readMembership(
  { founder: { memberships } }: ServedFounder,
  { context }: Exchange,
  id: Key | null,
  fixed: WrittenValues,
): Draft<Resource, "made"> {
  const { resource, group } = memberships;
  // An id that the store has not assigned yet has no value that the field could read.
  const read: WrittenValues = { ...fixed, [group]: id ?? 1 };
  const sent = Object.entries(read).filter(([name]) => {
    const field = resource.fields[name];
    return field !== undefined && isWritable(field);
  });
  const { identity, now } = context;
  const draft = readDraft(resource, Object.fromEntries(sent), {
    id: null,
    current: null,
    leavesAreText: false,
    context: { identity, now, requireIdentity: () => context.requireIdentity() },
  });
  if (!("transient" in draft)) {
    // A new record hides nothing, so these are its issues.
    const issues = (draft as readonly Issue[]).map(({ pointer, detail }) => `${pointer}: ${detail}`);
    throw new TypeError(
      `The founder of a group gets a membership that ${resource.path} refuses: ${formatMistakes(issues)}`,
    );
  }
  const own = Object.keys(fixed).filter((name) => name !== resource.parentColumn);
  const values = { ...draft.values, ...Object.fromEntries(own.map((name) => [name, fixed[name]])) };
  return { ...draft, values };
}

/**
 * Returns the problem for a group whose membership the store refused. It has no pointers, because the caller did not
 * send the membership.
 */
export function foundingRefusal({ founding }: ServedMount, outcome: Unwritten, exchange: Exchange): Error {
  const { memberships, founder, group } = founding!;
  if (outcome.kind === "taken") return problem("taken");
  if (!("column" in outcome)) return refusal(outcome, memberships, exchange);
  // The caller is known from another source than the users of this service, or was deleted during the request.
  if (outcome.column === founder.memberships.user) return problem("permission_denied");
  return new TypeError(
    `The founder of ${group.resource.path} gets no membership of ${memberships.resource.path}: the database answers ${outcome.kind} for ${outcome.column}`,
  );
}
