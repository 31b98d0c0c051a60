import assert from "node:assert/strict";
import test from "node:test";
import { anyone, defineResource, mount, text } from "../../door/index.ts";
import type { Key } from "../../store/store.ts";
import { placeMounts } from "../mount/placing.ts";
import { stateTags } from "./state-tags.ts";

const key = new Uint8Array(32).fill(1);
const [notes, books] = placeMounts(
  [
    defineResource({ name: "note", fields: { title: text() } }),
    defineResource({ name: "book", fields: { title: text() } }),
  ].map((resource) => mount(resource, { permission: anyone })),
);

test("gives each state of each record of each table a different tag", () => {
  const tag = stateTags(key);
  const ids: readonly Key[] = [
    1,
    2,
    256,
    2 ** 32 + 1,
    2 ** 53 - 1,
    "",
    "1",
    "2",
    "a",
    "a\0",
    "12345678",
    "12345678\0",
    "123456789",
  ];
  const revisions = [0, 1, 2, 256, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1, -1, -(2 ** 53) + 1];

  const tags = [notes!, books!].flatMap((mount) =>
    ids.flatMap((id) => revisions.map((revision) => tag(mount, { record: { id }, revision }))),
  );

  assert.equal(new Set(tags).size, 2 * ids.length * revisions.length);
  for (const each of tags) assert.match(each, /^[\w-]{12}$/);
});

test("gives the same tags for the same key, and different tags for another key", () => {
  const row = { record: { id: 1 }, revision: 7 };

  const tag = stateTags(key)(notes!, row);

  assert.equal(stateTags(Uint8Array.from(key))(notes!, row), tag);
  assert.notEqual(stateTags(new Uint8Array(32))(notes!, row), tag);
});
