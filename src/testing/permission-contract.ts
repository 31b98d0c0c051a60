import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import {
  everyAction,
  type Action,
  type Decision,
  type Permission,
  type PermissionRequest,
} from "../access/permission/contract.ts";
import { decideOn, requireDecision } from "../access/permission/decision.ts";
import { aFunction, text } from "../core/checking/members.ts";
import { requireArguments } from "../core/checking/options.ts";
import type { Identity } from "../core/identity.ts";
import { buildCollection } from "../http/declarations/collection.ts";
import type { Resource } from "../resource/resource.ts";

/** A question to a permission, with the required answer. */
export interface PermissionExample {
  /** The caller. Null for an unknown caller. */
  readonly who: Identity | null;
  readonly action: Action;
  /** The parameters of the path. Default: `{ id: 1 }`. */
  readonly params?: Readonly<Record<string, number | string>>;
  readonly decision: Decision;
}

/** A permission, and its required behavior. */
export interface PermissionSubject {
  readonly permission: Permission<string>;
  /** The resource that the permission is mounted with. Required if it allows only some rows. */
  readonly resource?: Resource;
  /** True if the permission may allow unknown callers. Default: false. */
  readonly admitsUnknown?: boolean;
  /** The examples. At least one must deny, and at least one must allow all rows or some. */
  readonly examples: readonly PermissionExample[];
}

/** A promise of every permission, and its test. */
export interface PermissionCheck {
  readonly name: string;
  /** Throws if the permission breaks the promise. */
  run(make: () => PermissionSubject): void;
}

/** Runs all promises of a permission as tests of node:test. `make` makes a new permission for each promise. */
export function certifyPermission(name: string, make: () => PermissionSubject): void {
  requireArguments("certifyPermission", arguments, { name: text, make: aFunction });
  for (const check of permissionChecks) test(`${name}: ${check.name}`, () => check.run(make));
}

/** All promises of a permission. */
export const permissionChecks: readonly PermissionCheck[] = [
  createCheck("has a name, and names the actions for which it narrows", ({ permission }) => {
    assert.ok(typeof permission.name === "string" && permission.name !== "", "it has a name");
    for (const action of permission.narrows ?? []) assert.ok(everyAction.includes(action), `${action} is an action`);
  }),

  createCheck("decides every question synchronously, and never throws", (subject) => {
    for (const question of questionsTo(subject)) requireDecision(subject.permission, question);
  }),

  createCheck("returns the decision that each example requires", ({ permission, examples }) => {
    const kinds = new Set(examples.map(({ decision }) => decision === "deny"));
    assert.equal(kinds.size, 2, "one example allows, and another denies");
    for (const { who, action, params = { id: 1 }, decision } of examples) {
      const message = `${permission.name} for ${who === null ? "nobody" : who.username} to ${action}`;
      assert.deepEqual(requireDecision(permission, { identity: who, action, params, now: 0 }), decision, message);
    }
  }),

  createCheck("gives the same question the same answer, independent of earlier questions", (subject) => {
    const questions = questionsTo(subject);
    const first = questions.map((question) => requireDecision(subject.permission, question));
    const again = questions.toReversed().map((question) => requireDecision(subject.permission, question));
    assert.deepEqual(again.toReversed(), first);
  }),

  createCheck("narrows to rows only for the actions that it names", (subject) => {
    const { narrows = [], name } = subject.permission;
    for (const question of questionsTo(subject)) {
      const narrowed = typeof requireDecision(subject.permission, question) === "object";
      assert.ok(
        !narrowed || narrows.includes(question.action),
        `${name} narrows ${question.action}, which is not in narrows`,
      );
    }
  }),

  createCheck("narrows by existing columns, and by values of their types", (subject) => {
    const { resource, permission } = subject;
    if (resource === undefined) return;
    const memberships = new Map((permission.memberships ?? []).map((each) => [each, buildCollection(each)]));
    const rows = { collection: buildCollection(resource), memberships };
    for (const question of questionsTo(subject)) decideOn(permission, question, rows);
  }),

  createCheck("denies unknown callers, unless `admitsUnknown` is true", (subject) => {
    if (subject.admitsUnknown === true) return;
    for (const question of questionsTo(subject).filter(({ identity }) => identity === null))
      assert.equal(requireDecision(subject.permission, question), "deny", `an unknown caller may ${question.action}`);
  }),

  createCheck("does not modify the request that it decides on", (subject) => {
    for (const question of questionsTo(subject)) {
      const before = structuredClone(question);
      requireDecision(subject.permission, question);
      assert.ok(isDeepStrictEqual(question, before), `${subject.permission.name} changes the question`);
    }
  }),
];

/** Creates a check. Any exception also breaks the promise. */
function createCheck(name: string, keep: (subject: PermissionSubject) => void): PermissionCheck {
  return {
    name,
    run(make) {
      try {
        keep(make());
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        assert.fail(error instanceof Error ? error.message : String(error));
      }
    },
  };
}

const user: Identity = { id: 2, username: "ada", role: "user", scheme: "token", scopes: null, expiresAt: null };
const callers: readonly (Identity | null)[] = [
  null,
  user,
  { ...user, id: 3, username: "ben", expiresAt: 0 },
  { ...user, scopes: [] },
  { ...user, scopes: ["read"] },
  { ...user, scopes: ["write"] },
  { ...user, id: 1, username: "root", role: "admin" },
  { ...user, id: Number.MAX_SAFE_INTEGER, username: "constructor" },
];
const paths: readonly PermissionRequest["params"][] = [{}, { id: 1 }, { id: 2 }, { id: Number.MAX_SAFE_INTEGER }];

/**
 * Returns a question for each combination of caller, action and path, and the questions of the examples. Each question
 * is a copy.
 */
function questionsTo({ examples }: PermissionSubject): readonly PermissionRequest[] {
  const exampleQuestions = examples.map(({ who, action, params = { id: 1 } }) => ({
    identity: who,
    action,
    params,
    now: 0,
  }));
  const crossed = callers.flatMap((identity) =>
    everyAction.flatMap((action) => paths.map((params) => ({ identity, action, params, now: 0 }))),
  );
  return structuredClone([...exampleQuestions, ...crossed]);
}
