import { defineConfig } from "latchkey/service";
import { mounts, users } from "./projects.ts";

export default defineConfig({
  api: { title: "Teams", version: "1", description: "Plan together what is to be done." },
  settings: { schemes: ["basic", "session", "token"] },
  without: ["orders", "protected"], // the examples of the ready-made service
  registration: "open", // everyone may make an account
  users,
  mounts,
});
