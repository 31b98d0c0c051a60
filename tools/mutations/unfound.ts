/** Conditions that `prove-mutations` draws and `latchkey prove` does not find, with the reason that they share. */
const reasons: readonly (readonly [reason: string, changes: readonly string[]])[] = [
  [
    "No effect: it saves a copy, a query or a look at a rule. The answer is the same.",
    [
      "src/http/mount/reads/listing.ts narrowQuery: parentColumn === null && only === null => false",
      "src/http/mount/reads/reading.ts isForbidden: exchange.only === null || !(await hasParents(mount, exchange)) => !(await hasParents(mount, exchange))",
      "src/http/mount/reads/reading.ts isForbidden: row === null || (await judge(mount, exchange, row.record, exchange.only)) => row === null",
      "src/http/mount/seen-by.ts allows: ruled.set(rule, isAllowed); => nothing",
      "src/http/mount/seen-by.ts viewResource: Object.values(fields).every(({ allowed }) => allowed === undefined) && isEmpty(concealed) => false",
      "src/http/mount/seen-by.ts viewResource: allowed === undefined => false",
      "src/http/mount/seen-by.ts resolveAllowed: isRead && isSent => false",
      "src/http/mount/writes/keeping.ts removes: REMOVALS.has(change.kind) => true",
    ],
  ],
  [
    "No effect on what is seen: the count is exact in place of an estimate.",
    ["src/http/mount/reads/counting.ts estimateRows: query.where === null => false"],
  ],
  [
    "No effect: the column of a nested collection is a column of the nested records, so no rule of the outer record hides it.",
    [
      'src/http/mount/seen-by.ts resolveView: relation.kind === "many" || isReadable(mount.newer ?? mount, relation.column, denied) => isReadable(mount.newer ?? mount, relation.column, denied)',
    ],
  ],
  [
    "No effect on what is seen: `readDraft` gets no record if the caller may not read it, so it refuses the field too.",
    [
      'src/http/mount/writes/drafting.ts unseenPatch: !["add", "replace", "remove"].includes(op) || path.length !== 1 || isGiven(resource, path[0]!) => !["add", "replace", "remove"].includes(op) || path.length !== 1',
      'src/http/mount/writes/drafting.ts unseenFields: name !== "id" && isGiven(resource, name) => false',
    ],
  ],
  [
    "No effect on what is seen: the detail of an issue may quote the value that the caller has sent.",
    [
      "src/resource/draft.ts readDraft: isShown(field) => false",
      "src/resource/draft.ts readDraft: isShown(field) => true",
    ],
  ],
  [
    "No effect on what is seen: the request is refused in both cases, with another of its problems.",
    [
      "src/http/mount/writes/drafting.ts withoutGiven: isGiven(resource, name) => true",
      "src/http/mount/writes/patch-targets.ts refusalBefore: await readEach(knownRecords, ({ patch: { id, value }, row }) => { // A field that only the service sets may be sent with its current value. Here the record is not loaded, so the // value cannot be compared and the field is ignored. const sent = row === null ? value : withoutGiven(mount.resource, value); return parseRecordDraft(mount, exchange.context, sent, { id, record: null, partial: true }); }); => nothing",
      "src/http/mount/writes/patch-targets.ts refusalBefore: isForbidden => true",
      "src/http/mount/writes/known-users.ts requireKnownMember: await judge(); => nothing",
    ],
  ],
  [
    "Only a fault of code meets it: the start and the types refuse such a condition.",
    [
      "src/access/permission/narrowing.ts resolveRows: fits(where, rows.collection) => true",
      "src/store/sql/where.ts compileWhere: isCondition(where) => true",
    ],
  ],
  [
    "No project has `anyOf` with a confirmation.",
    ['src/access/permission/combining.ts decideTogether: enough === "deny" || only.length === 0 => enough === "deny"'],
  ],
  [
    "Every project has keys, and so a rule for scopes.",
    [
      "src/http/request/permitting.ts scopesLet: identity === null || identity.scopes === null || scopesAllow === null => identity === null || identity.scopes === null",
    ],
  ],
  [
    "A conflict (409) is not listed, because rules of the data may refuse an allowed change: here, in a group without an owner.",
    ["src/http/mount/writes/owners.ts isOwner: isSame(collection, name, record[name], value) => true"],
  ],
  ["No project has lists of references.", ['src/store/sql/where.ts compileWhere: "link" in where => false']],
  [
    "No project lets a caller change records of a kind that its permissions of reading deny.",
    [
      "src/http/mount/reads/reading.ts showChanged: may => true",
      'src/http/mount/reads/reading.ts isForbidden: decision !== "deny" && judge(mount, exchange, row.record, decision.only) => judge(mount, exchange, row.record, decision.only)',
    ],
  ],
  [
    "No project lists records that it does not let the caller read.",
    ["src/http/mount/reads/expand/judging.ts decideListings: allowed[at]! => true"],
  ],
  [
    "No project has a `check`.",
    [
      "src/http/mount/acting.ts requireRules: resource.concealed === undefined => false",
      "src/http/mount/acting.ts requireRules: resource.concealed === undefined => true",
    ],
  ],
  [
    "Every project that lets a caller replace records lets some caller create them.",
    [
      'src/http/mount/writes/changing.ts requireMayCreate: create === undefined || decideOn(create, request, mount) !== "allow" => decideOn(create, request, mount) !== "allow"',
    ],
  ],
  [
    "No project takes arrays of records whose permission depends on the id in the path.",
    [
      'src/http/mount/writes/patch-targets.ts findKnown: decisions[at] === "deny" && readings[at] === "deny" => decisions[at] === "deny"',
    ],
  ],
  [
    "No project has a unique field or a reference that a caller may neither read nor send.",
    [
      'src/http/mount/writes/outcome.ts isConcealed: column !== null && concealed !== undefined && Object.hasOwn(concealed, column.split("/", 1)[0]!) => false',
      'src/http/mount/writes/outcome.ts isConcealed: column !== null && concealed !== undefined && Object.hasOwn(concealed, column.split("/", 1)[0]!) => column !== null && concealed !== undefined',
      "src/http/mount/writes/outcome.ts isConcealed: column !== null && concealed !== undefined => concealed !== undefined",
    ],
  ],
  [
    "No project stores a field that no caller may read (`writeOnly`).",
    [
      "src/http/mount/older/older.ts olderShape: isShown(field) => true",
      "src/resource/declaration/field.ts isShown: options.writeOnly !== true && allowed?.read !== false => allowed?.read !== false",
    ],
  ],
  [
    "No older shape of a project converts a value or names a field that a caller may neither read nor send.",
    [
      "src/http/mount/older/translating.ts convertWhole: hidden?.has(name) === true => false",
      "src/http/mount/seen-by.ts viewOlder: allowed === null => true",
      "src/http/mount/seen-by.ts viewOlder: allowed.read || allowed.write => true",
      "src/http/mount/seen-by.ts viewOlder: allowed.read || allowed.write => allowed.write",
    ],
  ],
  [
    "No project names records by a field with a rule.",
    [
      "src/http/mount/seen-by.ts seenBy: allows(rule, exchange) => false",
      "src/http/mount/seen-by.ts seenBy: allows(rule, exchange) => true",
    ],
  ],
  [
    "No project has a rule of users beside that of a list which shows callers only themselves.",
    [
      'src/http/mount/seen-by.ts isOwnRequest: only !== null && "operator" in only && only.column === "id" && only.operator === "eq" && only.value === identity.id => false',
      'src/http/mount/seen-by.ts isOwnRequest: only !== null && "operator" in only && only.column === "id" && only.operator === "eq" && only.value === identity.id => only !== null && "operator" in only && only.column === "id" && only.operator === "eq"',
      'src/http/mount/seen-by.ts isOwnRequest: only !== null && "operator" in only && only.column === "id" && only.operator === "eq" => only !== null && "operator" in only && only.column === "id"',
      'src/http/mount/seen-by.ts isOwnRequest: only !== null && "operator" in only && only.column === "id" => only !== null && "operator" in only',
    ],
  ],
  [
    "No project has two rules of users, or one for a field that is not the name or the address.",
    [
      "src/http/mount/seen-by.ts viewAt: rules.includes(rule) => false",
      "src/http/mount/seen-by.ts viewAt: rules.includes(rule) => true",
      'src/http/mount/seen-by.ts showTo: decideOn(permissionOf(rule), request, null) === "allow" => false',
      'src/http/mount/seen-by.ts showTo: decideOn(permissionOf(rule), request, null) === "allow" => true',
    ],
  ],
  [
    "No effect on what is seen: `shown` leaves the field out. More columns are read.",
    ["src/http/mount/seen-by.ts makeView: isReadable(mount.newer ?? mount, name, denied) => true"],
  ],
  [
    "No project deprecates a field with a rule.",
    [
      "src/http/mount/seen-by.ts viewResource: Object.hasOwn(concealed, name) => false",
      "src/http/mount/seen-by.ts viewResource: Object.hasOwn(concealed, name) => true",
    ],
  ],
  [
    "In each project with memberships, administrators and the caller may read the user, and no other caller may read all.",
    [
      'src/http/mount/writes/known-users.ts findUnknownMember: identity?.role === "admin" => false',
      "src/http/mount/writes/known-users.ts findUnknownMember: identity?.id !== user && !(await mayRead(users, exchange, user)) => !(await mayRead(users, exchange, user))",
      'src/http/mount/writes/known-users.ts mayRead: decision === "allow" || decision === "deny" => decision === "allow"',
      'src/http/mount/writes/known-users.ts mayRead: decision === "allow" || decision === "deny" => decision === "deny"',
    ],
  ],
];

/** The known reasons, by file and change. The conditions are drawn all the same, and count as not found. */
export const unfound: Readonly<Record<string, string>> = Object.fromEntries(
  reasons.flatMap(([reason, changes]) => changes.map((change) => [change, reason])),
);
