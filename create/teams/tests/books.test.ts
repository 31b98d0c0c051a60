import assert from "node:assert/strict";
import { test } from "node:test";
import { assertProblem, testLatchkey } from "latchkey/testing";
import config from "../latchkey.config.ts";
import { books } from "../resources/books.ts";
import { projects } from "../resources/projects.ts";

test("shows the records of a project to its members alone", async () => {
  await using api = await testLatchkey(config);
  const [ann, eve] = [await api.user(), await api.user()];
  const { id: project_id } = (await api.as(ann).post("/projects", { name: "Roof" })).record(projects);

  const made = (await api.as(ann).post("/books", { project_id, title: "The first" })).record(books);

  assert.equal((await api.as(ann).get(`/books/${made.id}`)).record(books).title, "The first");
  assertProblem(await api.as(eve).get(`/books/${made.id}`), 404, "not_found");
  assert.deepEqual((await api.as(eve).get("/books")).json, []);
});

test("refuses records in a project of others", async () => {
  await using api = await testLatchkey(config);
  const [ann, eve] = [await api.user(), await api.user()];
  const { id: project_id } = (await api.as(ann).post("/projects", { name: "Roof" })).record(projects);

  const refused = await api.as(eve).post("/books", { project_id, title: "Mine" });

  assertProblem(refused, 403, "permission_denied");
});

test("keeps the last owner of a project", async () => {
  await using api = await testLatchkey(config);
  const ann = await api.user();
  const { id } = (await api.as(ann).post("/projects", { name: "Roof" })).record(projects);

  const refused = await api.as(ann).delete(`/projects/${id}/members/1`);

  assertProblem(refused, 409, "last_owner");
});

test("refuses a caller who is not logged in", async () => {
  await using api = await testLatchkey(config);

  assertProblem(await api.get("/books"), 403, "authentication_failed");
});
