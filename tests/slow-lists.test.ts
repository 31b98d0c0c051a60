import assert from "node:assert/strict";
import { test } from "node:test";
import { anyone, dateTime, defineResource, mount } from "../src/door/index.ts";
import { sqliteStore, type Store } from "../src/door/stores.ts";
import { ownService } from "./own-service.ts";

const things = defineResource({ name: "thing", fields: { at: dateTime() }, filters: { at: ["gte"] }, sorts: ["at"] });

test("a list that held up all others once is read beside them from then on, and that is told", async (t) => {
  const store = sqliteStore({ path: ":memory:" });
  const asked: string[] = [];
  const watched: Store = {
    ...store,
    listJSON(query, beside) {
      const [order] = query.sort;
      asked.push(
        `${order!.descending === true ? "-" : ""}${order!.column} ${query.long === true ? "beside" : "at once"}`,
      );
      // As an index does that has all rows of one value in it.
      for (const start = performance.now(); order!.descending === true && performance.now() - start < 25;);
      return store.listJSON(query, beside);
    },
  };
  const own = await ownService(t, { store: watched, mounts: [mount(things, { permission: anyone })] });

  for (const query of ["sort=-at", "sort=-at&limit=5", "sort=at", "sort=-at&at[gte]=2026-01-01T00:00:00Z"])
    assert.equal((await own.get(`/things?${query}`)).status, 200);

  assert.deepEqual(asked, ["-at at once", "-at beside", "at at once", "-at at once"]);
  const told = own.observed.flatMap((each) =>
    each.kind === "notice" && each.message.startsWith("A list") ? [each.message] : [],
  );
  assert.equal(told.length, 2);
  assert.match(told[0]!, /^A list of things took \d\d ms, with the order -at, id, and others waited for it\./);
  assert.match(told[1]!, /with the filters at\[gte\] with the order -at, id/);
});
