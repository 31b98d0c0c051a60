// Drawn requests of members, former members and strangers get no row of a foreign group, while memberships change.
// A model knows the memberships. `FOREIGN_REQUESTS` and `FOREIGN_SEED` choose another number of requests and another
// seed. Each text of a row names its project (`of p3p`), so that a foreign row is found in any answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { drawFrom, type Draw } from "../harness/draw.ts";
import type { OwnAsk } from "../harness/own-service.ts";
import { startTeams, type Teams } from "../harness/teams-world.ts";

const requests = Number(process.env["FOREIGN_REQUESTS"] ?? 50_000);
const seed = Number(process.env["FOREIGN_SEED"] ?? 1);
const PROJECTS = 6;
const members = ["ada", "ben", "reader"] as const;
const roles = ["owner", "editor", "viewer"] as const;
type Member = (typeof members)[number];
type Role = (typeof roles)[number];

/** The memberships, by user and project. */
type Model = Map<string, { readonly id: number; readonly role: Role }>;

interface Step extends OwnAsk {
  readonly channel: string;
  readonly method: string;
  readonly path: string;
}

type Draft = (draw: Draw) => Omit<Step, "channel" | "as">;

const json = { "content-type": "application/json" };
const textOf = (project: number): string => `text of p${project}p`;
const projectOf = (draw: Draw): number => 1 + draw.below(PROJECTS);
const taskOf = (draw: Draw): number => 1 + draw.below(PROJECTS * 8);
const get = (path: string, headers = {}): ReturnType<Draft> => ({ method: "GET", path, headers });
const order = (draw: Draw): string => draw.pick(["id", "-id", "title", "-title", "project_id", "-project_id"]);

const channels: Readonly<Record<string, Draft>> = {
  record: (draw) =>
    get(draw.pick([`/tasks/${taskOf(draw)}`, `/projects/${projectOf(draw)}`, `/memberships/${taskOf(draw)}`])),
  list: (draw) => get(`${draw.pick(["/tasks", "/projects", "/memberships"])}?limit=${1 + draw.below(60)}`),
  filter: (draw) => get(`/tasks?project_id${draw.pick(["", "[in]"])}=${projectOf(draw)}&sort=${order(draw)}`),
  sort: (draw) => get(`/tasks?sort=${order(draw)}&limit=${1 + draw.below(20)}`),
  search: (draw) => get(`/tasks?search=${draw.pick(["text", `p${projectOf(draw)}p`, "of p"])}`),
  count: (draw) =>
    get(draw.pick(["/tasks?limit=1", `/tasks?project_id=${projectOf(draw)}`]), { prefer: "count=exact" }),
  query: (draw) => ({
    method: "QUERY",
    path: "/tasks",
    body: {
      where: { any: [{ done: { eq: draw.pick([true, false]) } }, { project_id: { eq: projectOf(draw) } }] },
      sort: order(draw),
    },
  }),
  expand: (draw) => get(draw.pick(["/tasks?expand=project", "/projects?expand=notes", "/memberships?expand=project"])),
  csv: () => get("/tasks?limit=1000", { accept: "text/csv" }),
  nested: (draw) => get(`/projects/${projectOf(draw)}/notes`),
  "older shape": (draw) => get(draw.pick(["/v1/tasks", `/v1/tasks/${taskOf(draw)}`, "/v1/tasks?sort=-subject"])),
  create: (draw) => created("/tasks", draw),
  array: (draw) => {
    const [one, other] = [projectOf(draw), projectOf(draw)];
    return {
      method: "POST",
      path: "/tasks",
      body: [one, other].map((project_id) => ({ project_id, title: textOf(project_id) })),
    };
  },
  "array of changes": (draw) => ({
    method: "PATCH",
    path: "/tasks",
    body: [...new Set([taskOf(draw), taskOf(draw)])].map((id) => ({ id, done: draw.pick([true, false]) })),
  }),
  patch: (draw) => ({ method: "PATCH", path: `/tasks/${taskOf(draw)}`, body: { done: draw.pick([true, false]) } }),
  action: (draw) => ({ method: "POST", path: `/tasks/${taskOf(draw)}/finish` }),
  "note of a project": (draw) => {
    const project = projectOf(draw);
    return { method: "POST", path: `/projects/${project}/notes`, body: { line: textOf(project) } };
  },
};

function created(path: string, draw: Draw): ReturnType<Draft> {
  const project_id = projectOf(draw);
  return { method: "POST", path, headers: json, body: { project_id, title: textOf(project_id) } };
}

