import type { Selection } from "./conditions.ts";
import { selectedOfTeams } from "./selected-teams.ts";

/** Conditions of one kind, by file, and the test files that have to notice a change of each. */
export interface Selected {
  readonly files: Readonly<Record<string, Selection>>;
  readonly tests: readonly string[];
  /** True if the tests have to run on PostgreSQL, because only that reaches the conditions. */
  readonly onPostgres?: boolean;
}

/** The conditions of the rules of fields (`read`, `write`), and of the answers 403 and 404 for a row. */
const fields: Selected = {
  tests: [
    "src/access/permission/implying.test.ts",
    "src/http/mount/seen-by.test.ts",
    "tests/toolkit/field-rules-places.test.ts",
    "tests/resources/field-rules-rows.test.ts",
    "tests/resources/field-rules-writes.test.ts",
    "tests/resources/field-rules-repeats.test.ts",
    "tests/resources/field-rules-plain.test.ts",
    "tests/resources/field-rules-asked.test.ts",
    "tests/resources/field-rules-checks.test.ts",
    "tests/resources/field-rules-expand.test.ts",
    "tests/resources/field-rules-older.test.ts",
    "tests/resources/field-rules-outcomes.test.ts",
    "tests/resources/field-rules-overtaken.test.ts",
    "tests/resources/field-rules-remembered.test.ts",
    "tests/resources/field-rules.test.ts",
    "tests/resources/field-rules-channels.test.ts",
    "tests/auth/users-for-roles.test.ts",
    "tests/auth/users-as-seen.test.ts",
    "tests/auth/users-writes.test.ts",
    "tests/resources/made-values.test.ts",
    "tests/resources/revision-tags.test.ts",
    "tests/toolkit/field-rules-refused.test.ts",
  ],
  files: {
    "src/http/mount/seen-by.ts": "all",
    "src/http/mount/writes/replaying.ts": "all",
    "src/http/declarations/rules.ts": "all",
    "src/resource/rule-mistakes.ts": "all",
    "src/access/permission/implying.ts": "all",
    "src/http/declarations/mount.ts": { withAllFields: true, hidesValues: true, mount: /misfits/ },
    "src/http/declarations/action.ts": {
      contradictions: /options\.(read|write)|shape\?\.fields|typeof answer === "string" \? null/,
    },
    "src/http/mount/acting.ts": {
      runAction: /isMaybeUnseen/,
      findSubject: /row === null/,
      requireRules: true,
      requireResult: /requireRules|requireShowable/,
      repeat: /action\.answer === "record"/,
    },
    "src/http/mount/endpoints.ts": { buildEndpoints: /ules/, createOrDefer: true },
    "src/http/mount/older/older.ts": { hasRules: true, conversionMistake: /hasRules/ },
    "src/http/mount/older/translating.ts": { collectDefaults: true },
    "src/http/mount/reads/expand/expanded.ts": { listColumns: true },
    "src/http/mount/reads/expand/expanding.ts": { remember: true },
    "src/http/mount/reads/list-request.ts": { limitLength: true },
    "src/http/mount/reads/reading.ts": {
      tagOfRow: /hidesValues/,
      tagOfVisible: true,
      refuseRow: true,
      isForbidden: true,
      forbidden: true,
      decideReading: true,
    },
    "src/http/mount/reads/searching.ts": { addSearch: /columns/, findSearchedColumns: true },
    "src/http/mount/writes/changing.ts": {
      insertRecord: /"replayed"/,
      createUnder: /isForbidden/,
      change: /isMaybeUnseen/,
      remove: /isMaybeUnseen|row === null/,
    },
    "src/http/mount/writes/committing.ts": { isMaybeUnseen: true, replayed: true, withAlongside: /newer/ },
    "src/http/mount/writes/creating-all.ts": { repeated: true },
    "src/http/mount/writes/drafting.ts": {
      parseRecordDraft: /completeRecord|older\.defaults/,
      completeRecord: true,
      buildHiddenConflict: /hidden === null/,
    },
    "src/http/mount/writes/outcome.ts": { refusalIn: /isConcealed/, isConcealed: true, takenIn: /isConcealed/ },
    "src/http/mount/writes/preconditions.ts": { tagsOfState: true },
    "src/http/mount/writes/preparing.ts": { prepare: /newer/, requireAllowed: /requireShowable/ },
    "src/http/mount/writes/patch-targets.ts": { findKnown: true, withDecisions: true, refusalBefore: /isForbidden/ },
    "src/http/mount/writes/updating-all.ts": { attempt: /isMaybeUnseen/, repeated: true },
    "src/http/viewing.ts": { place: /mounted/, offer: /seenAt/, values: /mount === null|shown/ },
    "src/resource/declaration/field.ts": { isWritable: true, isShown: true },
    "src/resource/draft.ts": {
      readDraft: /concealed|regenerated/,
      keepConcealed: true,
      issuesTogether: true,
      issuesWithout: true,
      findOpenName: true,
      resolveDefault: /given/,
      makeValue: /formatInstant/,
      resolveServiceValue: /given/,
    },
    "src/resource/kinds/field-mistakes.ts": { aFieldRule: true, optionMistakes: true },
    "src/resource/mistakes.ts": { fieldMistakes: /fieldRuleMistakes/ },
    "src/store/sql/word-index.ts": { compileWord: /columns/ },
    "src/features/openapi/schemas.ts": { describeRules: true, recordSchema: /options\.read/ },
    "src/composition/start-reports.ts": { describeRevealing: true },
    "src/feature/permitted.ts": { tooManyRules: true },
  },
};

