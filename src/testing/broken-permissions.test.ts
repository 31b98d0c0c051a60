import assert from "node:assert/strict";
import { test } from "node:test";
import {
  administrator,
  anyOf,
  anyone,
  authenticated,
  not,
  owner,
  self,
  type Permission,
} from "../access/permission/permission.ts";
import type { Identity } from "../core/identity.ts";
import { boolean, integer, text } from "../resource/kinds/fields.ts";
import { defineResource } from "../resource/resource.ts";
import { certifyPermission, permissionChecks, type PermissionSubject } from "./permission-contract.ts";

const ada: Identity = { id: 2, username: "ada", role: "user", scheme: "token", scopes: null, expiresAt: null };
const root: Identity = { ...ada, id: 1, username: "root", role: "admin" };
const books = defineResource({ name: "book", fields: { owner_id: integer(), title: text(), lent: boolean() } });
const own = { column: "owner_id", operator: "eq", value: 2 } as const;
const deny = { who: null, action: "read", decision: "deny" } as const;
const allow = { who: root, action: "read", decision: "allow" } as const;

certifyPermission("administrators, or the owner", () => ({
  permission: anyOf(administrator, owner("owner_id")),
  resource: books,
  examples: [deny, allow, { who: ada, action: "update", decision: { only: own } }],
}));

certifyPermission("the user in the path", () => ({
  permission: self(),
  resource: books,
  examples: [
    deny,
    { who: ada, action: "read", params: { id: 2 }, decision: "allow" },
    { who: ada, action: "read", params: { id: 3 }, decision: "deny" },
  ],
}));

certifyPermission("all callers except administrators", () => ({
  permission: not(administrator),
  admitsUnknown: true,
  examples: [
    { ...allow, decision: "deny" },
    { ...deny, decision: "allow" },
  ],
}));

const good: PermissionSubject = { permission: authenticated, resource: books, examples: [deny, allow] };
const decides = (decide: (request: Parameters<Permission["decide"]>[0]) => unknown): Partial<Permission<string>> => ({
  decide: decide as Permission["decide"],
});
let questionCount = 0;

const atOnce = "decides every question synchronously, and never throws";
const broken: readonly (readonly [what: string, check: string, change: Partial<Permission<string>>])[] = [
  ["has no name", "has a name, and names the actions for which it narrows", { name: "" }],
  [
    "narrows an unknown action",
    "has a name, and names the actions for which it narrows",
    { narrows: ["reed" as "read"] },
  ],
  ["decides asynchronously", atOnce, decides(async () => "allow")],
  ["returns true as a decision", atOnce, decides(({ identity }) => (identity === null ? "deny" : true))],
  ["throws for an unknown caller", atOnce, decides(({ identity }) => (identity!.role === "admin" ? "allow" : "deny"))],
  [
    "throws for a credential without scopes",
    atOnce,
    decides(({ identity }) => identity?.scopes?.[0]!.length && "deny"),
  ],
  ["allows every caller", "returns the decision that each example requires", anyone],
  ["denies every caller", "returns the decision that each example requires", decides(() => "deny")],
  [
    "alternates its answers",
    "gives the same question the same answer, independent of earlier questions",
    decides(() => (++questionCount % 2 === 0 ? "allow" : "deny")),
  ],
  [
    "narrows without declaring it",
    "narrows to rows only for the actions that it names",
    decides(() => ({ only: own })),
  ],
  ["narrows by a missing column", "narrows by existing columns, and by values of their types", owner("ownr_id")],
  [
    "compares booleans by their order",
    atOnce,
    decides(() => ({ only: { column: "lent", operator: "gte", value: true } })),
  ],
  ["allows unknown callers", "denies unknown callers, unless `admitsUnknown` is true", decides(() => "allow")],
  [
    "turns the caller into an administrator",
    "does not modify the request that it decides on",
    decides(({ identity }) => {
      if (identity !== null) Object.assign(identity, { role: "admin" });
      return "deny";
    }),
  ],
];

for (const [what, check, change] of broken) {
  test(`catches a permission that ${what}: ${check}`, () => {
    const named = permissionChecks.find(({ name }) => name === check);
    assert.ok(named, "the check is there");

    assert.throws(
      () => named.run(() => ({ ...good, permission: { ...good.permission, ...change } })),
      assert.AssertionError,
    );
  });
}
