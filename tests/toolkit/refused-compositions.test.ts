import assert from "node:assert/strict";
import { test } from "node:test";
import {
  defineUsers,
  hasRole,
  makeRevocations,
  type Decision,
  type Permission,
  type PermissionRequest,
} from "../../src/door/auth.ts";
import type { Upkeep } from "../../src/door/features.ts";
import {
  accounts,
  administrator,
  allOf,
  anyOf,
  createService,
  defineFeature,
  defineResource,
  json,
  mount,
  nobody,
  not,
  owner,
  scope,
  Secret,
  self,
  text,
  type ServiceOptions,
} from "../../src/door/index.ts";
import { array, DeclarationError, references, standardSchema } from "../../src/door/resources.ts";
import { sqliteStore, type Change, type Collection, type Where } from "../../src/door/stores.ts";

// On SQLite alone: these services are refused before they open their store.

async function collectMistakes(options: Partial<ServiceOptions>): Promise<readonly string[]> {
  const secret = new Secret("a secret of more than 32 characters");
  const error: unknown = await createService({ store: sqliteStore({ path: ":memory:" }), secret, ...options }).then(
    (service) => service.close(),
    (thrown: unknown) => thrown,
  );
  if (error === undefined) return [];
  assert.ok(error instanceof DeclarationError, String(error));
  return error.mistakes;
}

function thrownBy(declare: () => unknown): string {
  try {
    declare();
  } catch (error) {
    assert.ok(error instanceof DeclarationError, String(error));
    return error.mistakes.join("\n");
  }
  return "";
}

const codes: Collection = {
  name: "codes",
  key: "text",
  columns: [
    { name: "user_id", type: "integer" },
    { name: "generation", type: "integer" },
  ],
};

/** A custom login whose rows are deleted when the password changes. */
function ownLogin(table: Collection, collections: readonly Collection[], step: "setUp" | "start" = "setUp") {
  const people = accounts();
  const codeLogin = defineFeature({
    name: "code-login",
    needs: [people],
    setUp(host) {
      const { registerTable } = host.use(people).endings;
      const register = (): void => registerTable("password", table);
      if (step === "setUp") register();
      return { offer: null, collections, start: () => (step === "start" ? register() : undefined) };
    },
  });
  return { features: [codeLogin, people] };
}