/** The conditions of users for roles of a project. */
const users: Selected = {
  tests: [
    "tests/auth/users-for-roles.test.ts",
    "tests/auth/users-as-seen.test.ts",
    "tests/auth/librarians.test.ts",
    "tests/auth/users-of-the-config-file.test.ts",
    "tests/toolkit/field-rules-refused.test.ts",
    "tests/auth/roles.test.ts",
  ],
  files: {
    "src/features/auth/accounts/users.ts": { mountUsers: /permissions|ownRecord|replace|update|removal/ },
    "src/features/auth/records/user-rules.ts": "all",
    "src/features/auth/records/users.ts": {
      usersResource: /isShared|permissions/,
      permissionsMistake: true,
      aUserRule: true,
      rulesMistake: true,
      identityMistakes: /options\.read/,
    },
    "src/features/auth/records/caller-fields.ts": { hasRole: /typeof users/, anyOfRoles: true },
    "src/features/auth/session/endpoints.ts": { sessionReply: true },
  },
};

/** The conditions of sets of fields that are unique together. */
const sets: Selected = {
  tests: [
    "tests/resources/unique-sets.test.ts",
    "tests/existing/existing-unique-sets.test.ts",
    "tests/migrations/unique-sets.test.ts",
    "tests/cli/import-sets.test.ts",
  ],
  files: {
    "src/resource/unique-sets.ts": "all",
    "src/resource/resource.ts": { defineResource: /declaration\.unique/ },
    "src/http/declarations/collection.ts": { buildCollection: /resource\.unique/ },
    "src/http/mount/writes/outcome.ts": { takenIn: true, takenAt: true },
    "src/http/mount/writes/record-arrays.ts": { buildRefusal: /isUnknown|outcome\.columns/ },
    "src/features/openapi/operations/resource-operations.ts": { problemsOfFields: /unique/ },
    "src/service/inspecting/inspect.ts": { uniqueLines: true, isComparable: true },
    "src/service/records/late-references.ts": { lateTask: /taken/ },
    "src/store/checking.ts": { collectionMistakes: /uniques/, collectionMembers: /length > 1/ },
    "src/store/declarations.ts": { mistakesIn: /uniques|set\.some|unique set/ },
    "src/store/served.ts": { isServed: /uniques|known\.add|operator === "eq"/ },
    "src/store/sql/existing/settle.ts": {
      settledAs: /isOver|uniques|set ===/,
      mistakesIn: /isOver|uniques|unique set/,
      isOver: true,
    },
    "src/store/sql/migrations/migration.ts": { duplicatesIn: /unique\.length/, equalRowsIn: true },
    "src/store/sql/migrations/misfits.ts": {
      collectMisfits: /uniques|setsTwice/,
      setsTwice: true,
      valuesAgainstRules: /sets|isTaken|taken|rows > 0/,
    },
    "src/store/sql/migrations/set-checks.ts": "all",
    "src/store/sql/schema/definition.ts": { collectIndexes: /unique === null|uniques|\bset\b/ },
    "src/store/sql/writes/refusals.ts": { findRefusal: /broken\.columns/ },
    "src/store/sqlite/writes/conflicts.ts": { takenBy: true },
  },
};

