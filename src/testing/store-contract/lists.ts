import assert from "node:assert/strict";
import type { ListQuery, Row, Sort, Store, Value } from "../../store/store.ts";
import { insert, lamps, people, where, written, type Promises } from "./library.ts";

/** Promises about lists and their pages. */
export function promiseLists(promises: Promises): void {
  promiseOrder(promises);
  promiseNulls(promises);
  promiseFilteredPages(promises);
  promiseComings(promises);
  promiseJSON(promises);
  promiseWhole(promises);
}

function promiseOrder(promises: Promises): void {
  promises("lists rows in the selected order, up to the limit", async (store) => {
    await written(
      store,
      insert(people, { name: "b", age: 1 }),
      insert(people, { name: "a", age: 1 }),
      insert(people, { name: "c", age: 0 }),
    );
    const ids = async (sort: readonly Sort[], limit: number): Promise<Value[]> =>
      (await store.list({ collection: people, where: null, sort, limit })).map(({ record }) => record["id"]!);

    assert.deepEqual(await ids([{ column: "id" }], 10), [1, 2, 3]);
    assert.deepEqual(await ids([{ column: "id", descending: true }], 2), [3, 2]);
    assert.deepEqual(
      await ids([{ column: "age", descending: true }, { column: "name" }, { column: "id" }], 10),
      [2, 1, 3],
    );
    assert.deepEqual(await ids([{ column: "id" }], 0), []);
  });

  promises("lists every row once and in order on pages, in any mix of directions", async (store) => {
    await fill(store, 60);
    const sorts: Sort[][] = [
      [{ column: "id" }],
      [{ column: "id", descending: true }],
      [{ column: "name" }, { column: "id" }],
      [{ column: "name", descending: true }, { column: "id" }],
      [{ column: "name" }, { column: "id", descending: true }],
      [{ column: "name", descending: true }, { column: "age" }, { column: "id", descending: true }],
      [{ column: "height" }, { column: "active", descending: true }, { column: "id" }],
      [{ column: "born_at", descending: true }, { column: "id" }],
    ];

    for (const sort of sorts) {
      const whole = await store.list({ collection: people, where: null, sort, limit: 1000 });
      assert.deepEqual(whole, whole.toSorted(byHand(sort)), JSON.stringify(sort));
      const paged = await walk(store, { collection: people, where: null, sort, limit: 7 });
      assert.deepEqual(
        paged,
        whole.map(({ record }) => record),
        JSON.stringify(sort),
      );
    }
  });

  promises(
    "lists rows by a boolean in one direction and by other columns in the other one, on pages",
    async (store) => {
      await written(store, ...Array.from({ length: 40 }, (_, at) => insert(lamps, { lit: at % 3 > 0, watts: at % 5 })));
      const conditions = [null, where("watts", "gt", 1), where("lit", "eq", true), where("lit", "in", [])];
      for (const descending of [true, false])
        for (const condition of conditions) {
          const id: Sort = { column: "id", descending: !descending };
          for (const rest of [[id], [{ column: "watts", descending: !descending }, id], [{ column: "watts" }, id]]) {
            const query = { collection: lamps, where: condition, sort: [{ column: "lit", descending }, ...rest] };
            const { sort } = query;
            const whole = await store.list({ ...query, limit: 1000 });
            assert.equal(whole.length, await store.count(lamps, condition));
            assert.deepEqual(whole, whole.toSorted(byHand(sort)), JSON.stringify(sort));
            for (const limit of [1, 7, 14, 26])
              assert.deepEqual(
                await walk(store, { ...query, limit }),
                whole.map(({ record }) => record),
                JSON.stringify([sort, limit]),
              );
          }
        }
    },
  );
}

function promiseNulls(promises: Promises): void {
  promises("lists rows with null last in both directions, or first with `nullsFirst`", async (store) => {
    const ages = [3, null, 1, null, 2, 1];
    await written(store, ...ages.map((age, at) => insert(people, { name: `${at}`, ...(age === null ? {} : { age }) })));
    const orders: readonly (readonly [sort: readonly Sort[], ids: readonly number[]])[] = [
      [
        [{ column: "age" }, { column: "id" }],
        [3, 6, 5, 1, 2, 4],
      ],
      [
        [{ column: "age", descending: true }, { column: "id" }],
        [1, 5, 3, 6, 2, 4],
      ],
      [
        [
          { column: "age", nullsFirst: true },
          { column: "id", descending: true },
        ],
        [4, 2, 6, 3, 5, 1],
      ],
      [
        [{ column: "age", descending: true, nullsFirst: true }, { column: "id" }],
        [2, 4, 1, 5, 3, 6],
      ],
    ];

    for (const [sort, ids] of orders)
      for (const limit of [1, 2, 10]) {
        const paged = await walk(store, { collection: people, where: null, sort, limit });
        assert.deepEqual(
          paged.map(({ id }) => id),
          ids,
          JSON.stringify(sort),
        );
      }
  });
}

function promiseFilteredPages(promises: Promises): void {
  promises("lists only rows that match the condition, on every page", async (store) => {
    await fill(store, 30);
    const condition = { any: [where("active", "eq", true), where("age", "eq", 3)] };

    const paged = await walk(store, {
      collection: people,
      where: condition,
      sort: [{ column: "name", descending: true }, { column: "id" }],
      limit: 4,
    });

    assert.equal(paged.length, await store.count(people, condition));
    assert.ok(paged.every((record) => record["active"] === true || record["age"] === 3));
  });
}