test("refuses a table whose rows cannot be deleted when a password changes", async () => {
  const [userId, generation] = codes.columns;
  const rows: readonly (readonly [table: Collection, wanted: RegExp])[] = [
    [
      { ...codes, columns: [generation!] },
      /registerTable\("password", codes\): the column user_id is missing; declare \{/,
    ],
    [{ ...codes, columns: [{ name: "user_id", type: "text" }] }, /the column user_id holds text; declare \{/],
    [
      { ...codes, columns: [userId!, { name: "generation", type: "text" }] },
      /the column generation holds text; declare \{ name: "generation", type: "integer" \}$/,
    ],
    [null as unknown as Collection, /registerTable\("password"\): the table is null; give a collection$/],
  ];

  for (const [table, wanted] of rows) {
    const mistakes = await collectMistakes(ownLogin(table, [codes]));
    assert.equal(mistakes.length, 1, mistakes.join("\n"));
    assert.match(mistakes[0]!, /^feature code-login: registerTable/);
    assert.match(mistakes[0]!, wanted);
  }
  assert.deepEqual(await collectMistakes(ownLogin(codes, [])), [
    'feature accounts: registerTable("password", codes): the service has no such table; add it to the collections of the feature',
  ]);
  assert.deepEqual(await collectMistakes(ownLogin(codes, [codes], "start")), [
    'feature code-login: registerTable("password", codes): the features are set up already; call it in setUp',
  ]);
  assert.deepEqual(await collectMistakes(ownLogin(codes, [codes])), []);
});

test("does not compare the integer keys of a table with a session id, which is a text", () => {
  const table: Collection = { ...codes, key: "integer" };
  const revocations = makeRevocations({
    store: sqliteStore({ path: ":memory:" }),
    accessSeconds: 300,
    endWithGeneration: [table],
    endWithAccount: [],
  });

  const changes = revocations.endLogins({ id: 7, generation: 1 }, { family: "a", sessionId: "b" }, 0);

  assert.deepEqual(
    changes.filter((change) => change.collection === table),
    [{ kind: "deleteAll", collection: table, where: { column: "user_id", operator: "eq", value: 7 } }],
  );
});

test("refuses to negate a permission that narrows to rows", async () => {
  const narrowing: readonly Permission<string>[] = [
    owner("owner_id"),
    self(),
    anyOf(administrator, owner("owner_id")),
    allOf(nobody, anyOf(self(), nobody)),
  ];
  for (const each of narrowing)
    assert.match(
      thrownBy(() => not(each as Permission)),
      /^not\(.+\): the permission narrows to rows, and .* cannot be negated\. Write the opposite condition/,
    );
  // @ts-expect-error -- it narrows by a column
  const narrows = () => not(owner("owner_id"));
  // @ts-expect-error -- one of them narrows by a column
  const together = () => not(anyOf(administrator, owner("owner_id")));
  for (const declare of [narrows, together]) assert.notEqual(thrownBy(declare), "");
  assert.equal(
    thrownBy(() => not(not(anyOf(administrator, scope("notes:read"))))),
    "",
  );
});

test("refuses a permission that narrows by an incomparable column", async () => {
  const tags = defineResource({ name: "tag", fields: { label: text() } });
  const posts = defineResource({
    name: "post",
    fields: {
      meta: json({ optional: true }),
      words: array(text()),
      tags: references(tags),
      place: standardSchema<{ readonly city: string }>(
        { "~standard": { version: 1, vendor: "own", validate: (value) => ({ value: value as { city: string } }) } },
        { jsonSchema: { type: "object" } },
      ),
      label: text(),
    },
  });
  const by = <const C extends string>(column: C): Permission<C> => ({
    name: `by ${column}`,
    narrows: ["list", "read", "call"],
    columns: [column],
    decide: () => ({ only: { column, operator: "null", value: false } as never }),
  });

  for (const column of ["meta", "words", "tags", "place"])
    for (const permission of [by(column), anyOf(administrator, by(column))])
      assert.match(
        thrownBy(() => mount(posts, { permission: permission as Permission })),
        new RegExp(
          `mount\\(/posts\\): the permission .+ narrows by the column ${column}, which holds JSON or a list and cannot be compared; store the`,
        ),
      );
  assert.match(
    thrownBy(() =>
      mount(posts, {
        permission: nobody,
        actions: { send: { permission: by("meta") as Permission, answer: "nothing", handle: () => ({}) } },
      }),
    ),
    /the permission by meta narrows by the column meta, which holds JSON/,
  );
  // @ts-expect-error -- it holds JSON
  const byJSON = () => mount(posts, { permission: by("meta") });
  // @ts-expect-error -- it holds a list
  const byList = () => mount(posts, { permission: { list: by("words") } });
  // @ts-expect-error -- it holds the ids of several records
  const byTags = () => mount(posts, { permission: by("tags") });
  // @ts-expect-error -- it holds an object
  const byPlace = () => mount(posts, { permission: by("place") });
  for (const declare of [byJSON, byList, byTags, byPlace]) assert.notEqual(thrownBy(declare), "");
  assert.equal(
    thrownBy(() => mount(posts, { permission: by("label") })),
    "",
  );
});

test("does not compile a permission that narrows by a condition on words or links", () => {
  const only =
    (where: Where): ((request: PermissionRequest) => unknown) =>
    () => ({ only: where });
  type Decide = (request: PermissionRequest) => Decision;
  const word = { word: "news" } as const;
  const link = { link: codes, record: "post_id", linked: "tag_id", values: [1] } as const;

  // @ts-expect-error -- a word
  const byWord: Decide = () => ({ only: word });
  // @ts-expect-error -- a link
  const byLink: Decide = () => ({ only: link });
  // @ts-expect-error -- a link within other conditions
  const within: Decide = () => ({ only: { all: [{ not: link }] } });
  // @ts-expect-error -- any condition
  const any: Decide = only(word);

  assert.equal([byWord, byLink, within, any].length, 4);
});

test("refuses a permission that requires a role which no user can have", async () => {
  const notes = defineResource({ name: "note", fields: { body: text() } });
  const users = defineUsers({ roles: ["user", "editor", "admin"] });
  const editors = hasRole(users, "editor");
  const roleMistake = ({ name }: Permission): string =>
    `the permission ${name} requires the role editor, which no user can have; there are user, admin; give accounts() the same users: accounts(users), or users in the config file`;

  for (const permission of [editors, anyOf(administrator, allOf(editors, nobody)), not(editors)])
    assert.deepEqual(await collectMistakes({ features: [accounts()], mounts: [mount(notes, { permission })] }), [
      `mount(/notes): ${roleMistake(permission)}`,
    ]);
  assert.deepEqual(
    await collectMistakes({
      features: [accounts()],
      endpoints: [{ method: "GET", path: "/x", access: editors, handle: () => ({ status: 204 }) }],
    }),
    [`endpoint GET /x: ${roleMistake(editors)}`],
  );
  assert.deepEqual(
    await collectMistakes({ features: [accounts(users)], mounts: [mount(notes, { permission: editors })] }),
    [],
  );
  // Without accounts(), any role is possible, because custom schemes choose the roles.
  assert.deepEqual(await collectMistakes({ mounts: [mount(notes, { permission: editors })] }), []);
});

test("refuses upkeep that names a missing table or column", async () => {
  const visits: Collection = { name: "visits", key: "integer", columns: [{ name: "at", type: "integer" }] };
  const past = (column: string): Where => ({ column, operator: "lt", value: 1 });
  const erase = (column: string): Change => ({ kind: "deleteAll", collection: visits, where: past(column) });
  const eraseAmong = (collection: Collection, select = "id", column = "at"): Change => ({
    kind: "deleteAll",
    collection: visits,
    where: { column: "id", among: { collection, select, where: past(column) } },
  });
  const rows: readonly (readonly [changes: readonly Change[], wanted: string])[] = [
    [[erase("att")], "visits has no column att; did you mean at?"],
    [
      [{ ...erase("at"), where: { all: [{ not: past("att") }] } } as Change],
      "visits has no column att; did you mean at?",
    ],
    [
      [{ kind: "updateAll", collection: visits, where: past("at"), values: { seen: 1 } }],
      "visits has no column seen; there are id, at",
    ],
    [[{ kind: "insert", collection: visits, values: { att: 1 } }], "visits has no column att; did you mean at?"],
    [
      [{ kind: "add", collection: visits, key: 1, column: "hits", by: 1, values: {} }],
      "visits has no column hits; there are id, at",
    ],
    [
      [{ kind: "deleteAll", collection: { ...visits, name: "visit" }, where: past("at") }],
      "there is no table visit; did you mean visits?; add it to the collections of the feature",
    ],
    [
      [
        {
          ...erase("at"),
          where: { link: visits, record: "post_id", linked: "at", values: [1] },
        } as Change,
      ],
      "visits has no column post_id; there are id, at",
    ],
    [[eraseAmong({ ...visits, name: "visit" })], "there is no table visit; did you mean visits?"],
    [[eraseAmong(visits, "att")], "visits has no column att; did you mean at?"],
    [[eraseAmong(visits, "id", "att")], "visits has no column att; did you mean at?"],
    [
      [{ kind: "erase" } as unknown as Change],
      "Change 0 of a transaction cannot be made: its kind is 'erase'; it has to be one of",
    ],
    [Promise.resolve([]) as unknown as Change[], "due gave a promise; it has to give its value at once"],
    [{} as unknown as Change[], "due gave an object; it has to give a list of changes, which may be empty"],
  ];
  const withUpkeep = (due: Upkeep["due"]) => ({
    features: [
      defineFeature({
        name: "visits",
        setUp: () => ({ offer: null, collections: [visits], upkeep: [{ everySeconds: 60, due }] }),
      }),
    ],
  });

  for (const [changes, wanted] of rows) {
    const mistakes = await collectMistakes(withUpkeep(() => changes));
    assert.equal(mistakes.length, 1, mistakes.join("\n"));
    assert.ok(mistakes[0]!.startsWith(`feature visits: upkeep: ${wanted}`), mistakes.join());
  }
  assert.deepEqual(await collectMistakes(withUpkeep(() => [erase("at"), erase("id")])), []);
});
