import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { authenticated, defineResource, integer, mount, reference, text } from "../../src/door/index.ts";
import { references } from "../../src/door/resources.ts";
import { keyOf, type Change } from "../../src/door/stores.ts";
import { readLinks } from "../harness/own-service.ts";
import { serve, type Answered, type API } from "../harness/serve.ts";

type Headers = Readonly<Record<string, string>>;
interface Post {
  readonly id: number;
  readonly title: string;
}

const permission = authenticated;
const tag = defineResource({ name: "tag", fields: { label: text() } });
const note = defineResource({ name: "note", fields: { post: integer(), said: text() } });
const reply = defineResource({ name: "reply", plural: "replies", fields: { note_id: reference(note), said: text() } });
const post = defineResource({
  name: "post",
  fields: { title: text(), tags: references(tag, { default: [] }) },
  filters: { tags: ["eq"] },
});

const notes = mount(note, { permission });
const replies = mount(reply, { permission });

/** Returns the changes that a hook adds for one written record: a note about the record, and a reply to that note. */
function noteAndReply(about: number | ReturnType<typeof keyOf>, said: string): readonly Change[] {
  return [
    { kind: "insert", collection: notes.collection, values: { post: about, said } },
    { kind: "insert", collection: replies.collection, values: { note_id: keyOf(1), said } },
  ];
}

interface Hooks {
  /** Called by the hook of each record, except when the record is created. */
  readonly begin?: () => void;
  /** Called after the preconditions of a request are met. */
  readonly complete?: (api: API) => Promise<void>;
}

/** Starts a service that adds a note and a reply for each write of a post. */
async function serveNoted(t: TestContext, { begin, complete }: Hooks = {}): Promise<API> {
  const posts = mount(post, {
    permission,
    arrays: true,
    beforeWrite(write) {
      if (write.kind === "create") return { changes: noteAndReply(keyOf(0), write.draft.values.title) };
      begin?.();
      return {
        async complete() {
          await complete?.(api);
          return write.kind === "update" ? noteAndReply(write.id, String(write.draft.values.title)) : [];
        },
      };
    },
  });
  const api = await serve(t, { config: { mounts: [mount(tag, { permission }), notes, replies, posts] } });
  for (const label of ["a", "b", "c"]) await api.post("/tags", { label }, api.admin);
  return api;
}

/** Returns the notes and the replies, each as a pair of the id of the post and the text. */
async function said(api: API): Promise<{ readonly notes: readonly unknown[]; readonly replies: readonly unknown[] }> {
  const found = (await api.get("/notes?limit=1000", api.admin)).json as { id: number; post: number; said: string }[];
  const answered = (await api.get("/replies?limit=1000", api.admin)).json as { note_id: number; said: string }[];
  const about = new Map(found.map(({ id, post: at }) => [id, at]));
  return {
    notes: found.map(({ post: at, said: words }) => [at, words]),
    replies: answered.map(({ note_id, said: words }) => [about.get(note_id), words]),
  };
}

const keyed = (headers: Headers, key: string): Headers => ({ ...headers, "idempotency-key": key });
const titles = ({ json }: Answered): string[] => json.map(({ title }: Post) => title);

