import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { groupInvitations } from "../../src/door/auth.ts";
import { documentation } from "../../src/door/features.ts";
import {
  administrator,
  authenticated,
  defineFeature,
  defineResource,
  mount,
  reference,
  text,
} from "../../src/door/index.ts";
import type { Mount } from "../../src/door/resources.ts";
import { startSeats } from "../harness/invited-seats.ts";
import {
  asBen,
  ben,
  mountedMemberships,
  newcomer,
  project,
  signUp,
  startTeams,
  type Teams,
} from "../harness/invited-teams.ts";
import { ada, as, root, startMailed, type Headers } from "../harness/verified-emails.ts";

// The calls of invitations for forms of pages, for nested groups, and in the documentation of the API.

const ACCEPT = "/api/invitations/accept/";

/** Sends the form of a page. Returns the status, and the next page or the code of the problem. */
async function send(
  { ask }: Pick<Teams, "ask">,
  fields: Record<string, string>,
  headers: Headers = {},
): Promise<readonly unknown[]> {
  const answer = await ask("POST", ACCEPT, new URLSearchParams(fields).toString(), {
    "content-type": "application/x-www-form-urlencoded",
    accept: "text/html",
    host: "127.0.0.1",
    origin: "http://127.0.0.1",
    ...headers,
  });
  return [answer.status, answer.status === 303 ? answer.headers.get("location") : answer.json?.code];
}

const withoutBasic = { "sec-fetch-site": "same-origin" };

test("leads a form to the membership, or to a page of this service that it names", async (t) => {
  const teams = await startTeams(t);
  await signUp(teams);
  const pages: Readonly<Record<string, string>> = {
    "": "/memberships/2",
    "/home?x=1": "/home?x=1",
    "https://evil.example/": "/memberships/2",
    "//evil.example/": "/memberships/2",
  };
  for (const [next, page] of Object.entries(pages)) {
    teams.clock.now += 60_000;
    const token = await teams.invite({ email: ben, project_id: 1 });
    const fields = { token, ...(next === "" ? {} : { next }) };
    assert.deepEqual(await send(teams, fields, { ...asBen, ...withoutBasic }), [303, page], next);
  }
});

test("leads a form of a new user to the membership if there is no page with a login", async (t) => {
  const teams = await startTeams(t);
  const token = await teams.invite({ email: ben, project_id: 1 });

  const [status, page] = await send(teams, { token, ...newcomer });

  assert.equal(status, 303);
  assert.equal(page, "/memberships/2");
});

test("leads a form to the start page if the mount shows no single membership", async (t) => {
  const seen = await startTeams(t, {
    memberships: { permission: { list: authenticated, create: administrator, update: administrator } },
  });
  await signUp(seen);
  const token = await seen.invite({ email: ben, project_id: 1 }, root);

  assert.deepEqual(await send(seen, { token }, { ...asBen, ...withoutBasic }), [303, "/"]);
  seen.clock.now += 60_000;
  const other = await seen.invite({ email: "cid@example.com", project_id: 1 }, root);
  const { status, text: body } = await seen.accept({ token: other, name: "Cid", password: newcomer.password });
  assert.deepEqual([status, body], [201, ""]);
});

test("refuses a form of another site, and uses nothing up", async (t) => {
  const teams = await startTeams(t);
  const token = await teams.invite({ email: ben, project_id: 1 });
  const evil = { origin: "https://evil.example" };

  assert.deepEqual(await send(teams, { token, ...newcomer }, evil), [403, "cross_site"]);

  assert.equal((await teams.accept({ token, ...newcomer })).status, 201);
});

test("refuses a form of another site that may send JSON", async (t) => {
  const origin = "https://app.example";
  const seats = await startSeats(t, { service: { allowedOrigins: [origin] } });
  const token = await seats.invite();

  assert.deepEqual(await send(seats, { token, ...newcomer }, { origin }), [403, "cross_site"]);
  assert.equal((await seats.accept({ token, ...newcomer }, { origin })).status, 201);
});

