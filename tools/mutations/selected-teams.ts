import type { Selected } from "./selected.ts";

/** The conditions of rows by membership: `memberOf`, `sharesGroup`, and the records that are judged in memory. */
const members: Selected = {
  tests: [
    "src/access/permission/decision.test.ts",
    "src/access/permission/implying.test.ts",
    "src/http/mount/reads/matches.test.ts",
    "tests/teams/actions.test.ts",
    "tests/teams/combined-actions.test.ts",
    "tests/teams/combined-permissions.test.ts",
    "tests/teams/existing-teams.test.ts",
    "tests/teams/group-columns.test.ts",
    "tests/teams/member-of.test.ts",
    "tests/teams/nested-records.test.ts",
    "tests/teams/overtaken.test.ts",
    "tests/teams/refused.test.ts",
    "tests/teams/repeated-memberships.test.ts",
    "tests/teams/shared-columns.test.ts",
    "tests/teams/shares-existing.test.ts",
    "tests/teams/shares-group.test.ts",
    "tests/teams/two-services.test.ts",
    "tests/resources/wrong-values.test.ts",
    "tests/toolkit/refused-compositions.test.ts",
    "tests/toolkit/toolkit-writers.test.ts",
    "tests/toolkit/two-copies.test.ts",
  ],
  files: {
    "src/features/auth/teams/member-of.ts": "all",
    "src/features/auth/teams/shares-group.ts": "all",
    "src/http/declarations/memberships.ts": "all",
    "src/http/declarations/named-memberships.ts": "all",
    "src/http/mount/membership-tables.ts": "all",
    "src/http/mount/founders.ts": { collectSharedUsers: true },
    "src/http/mount/placing.ts": { placeMounts: /tables|memberships|shared/ },
    "src/http/mount/acting.ts": { requireResult: /judge|requireKnownMember|isMoved/, isMoved: true },
    "src/http/mount/reads/settling.ts": "all",
    "src/http/mount/writes/known-users.ts": "all",
    "src/http/mount/writes/changing.ts": {
      insertRecord: /requireKnown/,
      createUnder: /requireKnown/,
      change: /requireKnown/,
    },
    "src/http/mount/writes/creating-all.ts": { preparePart: /requireKnown/ },
    "src/http/mount/writes/updating-all.ts": { preparePart: /requireKnown/ },
    "src/access/permission/narrowing.ts": { resolveRows: true, resolveMemberRows: true, findType: true },
    "src/feature/due.ts": { missingInside: true },
  },
};

/** The conditions of founders and of the last owner: `founder` and `keep`. */
const founders: Selected = {
  tests: [
    "tests/teams/founder-changes.test.ts",
    "tests/teams/founder-existing.test.ts",
    "tests/teams/founder-hooks.test.ts",
    "tests/teams/founder-overtaken.test.ts",
    "tests/teams/founder-races.test.ts",
    "tests/teams/founder-start.test.ts",
    "tests/teams/founder-values.test.ts",
    "tests/teams/founder.test.ts",
    "tests/teams/refused.test.ts",
  ],
  files: {
    "src/http/declarations/founder.ts": "all",
    "src/http/mount/founders.ts": { misplacedFounder: true, collectFounders: true, withLastOwner: true },
    "src/http/mount/placing.ts": { placeMounts: /founding/ },
    "src/http/mount/writes/founding.ts": "all",
    "src/http/mount/writes/keeping.ts": "all",
    "src/http/mount/writes/owners.ts": "all",
    "src/http/mount/writes/changing.ts": { creationRefusal: true },
    "src/http/mount/writes/record-arrays.ts": { joinChanges: /from|each/, buildRefusal: /founded/ },
  },
};

/** The conditions of invitations to groups. */
const invitations: Selected = {
  tests: [
    "tests/teams/invitations-acting.test.ts",
    "tests/teams/invitations-hidden.test.ts",
    "tests/teams/invitations-links.test.ts",
    "tests/teams/invitations-listed.test.ts",
    "tests/teams/invitations-overtaken.test.ts",
    "tests/teams/invitations-pages.test.ts",
    "tests/teams/invitations-races.test.ts",
    "tests/teams/invitations-seats.test.ts",
    "tests/teams/invitations-sent.test.ts",
    "tests/teams/invitations-start.test.ts",
    "tests/teams/invitations.test.ts",
    "tests/teams/invited-addresses.test.ts",
  ],
  files: {
    "src/features/auth/invitations/accept-endpoints.ts": "all",
    "src/features/auth/invitations/accepting.ts": "all",
    "src/features/auth/invitations/endpoints.ts": "all",
    "src/features/auth/invitations/invitations.ts": "all",
    "src/features/auth/invitations/judging.ts": "all",
    "src/features/auth/invitations/listing.ts": "all",
    "src/features/auth/invitations/opening.ts": "all",
    "src/features/auth/invitations/parts.ts": "all",
    "src/features/auth/invitations/sending.ts": "all",
    "src/http/declarations/invitations.ts": "all",
    "src/http/mount/writes/creating-for.ts": "all",
    "src/feature/inviting.ts": "all",
  },
};

/** The conditions of lists by other rows (`among`), as both databases compile them. */
const among: Selected = {
  tests: [
    "src/store/inner-collections.test.ts",
    "src/store/postgres/reads/semi-joins.test.ts",
    "src/store/served-among.test.ts",
    "src/store/served.test.ts",
    "src/store/sql/where.test.ts",
    "src/store/sqlite/reads/semi-joins.test.ts",
    "tests/existing/semi-joins.test.ts",
    "tests/lists/semi-joins-model.test.ts",
    "tests/resources/wrong-values.test.ts",
    "tests/teams/existing-teams.test.ts",
  ],
  files: {
    "src/store/inner-collections.ts": "all",
    "src/store/served.ts": {
      collect: /hasAmong|among/,
      isInnerFound: true,
      isFoundByIndex: true,
      isIndexed: true,
      hasNoKnownIndex: true,
    },
    "src/store/sql/where.ts": {
      compileWhere: /among/,
      isCondition: /among/,
      isAmong: true,
      compileAmong: true,
      compareValues: true,
      compileValues: true,
      requireKeyLike: true,
    },
  },
};

/** The conditions that choose how SQLite reads a list by other rows. */
const amongOnSQLite: Selected = {
  tests: ["src/store/sqlite/reads/semi-joins.test.ts"],
  files: { "src/store/sqlite/reads/semi-joins.ts": "all" },
};

/** The conditions of lists by other rows that only PostgreSQL has. */
const amongOnPostgres: Selected = {
  onPostgres: true,
  tests: [
    "src/store/postgres/postgres.test.ts",
    "src/store/postgres/reads/semi-joins.test.ts",
    "tests/existing/semi-joins.test.ts",
    "tests/lists/semi-joins-model.test.ts",
  ],
  files: {
    "src/store/postgres/reads/semi-joins.ts": "all",
    "src/store/sql/where.ts": { compareValues: true },
  },
};

/** The selected conditions of teams, by kind. */
export const selectedOfTeams: Readonly<Record<string, Selected>> = {
  members,
  founders,
  invitations,
  among,
  amongOnSQLite,
  amongOnPostgres,
};