/** The conditions of sets that only PostgreSQL has. */
const setsOnPostgres: Selected = {
  onPostgres: true,
  tests: [
    "tests/resources/unique-sets.test.ts",
    "tests/existing/existing-unique-sets.test.ts",
    "tests/migrations/unique-sets.test.ts",
  ],
  files: {
    "src/store/postgres/writes/refusals.ts": { takenBy: true },
    "src/store/postgres/table-changes/shadow-column.ts": {
      createShadowIndexes: /before|source/,
      switchColumns: /others/,
      renameColumn: /uniques/,
    },
  },
};

/** The conditions of the order of a list without `sort`. */
const orders: Selected = {
  tests: ["tests/lists/default-sort.test.ts", "tests/lists/lists.test.ts"],
  files: {
    "src/resource/default-sort.ts": "all",
    "src/resource/resource.ts": { defineResource: /defaultSort/ },
    "src/resource/mistakes.ts": { declarationMembers: /-created_at/ },
    "src/resource/query.ts": { readSort: true },
    "src/http/declarations/indexes.ts": { chooseIndexes: /usual/, fieldsOfDefaultSort: true },
    "src/http/mount/older/older.ts": { olderResource: /each\.field/ },
    "src/http/mount/reads/places.ts": { addressOfNext: /formatDefaultSort/ },
    "src/http/mount/shapes.ts": { collectOrders: /usual/, formatOrder: true },
    "src/http/mount/used-deprecations.ts": { collectDeprecatedInList: /defaultSort/ },
    "src/features/openapi/operations/parameters.ts": { sortParameter: true },
    "src/features/openapi/operations/query-operation.ts": { querySchema: /usual/ },
    "src/features/console/data/list-table.ts": { findOrder: /defaultSort/ },
  },
};

/** The conditions of the words for people: `label`, `labels` and `labelField`. */
const labels: Selected = {
  tests: [
    "src/resource/record-labels.test.ts",
    "tests/console/console-labels.test.ts",
    "tests/console/record-names.test.ts",
    "tests/resources/labels.test.ts",
  ],
  files: {
    "src/resource/declaration/label.ts": "all",
    "src/resource/label-field.ts": "all",
    "src/resource/record-labels.ts": { findLabelField: true, isLine: true, nameOne: true },
    "src/resource/resource.ts": { defineResource: /label/ },
    "src/resource/kinds/enumeration.ts": { optionOf: true },
    "src/http/mount/older/older.ts": { olderResource: /labelField/ },
    "src/features/console/labels.ts": { labelsOf: true },
    "src/features/console/data/record-name.ts": "all",
    "src/features/console/site.ts": { nameMany: true, nameInSentence: true },
    "src/features/console/values.ts": { showValue: /kind\.(label|tone)/ },
    "src/features/openapi/schemas.ts": {
      recordSchema: /label/,
      fieldSchema: /label/,
      describeLabels: true,
    },
  },
};

/** All selected conditions, by kind. */
export const selected: Readonly<Record<string, Selected>> = {
  fields,
  users,
  sets,
  setsOnPostgres,
  orders,
  labels,
  ...selectedOfTeams,
};
