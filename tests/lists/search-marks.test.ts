import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { anyone, defineResource, mount, text } from "../../src/door/index.ts";
import { onBoth, type Before } from "../harness/existing.ts";
import type { Own } from "../harness/own-service.ts";

const note = defineResource({ name: "note", fields: { title: text() }, search: ["title"] });
const notes = mount(note, { permission: anyone, arrays: true });
const titles = ["がき", "かき", "हिन्दी", "Éva 東京", "И\u0306од"];

async function found(api: Own, word: string): Promise<readonly string[]> {
  const { json } = await api.get(`/notes?search=${encodeURIComponent(word)}`);
  return json.map(({ title }: { title: string }) => title);
}

/** Waits until a search finds these titles, because words are indexed in the background. */
async function eventually(api: Own, word: string, wanted: readonly string[]): Promise<void> {
  for (let tries = 0; tries < 500 && (await found(api, word)).join() !== wanted.join(); tries++) await wait(20);
  assert.deepEqual(await found(api, word), wanted, word);
}

onBoth(
  "ignores accents in Latin, Greek and Cyrillic, and distinguishes the marks of other scripts",
  "SELECT 1",
  async ({ serve }) => {
    const api = await serve(notes);
    await api.ask("POST", "/notes", { body: titles.map((title) => ({ title })) });

    assert.deepEqual(await found(api, "かき"), ["かき"]);
    assert.deepEqual(await found(api, "か\u3099き"), ["がき"]);
    assert.deepEqual(await found(api, "हनद"), []);
    assert.deepEqual(await found(api, "हिन्दी"), ["हिन्दी"]);
    assert.deepEqual(await found(api, "eva"), ["Éva 東京"]);
    assert.deepEqual(await found(api, "иод"), [titles[4]]);
  },
);

onBoth("ignores the points of Hebrew and Arabic, and distinguishes their letters", "SELECT 1", async ({ serve }) => {
  const api = await serve(notes);
  const pointed = ["قَلَم", "אָלֶף", "\ufb2aלום", "أب"];
  await api.ask("POST", "/notes", { body: pointed.map((title) => ({ title })) });

  for (const [word, title] of [
    ["قلم", 0],
    ["قَلَم", 0],
    ["אלף", 1],
    ["שלום", 2],
    ["שׁלום", 2],
    ["أب", 3],
  ] as const)
    assert.deepEqual(await found(api, word), [pointed[title]], word);
  assert.deepEqual(await found(api, "اب"), []);
});

/** Replaces the words with those of version 0.1, which removed every mark. */
async function asBefore({ sql }: Before): Promise<void> {
  const words = [["かき"], ["かき"], ["हनद"], ["eva", "東京"], ["иод"]];
  for (const [at, each] of words.entries())
    await sql(`UPDATE notes SET "_title_words" = '${JSON.stringify(each)}' WHERE id = ${at + 1}`);
  await sql(`DELETE FROM "_notes_words"`);
  for (const [at, each] of words.entries())
    for (const word of each) await sql(`INSERT INTO "_notes_words" VALUES ('${word}', ${at + 1})`);
}

onBoth("indexes the words of a database of an older version again", "SELECT 1", async (before) => {
  const first = await before.serve(notes);
  await first.ask("POST", "/notes", { body: titles.map((title) => ({ title })) });
  await eventually(first, "かき", ["かき"]);
  await first.service.close();
  await asBefore(before);

  const next = await before.serve(notes);

  await eventually(next, "かき", ["かき"]);
  await eventually(next, "がき", ["がき"]);
  await eventually(next, "हनद", []);
  await eventually(next, "हिन्दी", ["हिन्दी"]);
  assert.deepEqual(await found(next, "eva"), ["Éva 東京"]);
  await next.ask("POST", "/notes", { body: { title: "がく かく" } });
  await eventually(next, "がく", ["がく かく"]);
  const left = `SELECT count(*) AS n FROM "_notes_words" WHERE "word" IN ('', '>', '<3', '>3')`;
  for (let tries = 0; tries < 500 && Number((await before.sql(left))[0]!["n"]) > 0; tries++) await wait(20);
  assert.equal(Number((await before.sql(left))[0]!["n"]), 0);
  const wordRows = await before.sql(`SELECT "word", "id" FROM "_notes_words" WHERE "word" > '>' ORDER BY "id", "word"`);
  assert.deepEqual(
    wordRows.map(({ word, id }) => `${Number(id)} ${String(word)}`),
    ["1 がき", "2 かき", "3 हिन्दी", "4 eva", "4 東京", "5 иод", "6 かく", "6 がく"],
  );
});
