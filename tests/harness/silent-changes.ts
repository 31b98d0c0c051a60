import assert from "node:assert/strict";
import type { Draw } from "./draw.ts";
import type { Answered } from "./serve.ts";
import { adaLogin, uuidOf, type World } from "./silent-world.ts";

/*
 * The writes of an administrator in both worlds. Ids that callers may meet are the same in both. Everything that ada and
 * lea may not see differs: values, whether a row exists, and how often rows are written.
 */

export type Worlds = readonly [World, World];

/** Which hidden rows exist, and in which worlds. */
interface Hidden {
  /** Projects of ben that are drafts, in both worlds. */
  readonly projects: number[];
  /** Projects of ben that are published, or of ada, in both worlds. */
  readonly shown: number[];
  /** Orders of ben that exist in both worlds. */
  readonly orders: number[];
  /** Comments of ben that are not approved, in both worlds, with their project. */
  readonly comments: (readonly [project: number, id: number])[];
  /** Users of the branch `other`, in both worlds. */
  readonly users: number[];
  /** Labels that exist in one world alone. */
  readonly labels: (readonly [which: number, id: string])[];
  /** The number of names so far that no other row may have. */
  names: number;
}

const words = ["zebra", "quagga"] as const;

/** Writes in one world. Throws if the answer is not a success. */
async function write(world: World, method: string, target: string, body?: object, as = "root"): Promise<Answered> {
  const answer = await world.ask(method, target, { as, ...(body === undefined ? {} : { body }) });
  assert.ok(answer.status < 300, `${as}: ${method} ${target} ${JSON.stringify(body)}: ${answer.status} ${answer.text}`);
  return answer;
}

/** Creates a row in both worlds. Returns its id, which is the same in both. */
async function add(worlds: Worlds, target: string, bodyIn: (which: number) => object, as = "root"): Promise<number> {
  const made = await Promise.all(worlds.map((world, which) => write(world, "POST", target, bodyIn(which), as)));
  const [one, other] = made.map(({ json }) => json.id as number);
  assert.equal(other, one, `the ids of ${target} differ`);
  return one!;
}

const inBoth = (worlds: Worlds, write_: (world: World, which: number) => Promise<unknown>): Promise<unknown> =>
  Promise.all(worlds.map(write_));

function hiddenFields(which: number, n: number, at: string): object {
  return {
    cost: `${n + which}.00`,
    budget: `${n * (which + 1)}.50`,
    memo: `${words[which]!} memo ${n}`,
    code: `${at} ${words[which]!} ${n}`,
    kinds: [`${words[which]!} kind`],
    sponsor_id: which + 1,
    plan: { [words[which]!]: n },
  };
}

/** Returns a hidden project of ben. Nothing of it is the same in both worlds. */
function draftOfBen(which: number, n: number): object {
  const title = `${words[which]!} draft ${n}`;
  return { title, owner_id: 3, state: "draft", team_id: which + 1, rank: n + which, labels: [] };
}

