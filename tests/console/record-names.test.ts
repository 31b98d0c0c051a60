import assert from "node:assert/strict";
import { test } from "node:test";
import { consolePages } from "../../src/door/features.ts";
import {
  administrator,
  anyone,
  defineResource,
  enumeration,
  integer,
  mount,
  reference,
  text,
} from "../../src/door/index.ts";
import { ownService } from "../harness/own-service.ts";

const browser = { headers: { accept: "text/html" } };

test("names the page of a record by any value of its declared field, and never by a missing or an empty one", async (t) => {
  const notes = defineResource({
    name: "note",
    fields: { head: text({ optional: true, minLength: 0 }), pages: integer() },
    labelField: "head",
  });
  const seats = defineResource({ name: "seat", fields: { number: integer() }, labelField: "number" });
  const moods = defineResource({
    name: "mood",
    fields: { kind: enumeration(["low", "high"], { labels: { low: "Sad", high: "Glad" } }) },
    labelField: "kind",
  });
  const guests = defineResource({
    name: "guest",
    fields: { seat_id: reference(seats, { optional: true }), mood_id: reference(moods) },
    labelField: "seat_id",
  });
  const visits = defineResource({ name: "visit", fields: { note_id: reference(notes) }, labelField: "note_id" });
  const { ask, get } = await ownService(t, {
    mounts: [
      mount(notes, { permission: anyone }),
      mount(seats, { permission: anyone }),
      mount(moods, { permission: anyone }),
      mount(guests, { permission: anyone }),
      mount(visits, { permission: anyone }),
    ],
    features: [consolePages({ title: "Notes" })],
  });
  for (const head of ["First", "", null]) await ask("POST", "/notes", { body: { head, pages: 1 } });
  for (const note_id of [1, 2, 3]) await ask("POST", "/visits", { body: { note_id } });
  await ask("POST", "/seats", { body: { number: 12 } });
  await ask("POST", "/moods", { body: { kind: "high" } });
  for (const seat_id of [1, null]) await ask("POST", "/guests", { body: { seat_id, mood_id: 1 } });
  const titles = async (...paths: readonly string[]): Promise<readonly (string | undefined)[]> => {
    const pages = await Promise.all(paths.map((path) => get(path, browser)));
    return pages.map((page) => /<h1 dir="auto">([^<]*)<\/h1>/.exec(page.text)?.[1]);
  };

  assert.deepEqual(await titles("/notes/1", "/notes/2", "/notes/3"), ["First", "Note 2", "Note 3"]);
  assert.deepEqual(await titles("/notes/1?fields=pages", "/notes/1?fields=head"), ["Note 1", "First"]);
  assert.deepEqual(await titles("/notes/3?fields=head"), ["Note 3"]);
  assert.deepEqual(await titles("/seats/1", "/moods/1"), ["12", "Glad"]);
  assert.deepEqual(await titles("/guests/1", "/guests/2"), ["12", "Guest 2"]);
  assert.deepEqual(await titles("/visits/1", "/visits/2", "/visits/3"), ["First", "Note 2", "Note 3"]);
});

test("names the page of a record by its own id, if the record of its name is hidden", async (t) => {
  const secrets = defineResource({ name: "secret", fields: { title: text() } });
  const loans = defineResource({
    name: "loan",
    fields: { secret_id: reference(secrets) },
    labelField: "secret_id",
  });
  const { ask, get } = await ownService(t, {
    mounts: [mount(secrets, { permission: administrator }), mount(loans, { permission: anyone })],
    features: [consolePages({ title: "Loans" })],
  });
  await ask("POST", "/secrets", { as: "root", body: { title: "Plan" } });
  await ask("POST", "/loans", { as: "root", body: { secret_id: 1 } });

  assert.match((await get("/loans/1", { as: "root", ...browser })).text, /<h1 dir="auto">Plan<\/h1>/);
  const hidden = (await get("/loans/1", { as: "ada", ...browser })).text;
  assert.match(hidden, /<h1 dir="auto">Loan 1<\/h1>/);
  assert.ok(!hidden.includes("Plan"));
});

test("names the page of a record by its own id, if the record of its name has no page", async (t) => {
  const secrets = defineResource({ name: "secret", fields: { title: text() } });
  const loans = defineResource({ name: "loan", fields: { secret_id: reference(secrets) }, labelField: "secret_id" });
  const { ask, get } = await ownService(t, {
    mounts: [mount(secrets, { permission: { create: anyone } }), mount(loans, { permission: anyone })],
    features: [consolePages({ title: "Loans" })],
  });
  for (const title of ["Plan", "Map"]) await ask("POST", "/secrets", { body: { title } });
  await ask("POST", "/loans", { body: { secret_id: 2 } });

  assert.match((await get("/loans/1", browser)).text, /<h1 dir="auto">Loan 1<\/h1>/);
});

test("names a referenced record by its resource and id, if a rule hides the field with its name", async (t) => {
  const rule = { read: administrator, write: administrator, optional: true } as const;
  const cases = defineResource({ name: "case", fields: { suspect: text(rule) }, labelField: "suspect" });
  const clues = defineResource({ name: "clue", fields: { case_id: reference(cases), found: text() } });
  const { ask, get } = await ownService(t, {
    mounts: [mount(cases, { permission: anyone }), mount(clues, { permission: anyone })],
    features: [consolePages({ title: "Cases" })],
  });
  await ask("POST", "/cases", { as: "root", body: { suspect: "Moriarty" } });
  await ask("POST", "/clues", { as: "root", body: { case_id: 1, found: "a hat" } });
  const nameShownTo = async (as: string): Promise<string | undefined> =>
    /<a href="\/cases\/1"[^>]*>([^<]*)<\/a>/.exec((await get("/clues/1", { as, ...browser })).text)?.[1];

  assert.equal(await nameShownTo("root"), "Moriarty");
  assert.equal(await nameShownTo("ada"), "Case 1");
});