/** Serves six projects with eight tasks each. The text of each row names its project. */
async function start(t: Parameters<typeof startTeams>[0]): Promise<{ readonly teams: Teams; readonly model: Model }> {
  const teams = await startTeams(t);
  const send = async (method: string, path: string, body: unknown): Promise<void> => {
    const { status, text } = await teams.ask(method, path, { as: "root", body });
    assert.ok(status < 300, text);
  };
  for (const id of [1, 2, 3, 4]) await send("PATCH", `/tasks/${id}`, { title: textOf(id < 3 ? 1 : 2) });
  for (let id = 1; id <= PROJECTS; id++) {
    const name = textOf(id);
    await send(id < 3 ? "PATCH" : "POST", id < 3 ? `/projects/${id}` : "/projects", { name });
    if (id >= 3) await send("POST", `/projects/${id}/notes`, { line: name });
    for (let at = 0; at < (id < 3 ? 6 : 8); at++) await send("POST", "/tasks", { project_id: id, title: name });
  }
  for (const id of [1, 2]) await send("PATCH", `/projects/${id}/notes/${id}`, { line: textOf(id) });
  const model: Model = new Map([
    ["ada 1", { id: 1, role: "owner" }],
    ["ben 2", { id: 2, role: "owner" }],
  ]);
  return { teams, model };
}

/** Adds, removes or changes a membership, as the administrator. */
async function changeMembership({ ask, join, leave, memberships }: Teams, model: Model, draw: Draw): Promise<void> {
  const who: Member = draw.pick(members);
  const project = projectOf(draw);
  const role = draw.pick(roles);
  const key = `${who} ${project}`;
  const known = model.get(key);
  if (known === undefined) model.set(key, { id: await join(who, project, role), role });
  else if (draw.below(2) === 0) {
    assert.equal((await leave(project, known.id)).status, 204);
    model.delete(key);
  } else {
    assert.equal((await ask("PATCH", memberships(project, known.id), { as: "root", body: { role } })).status, 200);
    model.set(key, { ...known, role });
  }
}

/** Returns the projects that an answer shows rows of. */
function shownIn(answer: string): ReadonlySet<number> {
  return new Set([...answer.matchAll(/of p(\d+)p|"project_id":(\d+)/g)].map(([, one, other]) => Number(one ?? other)));
}

test(`shows no row of a foreign group in ${requests} drawn requests`, async (t) => {
  const draw = drawFrom(seed);
  const { teams, model } = await start(t);
  const seen = new Map<string, number>();
  let rows = 0;

  for (let sent = 0; sent < requests; sent++) {
    if (sent % 5 === 0) await changeMembership(teams, model, draw);
    const as: Member = draw.pick(members);
    const channel = draw.pick(Object.keys(channels));
    const step = channels[channel]!(draw);
    const own = new Set(Array.from({ length: PROJECTS }, (_, at) => at + 1).filter((id) => model.has(`${as} ${id}`)));
    const writable = new Set(
      [...own].filter((id) => channel.startsWith("note") || model.get(`${as} ${id}`)!.role !== "viewer"),
    );

    let at = step.path;
    // A list is read to its end by the links to its next pages.
    for (let page = 0; page < 3; page++) {
      const { status, text, headers } = await teams.ask(step.method, at, { as, ...step });
      const place = `request ${sent}, ${as}, ${step.method} ${at} ${JSON.stringify(step.body)}: ${status} ${text}`;
      assert.ok(status < 500, place);
      for (const project of shownIn(text)) {
        assert.ok(own.has(project), `a row of the foreign project ${project} in ${place}`);
        if (step.method !== "GET" && step.method !== "QUERY" && status < 300)
          assert.ok(writable.has(project), `a write to the project ${project} in ${place}`);
        rows++;
      }
      if (channel === "count" && status === 200) {
        const counted = Number(headers.get("x-total-count"));
        const all = await countTasks(teams, own, new URL(at, "http://a").searchParams.get("project_id"));
        assert.equal(counted, all, place);
      }
      seen.set(`${channel} ${status}`, (seen.get(`${channel} ${status}`) ?? 0) + 1);
      const next = step.method === "GET" ? /<([^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1] : undefined;
      if (next === undefined) break;
      at = next.replace(/^https?:\/\/[^/]+/, "");
    }
  }

  t.diagnostic(
    `seed ${seed}: ${requests} requests, ${rows} shown groups, 0 foreign; ${[...seen].map((each) => each.join(" × ")).join(", ")}`,
  );
  for (const channel of Object.keys(channels))
    assert.ok(
      [...seen.keys()].some((each) => each.startsWith(`${channel} 20`)),
      `no success of ${channel}`,
    );
});

/** Counts the tasks of some projects, as the administrator. */
async function countTasks(teams: Teams, own: ReadonlySet<number>, project: string | null): Promise<number> {
  const ids = [...own].filter((id) => project === null || id === Number(project));
  if (ids.length === 0) return 0;
  const { headers } = await teams.get(`/tasks?project_id[in]=${ids.join(",")}&limit=1`, {
    as: "root",
    headers: { prefer: "count=exact" },
  });
  return Number(headers.get("x-total-count"));
}