/** Fills both worlds. */
export async function fillSilent(worlds: Worlds): Promise<Hidden> {
  const both = (target: string, body: object, as = "root"): Promise<number> => add(worlds, target, () => body, as);
  await both("/users", { name: "Ada", email: adaLogin.username, password: adaLogin.password });
  await add(worlds, "/users", (at) => ({
    name: `Ben ${words[at]!}`,
    email: `${words[at]!}@example.com`,
    branch: "other",
  }));
  // Users know their own address.
  await both("/users", { name: "Lea", email: "lea@example.com" });
  await add(worlds, "/users", (at) => ({
    name: "Max",
    email: `max.${words[at]!}@example.com`,
    fines: at + 3,
    salary: at,
  }));
  const zoe = await add(worlds, "/users", (at) => ({
    name: `Zoe ${words[at]!}`,
    email: `zoe.${words[at]!}@example.com`,
    branch: "other",
  }));
  const hidden: Hidden = { projects: [], shown: [], orders: [], comments: [], users: [zoe], labels: [], names: 0 };
  for (const name of ["Lions", "Bears"]) await both("/teams", { name });
  await both("/labels", { word: "public", is_public: true });
  await add(worlds, "/labels", (at) => ({ word: `${words[at]!} label`, owner_id: 3 }));
  await both("/labels", { word: "of ada" }, "ada");
  for (const [n, title] of ["apple", "banana", "cherry", "date", "elder", "fig"].entries()) {
    const owner_id = n % 3 === 2 ? 3 : 2;
    const state = n % 2 === 0 ? "published" : "draft";
    const isHidden = owner_id === 3 && state === "draft";
    const labels = [1, 2, 3].map(uuidOf).slice(n % 3);
    const id = await add(worlds, "/projects", (at) => ({
      ...(isHidden ? draftOfBen(at, n) : { title, owner_id, state, team_id: (n % 2) + 1, labels, rank: n }),
      ...hiddenFields(at, n, title),
    }));
    (isHidden ? hidden.projects : hidden.shown).push(id);
    for (const approved of [true, false])
      await both(`/projects/${id}/comments`, {
        line: `of ${title} ${String(approved)}`,
        owner_id: 2 + (n % 2),
        approved,
      });
  }
  for (const as of ["ada", "ben", "ada"]) await both("/orders", {}, as);
  for (const at of [1, 2, 3]) await both(`/orders/${at}/items`, { product: "key", quantity: at, unit_price: "2.50" });
  hidden.orders.push(2);
  await setFines(worlds, 1);
  for (const n of [1, 2, 3]) hidden.projects.push(await add(worlds, "/projects", (at) => draftOfBen(at, n)));
  return hidden;
}

async function setFines(worlds: Worlds, n: number): Promise<void> {
  for (const id of [2, 4, 5])
    await inBoth(worlds, (world, at) => write(world, "PATCH", `/users/${id}`, { fines: n + at, salary: 7 * n + at }));
}

/** A change of what callers may not see. */
interface HiddenChange {
  /** False if it takes an id, so that it may not happen at the same time as a request that takes one too. */
  readonly overlaps: boolean;
  run(): Promise<unknown>;
}

/** Draws a change of what callers may not see. */
export function drawHiddenChange(draw: Draw, worlds: Worlds, hidden: Hidden): HiddenChange {
  const { below, pick } = draw;
  return pick([ofValues, ofRows, ofRowsAlone])({ n: below(1000), which: below(2), draw, worlds, hidden });
}

interface Change {
  readonly n: number;
  /** The world of a change that happens in one world alone. */
  readonly which: number;
  readonly draw: Draw;
  readonly worlds: Worlds;
  readonly hidden: Hidden;
}

/** Changes hidden values of visible rows, and hidden rows, in both worlds or in one. */
function ofValues({ n, which, draw: { pick }, worlds, hidden }: Change): HiddenChange {
  const shown = pick(hidden.shown);
  const draft = pick(hidden.projects);
  const to = (target: string, bodyIn: (at: number) => object) => () =>
    inBoth(worlds, (world, at) => write(world, "PATCH", target, bodyIn(at)));
  const run = pick([
    () => tryIn(worlds, `/projects/${shown}`, (at) => hiddenFields(at, n, `p${shown}`)),
    () => tryIn(worlds, `/projects/${shown}`, (at) => (at === which ? hiddenFields(at, n, `p${shown}`) : null)),
    to(`/projects/${draft}`, (at) => draftOfBen(at, n)),
    to(`/labels/${uuidOf(2)}`, (at) => ({ word: `${words[at]!} ${n}` })),
    to("/users/3", (at) => ({ name: `Ben ${words[at]!} ${n}` })),
    // No two users have an address, and lea sees the other fields of Max.
    () =>
      inBoth(worlds, (world, at) => {
        const email = `max.${n}.${words[at]!}@example.com`;
        return write(world, "PATCH", "/users/5", { email }, "password of root");
      }),
    () => setFines(worlds, n),
  ]);
  return { overlaps: true, run };
}

