// The declarations of the example: projects with teams, and who may do what with them.
import {
  administrator,
  allOf,
  anyOf,
  anyone,
  authenticated,
  boolean,
  caller,
  confirmed,
  decimal,
  defineResource,
  enumeration,
  mount,
  owner,
  problem,
  reference,
  text,
} from "latchkey";
import { defineUsers, hasRole, memberOf, sharesGroup, type Permission } from "latchkey/auth";
import { olderShape } from "latchkey/resources";

const finance = anyOf(hasRole("finance"), administrator);
const money = { scale: 2, maximum: "9999999.99", optional: true } as const;

const project = defineResource({
  name: "project",
  description: "Plans, each with its team.",
  fields: {
    name: text({ maxLength: 200 }),
    budget: decimal({ ...money, read: finance, write: finance }),
  },
  filters: { name: ["eq", "istarts"], budget: ["eq", "lt", "gt"] },
  sorts: ["name", "budget"],
});

const membership = defineResource({
  name: "membership",
  description: "Who belongs to a project, and as what.",
  fields: {
    user_id: reference("users"), // a user with memberships cannot be deleted
    project_id: reference(project, { onDelete: "cascade" }),
    role: enumeration(["owner", "editor", "viewer"], { default: "viewer" }),
  },
  filters: { user_id: ["eq"], project_id: ["eq"], role: ["eq"] },
  labelField: "user_id",
  unique: [["user_id", "project_id"]],
});

const task = defineResource({
  name: "task",
  description: "What is to be done.",
  fields: {
    project_id: reference(project, { onDelete: "cascade" }),
    title: text({ maxLength: 200 }),
    done: boolean({ default: false }),
    cost: decimal({ ...money, read: finance }), // editors send it without reading it
    tags: text({ maxLength: 200, optional: true }),
  },
  filters: {
    project_id: ["eq", "in"],
    title: ["eq", "ne", "starts", "icontains"],
    done: ["eq"],
    cost: ["eq", "lt", "lte", "gt", "gte", "null"],
    tags: ["eq", "contains", "null"],
  },
  sorts: ["project_id", "title", "done", "cost", "tags"],
  search: ["title", "tags"],
  scans: true,
});

const note = defineResource({ name: "note", within: project, fields: { line: text({ maxLength: 1000 }) } });

const goal = defineResource({ name: "goal", within: project, fields: { line: text({ maxLength: 200 }) } });

const account = defineResource({ name: "bank_account", fields: { number: text({ maxLength: 34, unique: true }) } });

const expense = defineResource({
  name: "expense",
  description: "Money that a member has spent for a project.",
  within: project,
  fields: {
    spender_id: reference("users", { default: caller }),
    amount: decimal({ scale: 2, maximum: "9999999.99" }),
    account_id: reference(account, { optional: true, write: finance }),
    approver_id: reference("users", { optional: true, readOnly: true }),
    payer_id: reference("users", { optional: true, readOnly: true, read: finance }),
    paid: boolean({ default: false, readOnly: true }),
    booked: boolean({ default: false, read: finance, write: finance }),
  },
  computed: {
    state: {
      as: enumeration(["new", "approved", "paid"]),
      from: ({ approver_id, paid }) => (paid ? "paid" : approver_id === null ? "new" : "approved"),
    },
  },
});

const receipt = defineResource({ name: "receipt", within: expense, fields: { number: text({ maxLength: 40 }) } });

const member = anyOf(administrator, memberOf(membership));
const editor = anyOf(administrator, memberOf(membership, { where: { role: ["owner", "editor"] } }));
const leader = anyOf(administrator, memberOf(membership, { where: { role: "owner" } }));

const tasks = mount(task, {
  permission: { list: member, read: member, create: editor, replace: editor, update: editor, delete: editor },
  arrays: true,
  expand: { project: "project_id" },
  actions: {
    finish: {
      permission: editor,
      description: "Marks a task as done",
      handle: () => ({ values: { done: true } }),
    },
  },
});

// Only owners, who may change the project, write its goals.
const goals = mount(goal, { permission: member, expand: { project: "project_id" } });

const involved = anyOf(owner("spender_id"), owner("approver_id"));

/** Allows every user apart from the one in a column. */
function others<const C extends "spender_id" | "approver_id">(column: C): Permission<C, C> {
  return {
    name: `others than ${column}`,
    description: `they are not the user in ${column}`,
    narrows: ["call"],
    columns: [column],
    userIds: [column],
    decide: ({ identity }) =>
      identity === null ? "deny" : { only: { not: { column, operator: "eq", value: identity.id } } },
  };
}

/** Allows expenses without an approval. */
const open: Permission<"approver_id"> = {
  name: "not approved",
  description: "it is not approved",
  narrows: ["update", "delete"],
  columns: ["approver_id"],
  decide: () => ({ only: { column: "approver_id", operator: "null", value: true } }),
};

const receipts = mount(receipt, {
  writers: "readers",
  permission: anyone, // the expense alone decides
});

/** Four eyes: another person approves an expense, and a third one pays it. */
const expenses = mount(expense, {
  writers: "readers",
  permission: {
    list: anyOf(finance, leader, involved),
    read: anyOf(finance, leader, involved),
    create: owner("spender_id"),
    replace: administrator,
    update: anyOf(finance, allOf(owner("spender_id"), open)),
    delete: allOf(owner("spender_id"), open),
  },
  expand: { spender: "spender_id", account: "account_id", payer: "payer_id", receipts },
  actions: {
    approve: {
      permission: allOf(leader, others("spender_id")),
      handle: ({ context }) => ({ values: { approver_id: context.requireIdentity().id } }),
    },
    pay: {
      permission: allOf(finance, confirmed({ within: 3600 }), others("spender_id"), others("approver_id")),
      problems: ["conflict"],
      handle({ context, record }) {
        if (record.approver_id === null) throw problem("conflict", { detail: "The expense is not approved." });
        return { values: { paid: true, payer_id: context.requireIdentity().id } };
      },
    },
  },
});

export const mounts = [
  mount(project, {
    permission: {
      list: member,
      read: member,
      create: authenticated,
      replace: leader,
      update: leader,
      delete: leader,
    },
    founder: { memberships: membership, values: { role: "owner" }, keep: true },
    expand: { goals },
  }),
  mount(membership, {
    permission: {
      list: member,
      read: member,
      create: leader,
      replace: leader,
      update: leader,
      delete: anyOf(leader, owner("user_id")), // members may leave
    },
    expand: { user: "user_id", project: "project_id" },
  }),
  tasks,
  mount(note, { permission: member, writers: "readers" }),
  goals,
  mount(account, { permission: finance }),
  expenses,
  receipts,
  olderShape(tasks, {
    prefix: "/v1",
    fields: { project_id: "project_id", subject: "title", done: "done", price: "cost", tags: "tags" },
  }),
];

const teammates = anyOf(administrator, sharesGroup(membership));
export const users = defineUsers({
  roles: ["user", "finance", "admin"],
  permissions: { list: teammates, read: teammates },
  rules: { email: { read: administrator } },
});
