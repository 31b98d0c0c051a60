import assert from "node:assert/strict";
import { test } from "node:test";
import { administrator, anyone } from "../../access/permission/permission.ts";
import { reference } from "../../resource/kinds/reference.ts";
import { text } from "../../resource/kinds/texts.ts";
import { defineResource } from "../../resource/resource.ts";
import { mount, type ServedMount } from "../declarations/mount.ts";
import { exempt, exemptionOf } from "../declarations/rules.ts";
import type { Exchange } from "../request/exchange.ts";
import { placeMounts } from "./placing.ts";
import { collectRules, seenAt, seenBy } from "./seen-by.ts";

const authors = defineResource({ name: "author", fields: { name: text() } });
const books = defineResource({ name: "book", fields: { title: text(), author_id: reference(authors) } });
const reports = defineResource({
  name: "report",
  fields: { line: text({ optional: true, read: administrator, write: administrator }), book_id: reference(books) },
});

const mountOfAuthors = mount(authors, { permission: anyone });
const mountOfBooks = mount(books, { permission: anyone, expand: { author: "author_id" } });
const mountOfReports = mount(reports, { permission: anyone, expand: { book: "book_id" } });

function placed(): readonly ServedMount[] {
  return placeMounts([mountOfAuthors, mountOfBooks, mountOfReports]);
}

/** An exchange with nothing but a caller. Any other use fails the test. */
function exchangeOf(role: "user" | "admin", params: Exchange["params"] = {}): Exchange {
  const identity = { id: 1, username: "ada", role, scheme: "basic", scopes: null, expiresAt: null };
  const known = { ruled: new Map(), params, only: null, action: "read", now: 0 };
  return { ...known, identity, observedIdentity: identity } as unknown as Exchange;
}

test("gives every caller the mount itself if no rule can concern its responses", () => {
  const [, ofBooks] = placed();
  const unasked = new Proxy({} as Exchange, {
    get: (_, name) => assert.fail(`asked for ${String(name)}`),
  });

  assert.equal(seenBy(ofBooks!, unasked), ofBooks);
});

test("gives a caller to whom no rule denies anything the mount itself", () => {
  const [, , ofReports] = placed();

  assert.equal(seenBy(ofReports!, exchangeOf("admin")), ofReports);
  assert.equal(seenAt(ofReports!, exchangeOf("admin")), ofReports);
});

test("makes one view for all callers with the same denied rules, and leads on to mounts without rules", () => {
  const [, ofBooks, ofReports] = placed();
  const view = seenBy(ofReports!, exchangeOf("user"));

  assert.notEqual(view, ofReports);
  assert.equal(seenBy(ofReports!, exchangeOf("user")), view);
  assert.deepEqual(Object.keys(view.resource.fields), ["book_id"]);
  assert.equal(view.relations[0]!.to, ofBooks);
});

test("makes one view for all callers with the same denied rules at their own records", () => {
  const others = exempt(administrator, null);
  const people = defineResource({
    name: "person",
    fields: { name: text({ optional: true, read: others }), card: text({ optional: true, read: administrator }) },
  });
  const [ofPeople] = placeMounts([mount(people, { permission: anyone })]);
  const view = seenAt(ofPeople!, exchangeOf("user", { id: 1 }));

  assert.deepEqual(view.shown, ["id", "name"]);
  assert.equal(seenAt(ofPeople!, exchangeOf("user", { id: 1 })), view);
  assert.deepEqual(seenAt(ofPeople!, exchangeOf("user", { id: 2 })).shown, ["id"]);
});

test("keeps the resource of a mount that only leads to fields with rules", () => {
  const votes = defineResource({ name: "vote", fields: { report_id: reference(reports) } });
  const mountOfVotes = mount(votes, { permission: anyone, expand: { report: "report_id" } });
  const ofVotes = placeMounts([mountOfAuthors, mountOfBooks, mountOfReports, mountOfVotes])[3]!;
  const view = seenBy(ofVotes, exchangeOf("user"));

  assert.equal(view.resource, ofVotes.resource);
  assert.deepEqual(Object.keys(view.relations[0]!.to.resource.fields), ["book_id"]);
});

test("collects the rules of a mount once", () => {
  const [, , ofReports] = placed();

  assert.equal(collectRules(ofReports!), collectRules(ofReports!));
});

test("knows the parts of a rule that does not hold for the own record", () => {
  const others = exempt(administrator, null);

  assert.deepEqual(exemptionOf(others), { rule: administrator, own: null });
  assert.equal(exemptionOf(administrator), null);
});