/** Creates hidden rows in both worlds. */
function ofRows({ n, draw: { pick }, worlds, hidden }: Change): HiddenChange {
  const shown = pick(hidden.shown);
  const run = pick([
    async () => {
      const bodyIn = (at: number): object => ({ ...hiddenFields(at, n, ""), code: null, ...draftOfBen(at, n) });
      hidden.projects.push(await add(worlds, "/projects", bodyIn));
    },
    async () => {
      const at = ++hidden.names;
      const bodyIn = (which: number): object => ({
        name: `${words[which]!} ${n}`,
        email: `${words[which]!}.${at}@example.com`,
        branch: "other",
      });
      hidden.users.push(await add(worlds, "/users", bodyIn));
    },
    async () => {
      const bodyIn = (at: number): object => ({ status: at === 0 ? "paid" : "open" });
      hidden.orders.push(await add(worlds, "/orders", bodyIn, "ben"));
    },
    () => {
      const bodyIn = (at: number): object => ({ product: words[at]!, quantity: n + 1, unit_price: "1.00" });
      return add(worlds, `/orders/${pick(hidden.orders)}/items`, bodyIn);
    },
    async () => {
      const lines = (at: number): object => ({ line: words[at]!, owner_id: 3, price: n + at, secret: words[at]! });
      const target = `/projects/${shown}/comments`;
      const made = await Promise.all(worlds.map(({ ask }, at) => ask("POST", target, { as: "root", body: lines(at) })));
      assert.equal(made[0]!.status, made[1]!.status);
      if (made[0]!.status === 201) hidden.comments.push([shown, made[0]!.json.id as number]);
    },
  ]);
  return { overlaps: false, run };
}

/** Deletes and creates hidden rows in one world alone. The other world keeps its rows, and nothing names them again. */
function ofRowsAlone({ n, which, draw: { below, pick }, worlds, hidden }: Change): HiddenChange {
  const world = worlds[which]!;
  const remove = (from: (number | string)[], path: string) => async () => {
    if (from.length <= 2) return;
    await write(world, "DELETE", `${path}/${from.splice(below(from.length), 1)[0]!}`);
  };
  const run = pick([
    remove(hidden.projects, "/projects"),
    remove(hidden.orders, "/orders"),
    remove(hidden.users, "/users"),
    async () => {
      const id = uuidOf(1_000_000 + ++hidden.names);
      hidden.labels.push([which, id]);
      await write(world, "PUT", `/labels/${id}`, { word: `${words[which]!} ${n}`, owner_id: 3 });
      if (hidden.labels.length <= 6) return;
      const [at, oldest] = hidden.labels.shift()!;
      await write(worlds[at]!, "DELETE", `/labels/${oldest}`);
    },
    async () => {
      const [project, id] = hidden.comments.shift() ?? [0, 0];
      // The project may be gone, and its comments with it.
      await world.ask("DELETE", `/projects/${project}/comments/${id}`, { as: "root" });
    },
  ]);
  return { overlaps: true, run };
}

/** Changes a row that a caller may have deleted. `bodyIn` returns null for the world that does not change. */
async function tryIn(worlds: Worlds, target: string, bodyIn: (which: number) => object | null): Promise<void> {
  await inBoth(worlds, async (world, at) => {
    const body = bodyIn(at);
    if (body === null) return;
    const { status, text } = await world.ask("PATCH", target, { as: "root", body });
    assert.ok(status === 200 || status === 404, `PATCH ${target}: ${status} ${text}`);
  });
}

/** A change that callers see, the same in both worlds: rows appear, disappear and change their owner. */
export async function changeVisibly({ below, pick }: Draw, worlds: Worlds, hidden: Hidden): Promise<void> {
  const n = below(1000);
  const whole = { title: `visible ${n}`, owner_id: pick([2, 2, 3]), state: pick(["draft", "published"]), rank: n % 9 };
  const body = { ...whole, team_id: pick([1, 2, null]), labels: pick([[], [uuidOf(1), uuidOf(2)]]), slot: null };
  const list = whole.owner_id === 3 && whole.state === "draft" ? hidden.projects : hidden.shown;
  if (hidden.shown.length < 5) {
    list.push(await add(worlds, "/projects", () => body));
    return;
  }
  const id = pick([...hidden.shown, ...(hidden.projects.length > 3 ? hidden.projects : [])]);
  const answers = await Promise.all(worlds.map(({ ask }) => ask("PATCH", `/projects/${id}`, { as: "root", body })));
  assert.equal(answers[0]!.status, answers[1]!.status, answers[0]!.text + answers[1]!.text);
  for (const each of [hidden.shown, hidden.projects]) if (each.includes(id)) each.splice(each.indexOf(id), 1);
  if (answers[0]!.status === 404) return;
  assert.equal(answers[0]!.status, 200, answers[0]!.text);
  list.push(id);
}