test("resolves keyOf(1) in the hook of each record of an array to that record's note, and writes once per idempotency key", async (t) => {
  const api = await serveNoted(t);
  const sent = Array.from({ length: 100 }, (_, at) => ({ title: `t${at}`, tags: [(at % 3) + 1, ((at + 1) % 3) + 1] }));
  const expected = sent.map(({ title }, at) => [at + 1, title]);

  const made = await api.post("/posts", sent, keyed(api.admin, "array-of-posts"));
  const again = await api.post("/posts", sent, keyed(api.admin, "array-of-posts"));

  assert.equal(made.status, 201, made.text);
  assert.deepEqual([again.text, again.headers.get("idempotency-replayed")], [made.text, "true"]);
  assert.deepEqual(await said(api), { notes: expected, replies: expected });
  assert.deepEqual(
    titles(await api.get("/posts?tags=2&limit=1000", api.admin)),
    sent.filter(({ tags }) => tags.includes(2)).map(({ title }) => title),
  );

  const changes = made.json.toReversed().map(({ id }: Post) => ({ id, title: `new ${id}`, tags: [1] }));
  const changed = await api.patch("/posts", changes, keyed(api.admin, "changes-of-posts"));
  const repeated = await api.patch("/posts", changes, keyed(api.admin, "changes-of-posts"));

  assert.equal(changed.status, 200, changed.text);
  assert.deepEqual([repeated.text, repeated.headers.get("idempotency-replayed")], [changed.text, "true"]);
  // An array of changes is written in the order of the ids, not in the sent order.
  const after = made.json.map(({ id }: Post) => [id, `new ${id}`]);
  assert.deepEqual(await said(api), { notes: [...expected, ...after], replies: [...expected, ...after] });
  assert.equal((await api.get("/posts?tags=1&limit=1000", api.admin)).json.length, 100);
});

test("writes an array of exactly a thousand records with their hooks, and lists exactly a thousand without a next page", async (t) => {
  const api = await serveNoted(t);
  const sent = Array.from({ length: 1000 }, (_, at) => ({ title: `t${at}`, tags: [1] }));
  const pairs = sent.map(({ title }, at) => [at + 1, title]);

  const made = await api.post("/posts", sent, keyed(api.admin, "a-thousand-posts"));
  const refused = await api.post("/posts", [...sent, { title: "one more" }], api.admin);

  assert.deepEqual([made.status, made.json.length, refused.status], [201, 1000, 400]);
  assert.deepEqual(await said(api), { notes: pairs, replies: pairs });
  const list = await api.get("/posts?limit=1000&tags=1", api.admin);
  assert.deepEqual([list.json.length, "next" in readLinks(list)], [1000, false]);
  assert.equal("next" in readLinks(await api.get("/posts?limit=999&tags=1", api.admin)), true);
  const changes = made.json.map(({ id }: Post) => ({ id, tags: [2] }));
  const changed = await api.patch("/posts", changes, keyed(api.admin, "a-thousand-changes"));
  assert.deepEqual([changed.status, changed.json.length], [200, 1000]);
  assert.deepEqual((await api.get("/posts?tags=1", api.admin)).json, []);
});

test("writes one of many concurrent arrays with the same idempotency key, including the changes of its hooks", async (t) => {
  const api = await serveNoted(t);
  const sent = [{ title: "a" }, { title: "b" }, { title: "c" }];

  const made = await Promise.all(
    Array.from({ length: 8 }, () => api.post("/posts", sent, keyed(api.admin, "created-once"))),
  );
  const changes = [3, 1, 2].map((id) => ({ id, title: `new ${id}` }));
  const changed = await Promise.all(
    Array.from({ length: 8 }, () => api.patch("/posts", changes, keyed(api.admin, "changed-once"))),
  );

  for (const [answers, status] of [
    [made, 201],
    [changed, 200],
  ] as const) {
    assert.deepEqual(new Set(answers.map((each) => each.status)), new Set([status]));
    assert.equal(new Set(answers.map(({ text: body }) => body)).size, 1);
    assert.equal(answers.filter(({ headers }) => headers.get("idempotency-replayed") === null).length, 1);
  }
  const expected = [
    [1, "a"],
    [2, "b"],
    [3, "c"],
    [1, "new 1"],
    [2, "new 2"],
    [3, "new 3"],
  ];
  assert.deepEqual(await said(api), { notes: expected, replies: expected });
});