test("leads a form of a new user to the page with the login, if there is one", async (t) => {
  const pages = { login: "/enter", factor: "/code", signup: "/new", forgot: "/lost", reset: "/set", verify: "/yes" };
  const features = [defineFeature({ name: "pages", setUp: () => ({ offer: null, pages }) })];
  const seats = await startSeats(t, { features });
  const token = await seats.invite();

  const [status, page] = await send(seats, { token, ...newcomer });

  assert.equal(status, 303);
  assert.match(String(page), /^\/enter\?next=%2Fseats%2F[0-9a-f-]{36}$/);
});

test("reads one token in the query, and nothing else", async (t) => {
  const teams = await startTeams(t);
  const token = await teams.invite({ email: ben, project_id: 1 });
  const open = async (query: string): Promise<readonly unknown[]> => {
    const { status, json } = await teams.ask("GET", `${ACCEPT}${query}`);
    return [status, json.errors?.[0].pointer ?? json.code ?? json.group];
  };

  assert.deepEqual(await open(`?token=${token}`), [200, "Summer regatta"]);
  assert.deepEqual(await open(`?token=${token}&token=x`), [400, "?token"]);
  assert.deepEqual(await open("?code=x"), [400, "?code"]);
  assert.deepEqual(await open(""), [400, "invalid_link"]);
});

test("says why a credential is refused, and passes over a refused cookie beside one that is right", async (t) => {
  const teams = await startTeams(t);
  await signUp(teams);
  const token = await teams.invite({ email: ben, project_id: 1 });
  const login = await teams.post("/api/session/", { username: ben, password: newcomer.password });
  const stale = { cookie: login.headers.getSetCookie()[0]!.split(";")[0]! };
  assert.ok((await teams.ask("DELETE", "/api/session/", undefined, stale)).status < 300);

  assert.equal((await teams.accept({ token }, as(ben, "wrong"))).json.code, "invalid_credentials");
  assert.equal((await teams.accept({ token })).json.code, "not_authenticated");
  const accepted = await teams.accept({ token }, { ...asBen, ...stale });
  assert.equal(accepted.status, 201, accepted.text);
});

test("has no place in the answer to a member, who gets nothing new", async (t) => {
  const teams = await startTeams(t);
  await signUp(teams);
  await teams.post("/memberships", { user_id: 3, project_id: 1 }, as(ada));
  const token = await teams.invite({ email: ben, project_id: 1 });

  const { status, headers } = await teams.accept({ token }, asBen);

  assert.deepEqual([status, headers.get("location")], [200, null]);
});

test("ends and lists the invitations of nested groups by their own path alone", async (t) => {
  const teams = await startTeams(t);
  await signUp(teams);
  const other = (await teams.post("/clubs", { title: "Rowing" }, root)).json.id as string;
  await teams.post(`/clubs/${other}/members`, { user_id: 2, role: "owner" }, root);
  const path = (club: string) => `/clubs/${club}/members/invitations`;
  await teams.invite({ email: ben }, as(ada), path(teams.clubId));
  teams.clock.now += 60_000;
  await teams.invite({ email: "cid@example.com" }, as(ada), path(other));
  const list = async (club: string, query = "", headers = as(ada)) =>
    teams.ask("GET", `${path(club)}${query}`, undefined, headers);
  const [open] = (await list(teams.clubId)).json;
  const end = async (club: string, headers = as(ada)) =>
    (await teams.ask("DELETE", `${path(club)}/${open.id}`, undefined, headers)).status;

  assert.equal((await list(teams.clubId)).json.length, 1);
  assert.equal((await list(teams.clubId, `?club_id=${other}`)).json.errors[0].code, "unknown_parameter");
  assert.equal((await list(teams.clubId, "", asBen)).status, 404);
  assert.deepEqual([await end(teams.clubId, asBen), await end(other), await end(teams.clubId)], [404, 404, 204]);
});

