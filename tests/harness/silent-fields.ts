import { uuidOf } from "./silent-world.ts";

/** The fields of a resource, with values that a request may have for them. */
export type Names = Readonly<Record<string, readonly unknown[]>>;

export const words = ["zebra", "apple", "visible 7", "of apple true", "public", "key", "main", "memo"];
const money = ["1000.00", "7.50", "3.00", null];
/** The fields of a resource, with values. A caller may not know or send some of them. */
export const projectFields: Names = {
  title: words,
  state: ["draft", "published"],
  owner_id: [2, 2, 3],
  team_id: [1, 2, null, 99],
  labels: [[], [uuidOf(1)], [uuidOf(1), uuidOf(2)]],
  slot: [1, 2, 3, null],
  rank: [1, 5],
  cost: money,
  plan: [{ a: 1 }, null],
  budget: money,
  memo: words,
  code: ["apple zebra 0", "x"],
  kinds: [["zebra kind"], null],
  sponsor_id: [1, 2, null],
  stamp: ["2026-01-31T09:30:00Z"],
  label: words,
  rest: money,
  hint: words,
  budgt: money,
  id: [1, 2],
};
export const oldFields: Names = {
  name: words,
  owner: [2, 3],
  funds: money,
  price: money,
  level: ["level 5"],
  caption: words,
  clue: words,
  cost: money,
};
export const commentFields: Names = {
  line: words,
  price: [1, 2, null],
  secret: words,
  approved: [true, false],
  owner_id: [2, 3],
  prize: [1],
};
export const labelFields: Names = { word: words, is_public: [true, false], owner_id: [2, 3] };
export const userFields: Names = {
  name: ["Ada", "Ada L."],
  email: ["ada@example.com", "zebra@example.com"],
  branch: ["main", "other"],
  card: ["C1"],
  fines: [3],
  salary: [1, 2],
  username: ["ada"],
  salry: [1],
};
export const orderFields: Names = { status: ["open", "paid"], user_id: [2, 3], id: [1, 2] };
/** The fields that callers may send, so that most writes succeed. */
export const sendable: Readonly<Record<string, readonly string[]>> = {
  "/projects": ["title", "state", "team_id", "labels", "slot", "cost", "plan"],
  "/v1/projects": ["name", "price"],
  comments: ["line", "price"],
  "/labels": ["word", "is_public"],
  "/users": ["name"],
  "/orders": ["status"],
};
export const required: Readonly<Record<string, object>> = {
  "/projects": { title: "drawn", labels: [] },
  "/v1/projects": { name: "drawn" },
  comments: { line: "drawn" },
  "/labels": { word: "drawn" },
};