function promiseComings(promises: Promises): void {
  promises("lists each row once even if other rows are added and deleted between pages", async (store) => {
    await written(store, ...["b", "d", "f", "h"].map((name) => insert(people, { name })));
    const query: ListQuery = {
      collection: people,
      where: null,
      sort: [{ column: "name" }, { column: "id" }],
      limit: 2,
    };
    const first = await store.listJSON(query);
    await written(store, insert(people, { name: "a" }), insert(people, { name: "g" }), {
      kind: "delete",
      collection: people,
      key: 2,
    });

    const second = await store.list({ ...query, after: first.last!, limit: 10 });

    assert.deepEqual(
      second.map(({ record }) => record["name"]),
      ["f", "g", "h"],
    );
  });
}

function promiseJSON(promises: Promises): void {
  promises("returns the same rows as JSON as in a list of records", async (store) => {
    await fill(store, 20);
    const query: ListQuery = {
      collection: people,
      where: where("id", "gt", 2),
      sort: [{ column: "height", descending: true }, { column: "id" }],
      limit: 10,
    };

    const rows = await store.list(query);
    const { json, count, first, last } = await store.listJSON(query);

    assert.equal(JSON.stringify(JSON.parse(json)), JSON.stringify(rows.map(({ record }) => record)));
    assert.equal(count, 10);
    assert.deepEqual(first, [rows[0]!.record["height"], rows[0]!.record["id"]]);
    assert.deepEqual(last, [rows[9]!.record["height"], rows[9]!.record["id"]]);
  });

  promises("writes only the selected columns as JSON, and still returns the last position", async (store) => {
    await written(
      store,
      insert(people, { name: "a", age: 5, height: "1.50" }),
      insert(people, { name: "b", age: 4, height: "2" }),
    );

    const page = await store.listJSON({
      collection: people,
      where: null,
      sort: [{ column: "height", descending: true }, { column: "id" }],
      columns: ["age", "name"],
      limit: 10,
    });

    assert.deepEqual(JSON.parse(page.json), [
      { name: "b", age: 4 },
      { name: "a", age: 5 },
    ]);
    assert.deepEqual(page.first, ["2.00", 2]);
    assert.deepEqual(page.last, ["1.50", 1]);
  });
}

function promiseWhole(promises: Promises): void {
  promises("reports whether more rows follow a page in JSON", async (store) => {
    await written(store, insert(people, { name: "a" }), insert(people, { name: "b" }), insert(people, { name: "c" }));
    const page = (limit: number) =>
      store.listJSON({ collection: people, where: null, sort: [{ column: "id" }], limit });

    assert.deepEqual([(await page(2)).more, (await page(3)).more, (await page(4)).more], [true, false, false]);
    assert.equal((await page(2)).count, 2);
  });

  promises("writes correct JSON for rows whose texts look like JSON, with any limit", async (store) => {
    const names = [`,{"id":7`, `"},{"id":8,"name":"`, `\\",{"id":9`, `]`, `,{"id":`];
    await written(store, ...names.map((name, at) => insert(people, { name, height: `${at}.50`, active: at === 2 })));
    const columns = ["id", "name", "age", "height", "active"];

    for (let limit = 1; limit <= names.length + 1; limit++) {
      for (const descending of [false, true]) {
        const query: ListQuery = {
          collection: people,
          where: null,
          sort: [{ column: "height", descending }, { column: "id" }],
          limit,
          columns,
        };
        const page = await store.listJSON(query);
        const rows = await store.list(query);

        const shown = rows.map(({ record }) => Object.fromEntries(columns.map((column) => [column, record[column]])));
        assert.deepEqual(JSON.parse(page.json), shown);
        assert.deepEqual([page.count, page.more], [rows.length, limit < names.length]);
        assert.deepEqual(page.first, [shown[0]!["height"], shown[0]!["id"]]);
        assert.deepEqual(page.last, [shown.at(-1)!["height"], shown.at(-1)!["id"]]);
      }
    }
  });

  promises("writes a list without rows as an empty array", async (store) => {
    const page = await store.listJSON({ collection: people, where: null, sort: [{ column: "id" }], limit: 10 });

    assert.deepEqual(page, { json: "[]", count: 0, more: false, first: null, last: null });
  });
}

/** Inserts rows with many equal values, so that the later columns of an order matter. */
async function fill(store: Store, rows: number): Promise<void> {
  const changes = Array.from({ length: rows }, (_, at) =>
    insert(people, {
      name: `n${(at * 7) % 5}`,
      age: (at * 11) % 4,
      active: at % 3 === 0,
      height: `${((at * 13) % 6) - 3}.${at % 2}`,
      born_at: `200${(at * 3) % 8}-01-01T00:00:00.000Z`,
      notes: { line: "a\nb", list: [{ id: at }, { id: null }] },
    }),
  );
  await written(store, ...changes);
}

async function walk(store: Store, query: ListQuery): Promise<Row["record"][]> {
  const all: Row["record"][] = [];
  for (let after: readonly Value[] | null | undefined; after !== null;) {
    const page = await store.listJSON(after === undefined ? query : { ...query, after });
    const records = JSON.parse(page.json) as Row["record"][];
    assert.equal(records.length, page.count);
    all.push(...records);
    after = page.last;
  }
  return all;
}

function byHand(sort: readonly Sort[]): (one: Row, other: Row) => number {
  return (one, other) => {
    for (const { column, descending } of sort) {
      const [a, b] = [one, other].map(({ record }) =>
        column === "height" ? Number(record[column]) : (record[column] as string | number),
      );
      if (a !== b) return a! < b! === (descending !== true) ? -1 : 1;
    }
    return 0;
  };
}
