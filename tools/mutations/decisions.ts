import type { Selection } from "./conditions.ts";

/**
 * The conditions that decide who sees or changes what, by file and function. `latchkey prove` has to find a change of
 * each. A function is in the list if it decides whether a row or a field is shown, whether a write is accepted, or
 * whether a repeated request gets its answer again. Not in the list, because no answer to a single request changes who
 * sees what: checks at the start, limits of length and number, caches, batches and memory, ETags and preconditions,
 * messages, and retries of requests that overlap. Features that none of the proved projects declares are not in it
 * either: UUIDs as ids, existing tables, lists of references, `sameAs`, `confirmed`, `not`, computed fields, `maximum`,
 * `administered`, invitations, `check`, hooks, converted fields of older shapes, actions that create records, two levels of nesting, rules for fields of users, a permission to
 * change that does not allow reading, custom permissions and their operators, nested resources
 * whose permissions of `list` and `read` differ, and fields with a rule that are `readOnly` or `writeOnly`.
 */
export const decisions: Readonly<Record<string, Selection>> = {
  // Permissions
  "src/access/permission/combining.ts": { decideTogether: true },
  "src/access/permission/decision.ts": { askPermission: /rows === null/ },
  "src/access/permission/narrowing.ts": { resolveRows: true },
  "src/access/permission/permission.ts": {
    authenticated: true,
    administrator: true,
    self: /identity|action|params/,
    owner: /identity/,
    readOnly: true,
  },
  "src/http/request/permitting.ts": { requirePermission: true, requireWithinScopes: true, scopesLet: true },
  "src/features/auth/records/caller-fields.ts": { anyOfRoles: /identity|includes/ },
  // Lists
  "src/http/mount/reads/listing.ts": { narrowQuery: true },
  "src/http/mount/reads/conditions.ts": { combineAll: true },
  "src/http/mount/reads/counting.ts": { buildCountHeaders: true, estimateRows: true },
  "src/http/mount/reads/searching.ts": { addSearch: true, findSearchedColumns: /name/ },
  "src/resource/query.ts": { readFields: /shown/, readFilter: true, readSort: true, readExpand: true },
  "src/store/sql/where.ts": { compileWhere: true, compileMany: true },
  // Records, and the parents of nested records
  "src/http/mount/reads/reading.ts": {
    showChanged: true,
    mayReadChanged: true,
    mayReadWithin: true,
    findVisible: true,
    refuseRow: true,
    isForbidden: true,
    decideReading: true,
    findAllowedRow: /row ===|isAllowed/,
    findWithinParent: true,
    requireParents: true,
    hasParents: true,
    isReached: true,
    reachesEveryRow: true,
    readsEveryParent: true,
    mayReach: true,
    decisionOn: true,
  },
  "src/http/mount/reads/settling.ts": { evaluateEach: true, evaluate: true },
  "src/http/mount/reads/matches.ts": { matches: /all|any|not|"null"|actual === null/ },
  // Related records
  "src/http/mount/reads/expand/expanded.ts": { writeOne: true },
  "src/http/mount/reads/expand/expansion.ts": { planFrom: true },
  "src/http/mount/reads/expand/judging.ts": { decideListings: true, readable: true },
  "src/http/mount/reads/expand/verdicts.ts": {
    verdictOn: true,
    verdictOnAll: true,
    combineVerdicts: /decision/,
  },
  // Writes and patches
  "src/http/mount/acting.ts": { findSubject: true, requireRules: true, repeat: true },
  "src/http/mount/writes/changing.ts": { requireMayCreate: true, createUnder: /ecision|isForbidden|mayCreate|only/ },
  "src/http/mount/writes/drafting.ts": {
    unseenPatch: true,
    unseenFields: true,
    completeRecord: true,
    withoutGiven: true,
  },
  "src/http/mount/writes/patch-targets.ts": { findKnown: /ecisions|readings|hidesValues/, refusalBefore: true },
  "src/http/mount/writes/preparing.ts": { requireAllowed: true, requireAllowedAlone: true, requireEachAllowed: true },
  "src/http/mount/writes/outcome.ts": { isConcealed: true },
  // Repeats
  "src/http/mount/writes/replaying.ts": "all",
  "src/http/mount/writes/idempotency.ts": { formatCaller: true, recall: true },
  // Older shapes
  "src/http/mount/older/older.ts": { olderShape: /isShown/, buildMember: /isText|isSent|isWritable/ },
  "src/http/mount/older/translating.ts": {
    areColumns: true,
    columnsFor: true,
    convertSort: true,
    convertFilter: /older|member|isPlain/,
    convertWhole: /hidden|member|id/,
    keep: true,
  },
  // Rules of fields
  "src/http/mount/seen-by.ts": "all",
  "src/http/declarations/rules.ts": { isExempt: true },
  "src/features/auth/records/user-rules.ts": "all",
  "src/resource/draft.ts": { readDraft: /isShown|isStored|isWritable|concealed|allowed/ },
  "src/resource/declaration/field.ts": { isWritable: true, isShown: true },
  // Memberships and users
  "src/features/auth/teams/member-of.ts": { memberOf: /identity|action/ },
  "src/features/auth/teams/shares-group.ts": { sharesGroup: /identity|action/ },
  "src/http/declarations/memberships.ts": { findColumnOn: true },
  "src/http/mount/writes/known-users.ts": "all",
  "src/http/mount/writes/founding.ts": { prepareFounding: true },
  "src/http/mount/writes/keeping.ts": { keepOwners: true, removes: true, mayTake: true },
  "src/http/mount/writes/owners.ts": { canTake: true, canMake: true, isOwner: true },
  "src/features/auth/accounts/users.ts": {
    mountUsers: /permissions|ownRecord|self/,
    changeAccount: /dministrator|isOwn|self/,
  },
};

/**
 * The words of a condition about a decision: an answer of a permission or a rule, the caller, or the rows and fields
 * that the answer narrows to. The other conditions of these functions tell forms of data apart.
 */
export const deciding =
  /allow|den(y|ied|ies)|deci(de|sion)|\b(may|mayn|is|has)\b|may[A-Z]|is(Readable|Forbidden|Own|Exempt|Concealed|Shown|Writable|Reached|Given|Read|Updated)\b|[hH]idden|[cC]onceal|judge|\bonly\b|[rR]ule|identity|[rR]ole\b|[sS]cope|[uU]nseen|[sS]endable|[sS]ame|where/;

/** Words of conditions that only save time, wait, meet requests that overlap, or have an undeclared feature. */
export const withoutEffect =
  /instanceof Promise|isSettled|isOvertaken|isMaybeUnseen|"stale"|signal|DEFAULT_LIMIT|\.length === 1\b|existing|isComputed|confirm|where\.not|read !== undefined|\bis =>|requestedNames|parentsAreRead|&& readsEveryParent|found\.own|every\(Boolean\)|isSent && isWritable|isRead && isShown/;
