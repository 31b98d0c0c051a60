import assert from "node:assert/strict";
import { test } from "node:test";
import type { Value } from "../../../store/store.ts";
import { makeView, type RevocableClaims } from "./revoked.ts";

const now = Date.parse("2026-03-01T12:00:00Z");
const claims: RevocableClaims = { sub: 7, gen: 3, role: "user", roleChanges: 0, fam: "family" };

interface RevocationRow {
  readonly generation: number;
  readonly role_changes?: number;
  readonly role?: string;
  readonly kept_family?: string;
  /** The expiry, in seconds after `now`. */
  readonly lives: number;
}

/** Returns the view of a process that has received these rows in this order. */
function createView(ended: readonly RevocationRow[]): ReturnType<typeof makeView> {
  const view = makeView();
  for (const { lives, ...values } of ended) {
    const none = { family: null, role: null, role_changes: null, kept_family: null };
    const expires_at = new Date(now + lives * 1000).toISOString();
    const record: Record<string, Value> = { ...none, user_id: 7, ...values, expires_at };
    view.take({ record, revision: 1 });
  }
  return view;
}

/** Runs a check with the rows in both orders. */
function inBothOrders(
  ended: readonly [RevocationRow, RevocationRow],
  check: (view: ReturnType<typeof makeView>) => void,
): void {
  for (const rows of [ended, ended.toReversed()]) check(createView(rows));
}

test("uses the highest number of role changes of a user, in any order of the rows", () => {
  const rows = [1, 2].map((role_changes) => ({ generation: 3, role_changes, role: "user", lives: 360 }));

  inBothOrders(rows as [RevocationRow, RevocationRow], (view) => {
    for (const [roleChanges, ended] of [
      [0, true],
      [1, true],
      [2, false],
    ] as const)
      assert.equal(view.isEnded({ ...claims, roleChanges }, now), ended, `${roleChanges} role changes`);
  });
});

test("remembers the end of a user's tokens until the last one expires, for any order of the rows", () => {
  const byRole = { generation: 3, role_changes: 1 };
  for (const [first, second] of [
    [byRole, { ...byRole, role_changes: 2 }],
    [{ generation: 4 }, { generation: 5 }],
    [byRole, { generation: 4, kept_family: "family" }],
  ] as const)
    for (const [one, other] of [
      [360, 120],
      [120, 360],
    ] as const)
      inBothOrders(
        [
          { ...first, lives: one },
          { ...second, lives: other },
        ],
        (view) => {
          assert.equal(view.isEnded(claims, now + 359_999), true);
          assert.equal(view.isEnded(claims, now + 360_000), false);
        },
      );
});
