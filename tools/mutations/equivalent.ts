/** Changes that no test can notice, with the reason that they share. */
const reasons: readonly (readonly [reason: string, changes: readonly string[]])[] = [
  [
    "The check narrows a type. The members behind it have the same value without it.",
    [
      'src/features/auth/teams/member-of.ts memberOf: !("user" in read) || mistakes.length > 0 => mistakes.length > 0',
      'src/features/auth/teams/member-of.ts memberOf: typeof each !== "string" => true',
      "src/features/auth/teams/member-of.ts readValues: isScalar => () => true",
      'src/store/inner-collections.ts replaceCollections: "among" in where => true',
      'src/store/served.ts collect: "not" in where || "among" in where => "not" in where',
      'src/store/served.ts isFoundByIndex: "operator" in where => true',
      "src/http/mount/membership-tables.ts unindexedTables: existing === undefined || hasNoKnownIndex(collection) => hasNoKnownIndex(collection)",
      "src/http/declarations/memberships.ts readMemberships: userColumn === null || group === null => userColumn === null",
      "src/http/declarations/memberships.ts readMemberships: userColumn === null || group === null => group === null",
      "src/http/declarations/memberships.ts readMemberships: name !== null && resource.fields[name]?.options.optional === true => resource.fields[name]?.options.optional === true",
      'src/store/sqlite/reads/semi-joins.ts isFew: "column" in narrowing && covers(collection, narrowing.column, used) => covers(collection, narrowing.column, used)',
      'src/store/sqlite/reads/semi-joins.ts listColumns: "column" in where => true',
      'src/store/sqlite/reads/semi-joins.ts isConstant: word === "all" && "all" in where => word === "all"',
      'src/store/sqlite/reads/semi-joins.ts isConstant: word === "any" && "any" in where => word === "any"',
      'src/http/mount/seen-by.ts isOwnRequest: only !== null && "operator" in only => only !== null',
      'src/http/mount/writes/changing.ts creationRefusal: "change" in outcome && outcome.change >= at => outcome.change >= at',
      'src/features/auth/invitations/accepting.ts createUser: error instanceof Problem && error.code === "taken" => error.code === "taken"',
      'src/features/auth/invitations/accepting.ts createUser: outcome.kind === "refused" && outcome.name === "taken" => outcome.name === "taken"',
      'src/features/auth/invitations/accepting.ts isOvertaken: outcome.kind === "refused" && (outcome.name === OVERTAKEN || outcome.name === MEMBER_ALREADY) => (outcome.name === OVERTAKEN || outcome.name === MEMBER_ALREADY)',
      'src/features/auth/invitations/accepting.ts requireUnused: outcome.kind === "refused" && [MAIL_PROOF_USED, INVITATION_USED].includes(outcome.name) => [MAIL_PROOF_USED, INVITATION_USED].includes(outcome.name)',
      "src/features/auth/invitations/accepting.ts create: error instanceof Problem && [400, 401, 403, 404].includes(error.status) => [400, 401, 403, 404].includes(error.status)",
      "src/features/auth/invitations/judging.ts judgeEach: values !== null => true",
      "src/features/auth/invitations/judging.ts readValues: error instanceof Problem && error.status < 500 => error.status < 500",
      'src/features/auth/invitations/sending.ts write: outcome.kind === "refused" && outcome.name === "too_many" => outcome.name === "too_many"',
      "src/http/mount/writes/creating-for.ts mayUseParents: error instanceof Problem && error.status < 500 => error.status < 500",
      'src/http/declarations/action.ts contradictions: typeof answer === "string" => false',
      'src/resource/draft.ts issuesTogether: !("hiddenField" in alone) && alone.length > 0 => alone.length > 0',
      'src/resource/record-labels.ts isLine: "multiline" in options && options.multiline === true => options.multiline === true',
    ],
  ],
  [
    "A name that no field gives is the resource and the id, whichever of the checks finds that out.",
    [
      "src/features/console/data/record-name.ts nameWhole: named === null => false",
      "src/features/console/data/record-name.ts nameWhole: value === null || value === undefined => value === undefined",
      'src/features/console/data/record-name.ts nameWhole: to !== null && (typeof value === "number" || typeof value === "string") => to !== null',
      "src/features/console/labels.ts labelsOf: named === null => false",
      "src/features/console/labels.ts labelsOf: named !== null && values !== null => values !== null",
    ],
  ],
  [
    "A page that names a record has the id of the record in its path. The field with a name holds no JSON.",
    [
      'src/features/console/data/record-name.ts nameWhole: id ?? view.place?.params["id"] => view.place?.params["id"]',
      'src/features/console/data/record-name.ts nameWhole: field.kind.references !== undefined || typeof value === "object" => field.kind.references !== undefined',
    ],
  ],
  [
    "A member with the value undefined is the same as a missing one: JSON leaves it out, and the code reads both alike.",
    [
      "src/features/auth/invitations/listing.ts show: Object.hasOwn(values, name) => true",
      "src/features/openapi/schemas.ts fieldSchema: label === undefined => false",
      "src/store/sql/existing/settle.ts settledAs: set === undefined => false",
      "src/store/sql/writes/refusals.ts findRefusal: broken.columns === undefined => false",
      "src/store/sqlite/writes/conflicts.ts takenBy: set === undefined => false",
    ],
  ],
  [
    "The store makes no index on an existing table. It knows those that it finds at the start.",
    [
      "src/http/mount/membership-tables.ts completeTables: collection.existing !== undefined || beginsWith(collection, columns) => beginsWith(collection, columns)",
    ],
  ],
  [
    "It saves a query: the parent in the path is the user, and the caller may read the parent.",
    ["src/http/mount/founders.ts collectSharedUsers: user === memberships.parentColumn => false"],
  ],
  [
    "A kind that can be compared reads a value as a scalar or as a flaw.",
    ["src/features/auth/teams/member-of.ts readValues: flaw instanceof Flaw => true"],
  ],
  [
    "Memberships without a parent have no parent whose permission could be asked.",
    [
      "src/http/declarations/named-memberships.ts nestedMemberships: each.resource.within !== null && named.has((each.older?.newer ?? each).resource) => named.has((each.older?.newer ?? each).resource)",
    ],
  ],
  [
    "`mount` has refused a column that does not exist.",
    [
      "src/http/declarations/named-memberships.ts incomparableGroups: selected === undefined || column === undefined => selected === undefined",
    ],
  ],
  [
    "An older shape has a resource of its own.",
    [
      "src/http/declarations/named-memberships.ts findMount: each.resource === resource && each.older === null => each.resource === resource",
    ],
  ],
  [
    "A mount without memberships looks none up.",
    ["src/http/declarations/named-memberships.ts placeMemberships: named.length === 0 => false"],
  ],
  [
    "It saves a look at the rules: the view of a mount without rules is the mount itself.",
    [
      "src/http/mount/endpoints.ts buildEndpoints: collectRules(mount).length > 0 => true",
      "src/http/mount/endpoints.ts buildEndpoints: hasRules => true",
    ],
  ],
  [
    "It saves the check of each found row: a word without columns is searched in all of them.",
    [
      "src/http/mount/reads/searching.ts findSearchedColumns: search.length === collection.columns.filter(isSearched).length => false",
      "src/http/mount/reads/searching.ts findSearchedColumns: isSearched => () => false",
      "src/http/mount/reads/searching.ts findSearchedColumns: isSearched => () => true",
    ],
  ],
  [
    "It saves reading rows and columns: a caller who may change a row is not refused, a row that a caller may neither change nor read is not used, and no tag needs the columns.",
    [
      'src/http/mount/writes/patch-targets.ts findKnown: decisions[at] === "allow" => false',
      'src/http/mount/writes/patch-targets.ts findKnown: decisions[at] === "deny" && readings[at] === "deny" => false',
      "src/http/mount/writes/patch-targets.ts findKnown: hidesValues(mount) => true",
    ],
  ],
  [
    "The length of the columns only decides how many rows are read at once.",
    ["src/http/mount/writes/patch-targets.ts findKnown: newer ?? mount => mount (2)"],
  ],
  [
    "It saves work: a condition on the record itself gives the same result after an empty lookup.",
    [
      "src/http/mount/reads/settling.ts isSettled: isSettled => () => false",
      "src/http/mount/reads/settling.ts isSettled: isSettled => () => false (2)",
      "src/http/mount/reads/settling.ts judge: isSettled(only) => false",
      "src/http/mount/reads/settling.ts judgeChanged: isSettled(only) => false",
    ],
  ],
  [
    "It saves work: one lookup is not waited for together with others, one value is not looked for in a list, a missing value is equal to none, and the text of a condition is kept.",
    [
      "src/http/mount/reads/settling.ts collectLookups: isKey(value) => true",
      'src/http/mount/reads/settling.ts isKey: typeof value === "number" || typeof value === "string" => true',
      "src/http/mount/reads/settling.ts lookUpAll: others.length === 0 => false",
      "src/http/mount/reads/settling.ts lookUp: left.length === 1 => false",
      "src/http/mount/reads/settling.ts formatCondition: name === undefined => true",
    ],
  ],
  [
    "Equal conditions have equal texts, with the declarations of tables or with their names.",
    ['src/http/mount/reads/settling.ts nameTable: member === "collection" => false'],
  ],
  [
    "`replaceCollections` returns null unchanged.",
    [
      "src/store/inner-collections.ts listCollections: where !== null => true",
      "src/store/inner-collections.ts nameInner: where === null => false",
    ],
  ],
  [
    "It saves a query: no permission narrows the rows, and there is no parent.",
    ["src/http/mount/writes/replaying.ts mayReadNow: narrowed.size === 0 && mount.parent === null => false"],
  ],
  [
    "It saves an attempt: a write that is tried again checks its preconditions again.",
    [
      'src/http/mount/writes/committing.ts isMaybeUnseen: outcome.kind === "stale" && (mount.noted !== undefined || hidesValues(mount)) => outcome.kind === "stale"',
      "src/http/mount/writes/updating-all.ts attempt: !isMeant && isOvertaken(outcome, exchange) => isOvertaken(outcome, exchange)",
    ],
  ],
  [
    "The result of `formatInstant` is valid for every kind of time.",
    [
      "src/resource/draft.ts makeValue: options.writeOnly === true || make === formatInstant => options.writeOnly === true",
    ],
  ],
  [
    "A field that is not computed has no source, so no name is found in it.",
    ["src/composition/start-reports.ts describeRevealing: computed === undefined => false"],
  ],
  [
    "An empty list of sets declares the same as no list.",
    ["src/http/declarations/collection.ts buildCollection: resource.unique.length === 0 => false"],
  ],
  [
    "Only changes of the service's own tables belong to no record of the array, and the store knows every index of these tables.",
    ["src/http/mount/writes/record-arrays.ts buildRefusal: isUnknown && owner !== undefined => isUnknown"],
  ],
  [
    "The caller passes only columns of a kind that can be declared.",
    [
      'src/service/inspecting/inspect.ts isComparable: !("why" in kind) && kind.type !== "json" => kind.type !== "json"',
    ],
  ],
  [
    "It saves a query or a look at all rows that finds nothing: NULL equals no value, and a set with a value of the program also has a column that is checked.",
    [
      'src/store/sql/migrations/misfits.ts setsTwice: expressions.includes(null) || expressions.includes("NULL") => expressions.includes(null)',
      'src/store/sql/migrations/misfits.ts setsTwice: expressions.includes(null) || expressions.includes("NULL") => expressions.includes("NULL")',
      "src/store/sql/migrations/misfits.ts valuesAgainstRules: looked.length === 0 && sets.length === 0 => false",
      "src/store/sql/migrations/misfits.ts valuesAgainstRules: looked.length === 0 && sets.length === 0 => looked.length === 0",
    ],
  ],
  [
    "A plan with an unknown source has an obstacle before any value is checked.",
    [
      'src/store/sql/migrations/set-checks.ts createSetChecks: !kinds.includes("program") || kinds.includes("sql") || kinds.includes("unknown") => !kinds.includes("program") || kinds.includes("sql")',
    ],
  ],
  [
    "A row that is read has a value for every column: null if it has none.",
    ["src/store/sql/migrations/set-checks.ts computeNew: row[source.from] ?? null => row[source.from]"],
  ],
  [
    "No transaction of an acceptance has an idempotency key, so none is replayed.",
    [
      'src/features/auth/invitations/accepting.ts join: outcome.kind === "written" || outcome.kind === "replayed" => outcome.kind === "written"',
    ],
  ],
  [
    "It saves reading more invitations: the answer has the first 1000.",
    [
      "src/features/auth/invitations/listing.ts listOpen: judged < MOST_JUDGED && listed.length < MOST_LISTED => judged < MOST_JUDGED",
    ],
  ],
  [
    "`true` has no members, so it names no columns.",
    ["src/http/declarations/invitations.ts readColumns: isObject(invitations) => true"],
  ],
  [
    "A mount with invitations has a permission for `create`.",
    [
      "src/http/mount/writes/creating-for.ts findCreator: mount.permissions.create ?? nobody => mount.permissions.create",
    ],
  ],
  [
    "Only a creation asks the access of the exchange, and a mount with invitations has a permission for `create`.",
    [
      "src/http/mount/writes/creating-for.ts makeExchangeFor: mount.permissions[action] ?? nobody => mount.permissions[action]",
    ],
  ],
  [
    "Only scopes read the method, and a sender with scopes is refused before.",
    [
      'src/http/mount/writes/creating-for.ts makeExchangeFor: action === "create" => false',
      'src/http/mount/writes/creating-for.ts makeExchangeFor: action === "create" => true',
    ],
  ],
  [
    "Without a parent, the record gets a member that no condition names.",
    ["src/http/mount/writes/creating-for.ts mayCreateEach: parentColumn === null => false"],
  ],
  [
    "The same request has judged the sender's parents, or has found the group, just before.",
    [
      "src/http/mount/writes/creating-for.ts createFor: await requireParents(mount, exchange); => nothing",
      "src/http/mount/writes/creating-for.ts readFor: row === null => false",
    ],
  ],
  [
    "Only a request that deletes a user or a parent between two reads of this request would show it.",
    [
      "src/features/auth/invitations/judging.ts judgeEach: sender === undefined => false",
      "src/features/auth/invitations/judging.ts findSenders: account !== null => true",
      "src/http/mount/writes/creating-for.ts findParents: row === null => false",
    ],
  ],
  [
    "A mailed proof of another form names an id that no invitation has.",
    [
      "src/features/auth/invitations/accepting.ts findOpenLink: isObject(proof.data) => true",
      "src/features/auth/invitations/accepting.ts findOpenLink: isText(id) => true",
    ],
  ],
  [
    "A nested resource has both: its parent and the column of the parent.",
    [
      "src/features/auth/invitations/endpoints.ts typedPath: within === null || parentColumn === null => within === null",
      "src/features/auth/invitations/endpoints.ts typedPath: within === null || parentColumn === null => parentColumn === null",
    ],
  ],
  [
    "It saves reading more memberships: the transaction takes owners from too many groups already.",
    [
      "src/http/mount/writes/keeping.ts ownersAmong: rows.length < MAX_GROUPS || found.size > MAX_GROUPS => rows.length < MAX_GROUPS",
    ],
  ],
  [
    "An index that keeps its old name is made again under its new name.",
    ["src/store/postgres/table-changes/shadow-column.ts renameColumn: collection.uniques ?? [] => []"],
  ],
];

/** Changes that no test can notice, each with the reason. */
export const equivalent: Readonly<Record<string, string>> = Object.fromEntries(
  reasons.flatMap(([reason, changes]) => changes.map((change) => [change, reason])),
);