test("accepts no link of a nested group that its sender has left", async (t) => {
  const teams = await startTeams(t);
  const path = `/clubs/${teams.clubId}/members/invitations`;
  const token = await teams.invite({ email: ben }, as(ada), path);
  const { collection } = teams.service.mounts.find(({ resource }) => resource.name === "member")!;
  await teams.service.store.write({ changes: [{ kind: "delete", collection, key: 1 }] });

  assert.equal((await teams.ask("GET", `${ACCEPT}?token=${token}`)).json.code, "invalid_link");
});

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: object }[];
  readonly responses: Readonly<Record<string, { content?: Record<string, { schema: Record<string, unknown> }> }>>;
}

/** Starts a service with only these mounts, and returns the calls of its documentation. */
async function document(t: TestContext, mounts: readonly Mount[]): Promise<Record<string, Record<string, Operation>>> {
  const mailed = await startMailed(t, { registration: "open", invitations: true }, (people, box) => [
    groupInvitations(people, box),
    defineFeature({ name: "teams", setUp: () => ({ offer: null, mounts }) }),
    documentation({ title: "Teams", version: "1" }),
  ]);
  return (await mailed.ask("GET", "/openapi.json")).json.paths;
}

test("documents the membership that an acceptance answers with, if there is one kind of them", async (t) => {
  const projects = mount(project, { permission: authenticated });
  const other = defineResource({
    name: "other",
    fields: { user_id: reference("users"), project_id: reference(project) },
  });
  const others = mount(other, { permission: authenticated, invitations: true });
  const schemaOf = async (...mounts: readonly Mount[]): Promise<Record<string, unknown>> => {
    const paths = await document(t, [projects, ...mounts]);
    return paths[ACCEPT]!["post"]!.responses["201"]!.content!["application/json"]!.schema;
  };

  assert.deepEqual((await schemaOf(mountedMemberships()))["xml"], { name: "membership" });
  assert.deepEqual(await schemaOf(mountedMemberships(), others as unknown as Mount), { type: "object" });
});

test("documents the group as a parameter, or in the path with its type and 404", async (t) => {
  const permission = authenticated;
  const groups = { club: "integer", team: "uuid" } as const;
  const mounts: Mount[] = [mount(project, { permission }), mountedMemberships()];
  for (const [name, id] of Object.entries(groups)) {
    const group = defineResource({ name, id, fields: { title: text() } });
    const nested = defineResource({ name: `${name}_member`, within: group, fields: { user_id: reference("users") } });
    const flat = defineResource({
      name: `${name}_seat`,
      fields: { user_id: reference("users"), [`${name}_id`]: reference(group) },
    });
    mounts.push(
      mount(group, { permission }),
      mount(nested, { permission, invitations: true }),
      mount(flat, { permission, invitations: true }),
    );
  }

  const paths = await document(t, mounts);
  const parametersOf = (path: string): unknown =>
    [paths[path]!, paths[path]!["get"]!]
      .flatMap(({ parameters = [] }) => parameters as NonNullable<Operation["parameters"]>)
      .filter(({ name }) => name?.endsWith("_id"))
      .map(({ name, in: where, schema }) => [name, where, (schema as { type: string }).type, "format" in schema]);

  assert.deepEqual(parametersOf("/club_seats/invitations"), [["club_id", "query", "integer", false]]);
  assert.deepEqual(parametersOf("/team_seats/invitations"), [["team_id", "query", "string", false]]);
  assert.deepEqual(parametersOf("/clubs/{club_id}/club_members/invitations"), [["club_id", "path", "integer", false]]);
  assert.deepEqual(parametersOf("/teams/{team_id}/team_members/invitations"), [["team_id", "path", "string", true]]);
  for (const method of ["get", "post"]) {
    assert.ok("404" in paths["/clubs/{club_id}/club_members/invitations"]![method]!.responses);
    assert.ok(!("404" in paths["/club_seats/invitations"]![method]!.responses));
  }
});