test("writes the changes of hooks once for each of several concurrent arrays that change the same records", async (t) => {
  const api = await serveNoted(t);
  await api.post("/posts", [{ title: "a" }, { title: "b" }, { title: "c" }], api.admin);
  const before = await said(api);
  const arrays = Array.from({ length: 8 }, (_, at) =>
    [1, 2, 3].map((id) => ({ id, title: `by ${at}`, tags: [(at % 3) + 1] })),
  );

  const answers = await Promise.all(
    arrays.map((changes, at) => api.patch("/posts", at % 2 === 0 ? changes : changes.toReversed(), api.admin)),
  );

  assert.deepEqual(
    answers.map(({ status }) => status),
    arrays.map(() => 200),
  );
  const posts = (await api.get("/posts", api.admin)).json as {
    readonly title: string;
    readonly tags: readonly number[];
  }[];
  assert.equal(new Set(posts.map(({ title }) => title)).size, 1, "all records must have the values of the same array");
  const last = Number(posts[0]!.title.slice("by ".length));
  assert.equal((await api.get(`/posts?tags=${(last % 3) + 1}`, api.admin)).json.length, 3);
  const after = await said(api);
  const written = arrays.flatMap((_, at) => [1, 2, 3].map((id) => [id, `by ${at}`]));
  for (const kind of ["notes", "replies"] as const)
    assert.deepEqual(
      after[kind].slice(before[kind].length).map(String).toSorted(),
      written.map(String).toSorted(),
      kind,
    );
});

test("answers 412 if another write changes a record of an array with if_match in the meantime, and tries again without if_match", async (t) => {
  let overtaking = false;
  let beginCount = 0;
  const api = await serveNoted(t, {
    begin: () => void beginCount++,
    async complete(own) {
      if (!overtaking) return;
      overtaking = false;
      assert.equal((await own.patch("/posts/2", { title: "faster" }, own.admin)).status, 200);
    },
  });
  await api.post("/posts", [{ title: "a" }, { title: "b" }], api.admin);
  const overtaken = async (changes: readonly object[], key: string): Promise<Answered> => {
    [overtaking, beginCount] = [true, 0];
    return api.patch("/posts", changes, keyed(api.admin, key));
  };
  const tag = (await api.get("/posts/2", api.admin)).headers.get("etag");
  const before = await said(api);

  const refused = await overtaken(
    [
      { id: 1, title: "x" },
      { id: 2, title: "y", if_match: tag },
    ],
    "names-a-state",
  );

  assert.equal(refused.status, 412, refused.text);
  assert.deepEqual(
    refused.json.errors.map(({ pointer, code }: Record<string, string>) => [pointer, code]),
    [["/1/if_match", "stale"]],
  );
  // Two calls for the array, and one for the faster request: the hook of a refused array is not called again.
  assert.equal(beginCount, 3);
  assert.deepEqual(titles(await api.get("/posts", api.admin)), ["a", "faster"]);
  assert.deepEqual((await said(api)).replies, [...before.replies, [2, "faster"]]);

  const written = await overtaken(
    [
      { id: 2, title: "y" },
      { id: 1, title: "x" },
    ],
    "names-no-state",
  );

  assert.equal(written.status, 200, written.text);
  assert.equal(beginCount, 5);
  assert.deepEqual(titles(await api.get("/posts", api.admin)), ["x", "y"]);
  assert.deepEqual((await said(api)).replies, [...before.replies, [2, "faster"], [2, "faster"], [1, "x"], [2, "y"]]);
});

test("treats `*` in if_match like `*` in the If-Match of a single change if another write changes the record in the meantime", async (t) => {
  let overtaking = false;
  const api = await serveNoted(t, {
    async complete(own) {
      if (!overtaking) return;
      overtaking = false;
      assert.equal((await own.patch("/posts/1", { title: "faster" }, own.admin)).status, 200);
    },
  });
  await api.post("/posts", [{ title: "a" }], api.admin);
  const overtaken = async (send: () => Promise<Answered>) => {
    overtaking = true;
    const { status, text } = await send();
    assert.equal(overtaking, false, text);
    return { status, title: titles(await api.get("/posts", api.admin))[0] };
  };

  const single = await overtaken(() => api.patch("/posts/1", { title: "x" }, { ...api.admin, "if-match": "*" }));
  const many = await overtaken(() => api.patch("/posts", [{ id: 1, title: "x", if_match: "*" }], api.admin));

  assert.deepEqual(many, single);
});
